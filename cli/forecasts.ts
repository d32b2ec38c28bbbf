import { isDate } from '@heliograph/domain/utc-day'
import { type ForecastRun, findForecast, listForecasts } from '@heliograph/server/forecasts/admin'
import { InvalidArgumentError } from 'commander'
import { command, type Reporting, utcInstant, wholeNumber } from './command.ts'
import { listOf, tableOf } from './terminal.ts'

interface Options {
  site: string
  logger?: number
  date: string
  asOf?: Date
}

export function addForecastCommands(program: Reporting): void {
  const forecasts = program.command('forecasts').description('issued forecasts of a day')

  asking(
    command(
      forecasts,
      'list',
      'List the forecasts issued for a day, the oldest first.',
      'forecasts list --site pv-south --date 2027-06-21',
    ),
  ).fromDatabase(runTable, (admin, options: Options) => listForecasts(admin, askedOf(options)))

  asking(
    command(
      forecasts,
      'show',
      'Show the last forecast of a day, or the last one issued before a time.',
      'forecasts show --site pv-south --logger 3 --date 2027-06-21 --as-of 2027-06-20T10:00Z',
    ),
  ).fromDatabase(showText, (admin, options: Options) => findForecast(admin, askedOf(options)))
}

const asking = (to: Reporting) =>
  to
    .requiredOption('--site <site_id>', 'the site')
    .option('--logger <logger_id>', 'the plant; defaults to the whole site', wholeNumber)
    .requiredOption('--date <date>', 'the day, UTC', utcDay)
    .option('--as-of <time>', 'ignore forecasts issued later, UTC', utcInstant)

const askedOf = ({ site, logger, date, asOf }: Options) => ({
  site_id: site,
  logger_id: logger ?? null,
  date,
  as_of: asOf ?? null,
})

/** A day that exists, `2027-01-31`. */
function utcDay(text: string): string {
  if (isDate(text)) return text
  throw new InvalidArgumentError('It must be a day such as 2027-01-31.')
}

const power = (kw: number) => kw.toFixed(3)

const runTable = (runs: readonly ForecastRun[]) =>
  listOf('No forecast was issued.', runs, {
    RUN: 'run_id',
    ISSUED: 'issued_at',
    MODEL: 'model',
    VERSION: 'model_version',
    WEATHER: 'weather_issued_at',
    'P10 KWH': ({ total_p10_kwh }) => power(total_p10_kwh),
    'P50 KWH': ({ total_p50_kwh }) => power(total_p50_kwh),
    'P90 KWH': ({ total_p90_kwh }) => power(total_p90_kwh),
    REASON: 'fallback_reason',
  })

function showText(run: ForecastRun): string {
  const step_ms = run.resolution_minutes * 60_000
  const start_ms = Date.parse(run.target_date)
  const steps = tableOf([...run.p50_kw.keys()], {
    FROM: (nth) => new Date(start_ms + nth * step_ms),
    'P10 KW': (nth) => power(run.p10_kw[nth]!),
    'P50 KW': (nth) => power(run.p50_kw[nth]!),
    'P90 KW': (nth) => power(run.p90_kw[nth]!),
  })
  return `${runTable([run])}\n\n${steps}`
}

import { type ForecastRun, findForecast, listForecasts } from '@heliograph/server/forecasts/admin'
import { type Command, InvalidArgumentError } from 'commander'
import { type Cli, command, type JsonOption, utcInstant, wholeNumber } from './command.ts'
import { minute, print, table } from './terminal.ts'

interface Options extends JsonOption {
  site: string
  logger?: number
  date: string
  asOf?: Date
}

export function addForecastCommands(program: Command, { terminal, withAdmin }: Cli): void {
  const forecasts = program.command('forecasts').description('issued forecasts of a day')

  asking(
    command(
      forecasts,
      'list',
      'List the forecasts issued for a day, the oldest first.',
      'forecasts list --site pv-south --date 2027-06-21',
    ),
  ).action(async (options: Options) => {
    const found = await withAdmin((admin) => listForecasts(admin, askedOf(options)))
    const text = found.length > 0 ? runTable(found) : 'No forecast was issued.'
    print(terminal, { json: found, text }, !!options.json)
  })

  asking(
    command(
      forecasts,
      'show',
      'Show the last forecast of a day, or the last one issued before a time.',
      'forecasts show --site pv-south --logger 3 --date 2027-06-21 --as-of 2027-06-20T10:00Z',
    ),
  ).action(async (options: Options) => {
    const found = await withAdmin((admin) => findForecast(admin, askedOf(options)))
    print(terminal, { json: found, text: showText(found) }, !!options.json)
  })
}

const asking = (to: Command) =>
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
  const day = new Date(`${text}T00:00:00Z`)
  const is_day = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime())
  if (is_day && day.toISOString().startsWith(text)) return text
  throw new InvalidArgumentError('It must be a day such as 2027-01-31.')
}

const power = (kw: number) => kw.toFixed(3)

function runTable(runs: readonly ForecastRun[]): string {
  return table(
    ['RUN', 'ISSUED', 'MODEL', 'VERSION', 'WEATHER', 'P10 KWH', 'P50 KWH', 'P90 KWH', 'REASON'],
    runs.map((run) => [
      String(run.run_id),
      minute(run.issued_at),
      run.model,
      String(run.model_version ?? '-'),
      minute(run.weather_issued_at),
      power(run.total_p10_kwh),
      power(run.total_p50_kwh),
      power(run.total_p90_kwh),
      run.fallback_reason ?? '-',
    ]),
  )
}

function showText(run: ForecastRun): string {
  const step_ms = run.resolution_minutes * 60_000
  const start_ms = Date.parse(run.target_date)
  const steps = table(
    ['FROM', 'P10 KW', 'P50 KW', 'P90 KW'],
    run.p50_kw.map((p50_kw, nth) => [
      minute(new Date(start_ms + nth * step_ms)),
      power(run.p10_kw[nth]!),
      power(p50_kw),
      power(run.p90_kw[nth]!),
    ]),
  )
  return `${runTable([run])}\n\n${steps}`
}

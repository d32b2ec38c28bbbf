/** The table of jobs. */
import { systemTimers } from '@heliograph/domain/clock'
import { hour_ms } from '@heliograph/domain/durations'
import { readingKinds } from '@heliograph/domain/readings'
import { deleteOldSignIns } from './access/sign-in-lock.ts'
import { deleteOldProposals } from './agents/proposals.ts'
import { evaluateEverySite, shareRoundOfAlerts } from './alerts/rounds.ts'
import { shareBatteryDays, sumBatteryDays } from './batteries/battery-days.ts'
import { endSchedules } from './batteries/ended-schedules.ts'
import { shareCurtailedEnergy, sumCurtailedEnergy } from './control/curtailed-energy.ts'
import { planStandingOrders, shareStandingOrders } from './control/standing-orders.ts'
import { shareRevenue, updateRevenue } from './earnings/revenue-today.ts'
import { deleteOldEvents } from './events/publish.ts'
import { runAll, trainAll } from './forecasts/jobs.ts'
import { thinRuns } from './forecasts/thin-runs.ts'
import { fetchWeather } from './forecasts/weather/fetch-weather.ts'
import type { WeatherSettings } from './forecasts/weather/settings.ts'
import { deleteExpired } from './http/idempotency.ts'
import { deleteOldReplicas } from './http/replicas.ts'
import { deleteOldWrites } from './http/write-audit.ts'
import { defineJob, type Job, type JobContext } from './jobs/job.ts'
import { forgetAbandonedJournals } from './link/presence.ts'
import { deleteOldMails } from './mail/deliveries.ts'
import { sendMails } from './mail/send.ts'
import type { MailSettings } from './mail/settings.ts'
import { openMailer } from './mail/transport.ts'
import { fetchPrices, type PriceSettings } from './markets/fetch.ts'
import { watchHealth } from './overview/sites/health-watch.ts'
import { templates } from './reports/catalog.ts'
import { makeReports } from './reports/making.ts'
import { planReports } from './reports/planning.ts'
import { isWithheld } from './reports/reader.ts'
import { createReportWriter } from './reports/writers/write.ts'
import { type Database, prepared } from './storage/database.ts'
import { ensurePartitions, weeksAhead } from './storage/partitions.ts'
import { type BackupOrder, type BackupSchedule, makeBackup } from './storage/scheduled-backups.ts'
import { packRows } from './telemetry/blocks/packing.ts'
import { shareGaps, watchGaps } from './telemetry/gaps/watch.ts'
import { keepTiers, type RetentionSettings } from './telemetry/retention.ts'
import { watchWorkOrders } from './work/overdue.ts'

/** Recomputed in addition to days with late readings, as ratings of a unit may be corrected. */
const battery_days_again = 15

const reading_tables = Object.values(readingKinds).map(({ table }) => table)

export interface JobSettings extends RetentionSettings {
  prices: PriceSettings
  /** null to fetch no weather forecasts. */
  weather_forecast: WeatherSettings | null
  /** null to send no mail. */
  mail: MailSettings | null
  /** null to make no backups. */
  backups: (BackupOrder & Pick<BackupSchedule, 'hour'>) | null
}

/** For work that needs the database and the time. */
const byNow = (work: (db: Database, now: Date) => Promise<void>) => {
  return ({ db, clock }: JobContext) => work(db, clock.now())
}

/** `… again` jobs repeat a sum with late readings. */
export const createJobTable = (settings: JobSettings): readonly Job[] => {
  /** Excludes days whose readings may be thinned to one an hour, which would degrade the sums. */
  const daysOf = (job: string, { clock, signal }: JobContext, again_days: number) => {
    return { job, again_days, kept_days: settings.retention_minute_days, now: clock.now(), signal }
  }
  const jobs: Job[] = [
    { name: 'make_partitions', schedule: '7 * * * *', seconds_max: 300, run: makePartitions },
    {
      name: 'keep_tiers',
      schedule: '20 2 * * *',
      seconds_max: 21_600,
      run: (context) => keepTiers(context, settings),
    },
    { name: 'pack_rows', schedule: '45 * * * *', seconds_max: 3600, own_turn: true, run: packRows },
    {
      name: 'forget_abandoned_journals',
      schedule: '50 2 * * *',
      seconds_max: 600,
      run: byNow(forgetAbandonedJournals),
    },
    {
      name: 'forget_request_records',
      schedule: '*/10 * * * *',
      seconds_max: 300,
      async run({ db, clock }) {
        await deleteExpired(db, clock.now())
        await deleteOldReplicas(db)
      },
    },
    {
      name: 'forget_writes',
      schedule: '10 3 * * *',
      seconds_max: 600,
      run: byNow(async (db, now) => {
        await deleteOldWrites(db, now)
        await deleteOldProposals(db, now)
      }),
    },
    {
      name: 'forget_events',
      schedule: '40 3 * * *',
      seconds_max: 600,
      run: byNow(deleteOldEvents),
    },
    {
      name: 'forget_sign_ins',
      schedule: '35 * * * *',
      seconds_max: 300,
      run: byNow(deleteOldSignIns),
    },
    // Also when a mail is queued: see main.ts.
    {
      name: 'send_mail',
      schedule: '* * * * *',
      seconds_max: 3600,
      own_turn: true,
      run: (context) => sendQueued(context, settings.mail),
    },
    { name: 'forget_mails', schedule: '15 3 * * *', seconds_max: 600, run: byNow(deleteOldMails) },
    {
      name: 'watch_gaps',
      schedule: '* * * * *',
      seconds_max: 600,
      run: ({ db, clock, signal }) => watchGaps(prepared(db), clock.now(), signal),
      share: ({ db, clock, signal }) => shareGaps(prepared(db), clock.now(), signal),
    },
    {
      name: 'evaluate_alerts',
      schedule: '* * * * *',
      seconds_max: 600,
      own_turn: true,
      run: ({ db, clock, log, signal }) =>
        evaluateEverySite({ db, log }, { now: () => clock.now(), signal }),
      share: ({ db, clock, log, signal }) =>
        shareRoundOfAlerts({ db, log }, { now: () => clock.now(), signal }),
    },
    {
      name: 'watch_work_orders',
      schedule: '*/10 * * * *',
      seconds_max: 600,
      run: ({ db, clock, signal }) => watchWorkOrders(db, { now: clock.now(), signal }),
    },
    {
      name: 'sum_curtailed_energy',
      schedule: '* * * * *',
      seconds_max: 600,
      run: (context) =>
        sumCurtailedEnergy(prepared(context.db), hoursOf('sum_curtailed_energy', context, 2)),
      share: (context) =>
        shareCurtailedEnergy(prepared(context.db), hoursOf('sum_curtailed_energy', context, 2)),
    },
    {
      name: 'sum_curtailed_energy_again',
      schedule: '40 1 * * *',
      seconds_max: 21_600,
      run: (context) =>
        sumCurtailedEnergy(
          prepared(context.db),
          hoursOf('sum_curtailed_energy_again', context, 8 * 24),
        ),
      share: (context) =>
        shareCurtailedEnergy(
          prepared(context.db),
          hoursOf('sum_curtailed_energy_again', context, 8 * 24),
        ),
    },
    {
      name: 'sum_battery_days',
      schedule: '35 * * * *',
      seconds_max: 3600,
      run: (context) => sumBatteryDays(context.db, daysOf('sum_battery_days', context, 0)),
      share: (context) => shareBatteryDays(context.db, daysOf('sum_battery_days', context, 0)),
    },
    {
      name: 'sum_battery_days_again',
      schedule: '5 2 * * *',
      seconds_max: 21_600,
      run: (context) =>
        sumBatteryDays(context.db, daysOf('sum_battery_days_again', context, battery_days_again)),
      share: (context) =>
        shareBatteryDays(context.db, daysOf('sum_battery_days_again', context, battery_days_again)),
    },
    {
      name: 'end_schedules',
      schedule: '20 * * * *',
      seconds_max: 600,
      run: byNow(endSchedules),
    },
    {
      name: 'watch_health',
      schedule: '* * * * *',
      seconds_max: 600,
      run: byNow((db, now) => watchHealth(prepared(db), now)),
    },
    {
      name: 'update_revenue',
      schedule: '* * * * *',
      seconds_max: 600,
      run: ({ db, clock, signal }) => updateRevenue(prepared(db), clock.now(), signal),
      share: ({ db, clock, signal }) => shareRevenue(prepared(db), clock.now(), signal),
    },
    {
      name: 'fetch_prices',
      schedule: '*/10 * * * *',
      seconds_max: 3600,
      run: (context) => fetchPrices({ ...context, settings: settings.prices }),
    },
    // Soon after prices were fetched or imported.
    {
      name: 'plan_standing_orders',
      schedule: '1-59/5 * * * *',
      seconds_max: 3600,
      run: ({ db, clock, signal }) => planStandingOrders(db, { now: clock.now(), signal }),
      share: ({ db, clock, signal }) => shareStandingOrders(db, { now: clock.now(), signal }),
    },
    // Checks often for new sites; fetches at most hourly per site.
    {
      name: 'fetch_weather',
      schedule: '*/5 * * * *',
      seconds_max: 3600,
      run: (context) => fetchWeather({ ...context, settings: settings.weather_forecast }),
    },
    // After the last hours of the day were summed, in the time zones of most plants.
    { name: 'train_forecasts', schedule: '50 0 * * *', seconds_max: 21_600, run: trainAll },
    // Soon after the weather was fetched. Also trains the first model of a new site.
    { name: 'run_forecasts', schedule: '2-59/5 * * * *', seconds_max: 3600, run: runAll },
    {
      name: 'thin_forecasts',
      schedule: '25 3 * * *',
      seconds_max: 3600,
      run: ({ db, clock, signal }) => thinRuns(db, clock.now(), signal),
    },
    { name: 'plan_reports', schedule: '* * * * *', seconds_max: 600, run: planReports },
    // Also when a run is queued: see main.ts.
    {
      name: 'run_reports',
      schedule: '* * * * *',
      seconds_max: 600,
      run: (context) =>
        makeReports({
          ...context,
          catalog: templates,
          writer: createReportWriter({ timers: systemTimers }),
        }),
    },
  ]
  const { backups } = settings
  if (backups) {
    jobs.push({
      name: 'make_backup',
      schedule: `0 ${backups.hour} * * *`,
      seconds_max: 21_600,
      own_turn: true,
      run: (context) => makeBackup(context, backups),
    })
  }
  return jobs.map(defineJob)
}

function sendQueued(context: JobContext, mail: MailSettings | null): Promise<void> {
  const { db, clock } = context
  return sendMails({
    ...context,
    mail: mail && { settings: mail, mailer: openMailer(mail) },
    isWithheld: (run) => isWithheld(db, run, clock.now()),
  })
}

function hoursOf(job: string, { clock, signal }: JobContext, hours: number) {
  const now = clock.now()
  return { job, since: new Date(now.getTime() - hours * hour_ms), now, signal }
}

/** Creates the partitions of readings four weeks ahead. Ingest creates those of late readings. */
async function makePartitions({ db, clock, log }: JobContext): Promise<void> {
  const { from, to } = weeksAhead(clock.now())
  const made = await ensurePartitions(db, reading_tables, from, to)
  if (made.length > 0) log.info({ made }, 'created partitions')
}

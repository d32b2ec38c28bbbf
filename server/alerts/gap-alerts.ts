/** Matches gaps in the readings with the alert that reports them. */
import { day_ms } from '@heliograph/domain/durations'
import type { Queries } from '../storage/database.ts'
import type { SourceType as GapSource } from '../telemetry/gaps/sources.ts'
import type { Concerned, OpenAlert, SourceType } from './finding.ts'
import { type AlertCode, ruleOf } from './rules.ts'

export interface AlertedGap {
  logger_id: number | null
  source_type: GapSource
  source_id: string
  start_at: Date
  end_at: Date | null
  cause: string
}

export interface GapAlert extends Omit<OpenAlert, keyof Concerned> {
  started_at: Date
  ended_at: Date | null
}

/** The alert for a device that does not answer. A combiner is a `part` of its inverter. */
const offlineAlerts: Readonly<Record<GapSource, { code: AlertCode; source_type: SourceType }>> = {
  logger: { code: 'logger_offline', source_type: 'logger' },
  inverter: { code: 'inverter_offline', source_type: 'inverter' },
  string: { code: 'device_offline', source_type: 'inverter' },
  meter: { code: 'device_offline', source_type: 'meter' },
  weather_sensor: { code: 'device_offline', source_type: 'station' },
  sensor_node: { code: 'node_offline', source_type: 'node' },
}
const codes: readonly AlertCode[] = [
  ...new Set(Object.values(offlineAlerts).map(({ code }) => code)),
  'data_gap',
  'edge_offline',
]

export function isOfSource(
  alert: Pick<GapAlert, 'code' | 'source_type' | 'source_id' | 'part'>,
  { source_type, source_id }: Pick<AlertedGap, 'source_type' | 'source_id'>,
): boolean {
  const { code, source_type: type } = offlineAlerts[source_type]
  if (alert.code !== code || alert.source_type !== type) return false
  return (source_type === 'string' ? alert.part : alert.source_id) === source_id
}

/** A `data_gap` alert of the plant, or of the site when it covers devices of several plants. */
function isOfCause(alert: GapAlert, { logger_id, start_at, end_at, cause }: AlertedGap): boolean {
  const length_ms = (end_at?.getTime() ?? Number.POSITIVE_INFINITY) - start_at.getTime()
  return (
    alert.code === 'data_gap' &&
    (alert.part?.endsWith(`_${cause}`) ?? false) &&
    (alert.source_type === 'site' || alert.source_id === `${logger_id}`) &&
    length_ms >= 1000 * ruleOf('data_gap').raise_delay_s
  )
}

/** From the most to the least specific alert. */
const matchers: readonly ((alert: GapAlert, gap: AlertedGap) => boolean)[] = [
  isOfSource,
  isOfCause,
  ({ code, source_id }, gap) => code === 'logger_offline' && source_id === `${gap.logger_id}`,
  ({ code }) => code === 'edge_offline',
]

const sharesTime = (alert: GapAlert, { start_at, end_at }: AlertedGap) =>
  (end_at === null || alert.started_at < end_at) &&
  (alert.ended_at === null || alert.ended_at > start_at)

/**
 * The id of the most specific alert of a gap; null without any.
 * @param alerts newest first
 */
export function alertOfGap(alerts: readonly GapAlert[], gap: AlertedGap): number | null {
  const at_the_time = alerts.filter((alert) => sharesTime(alert, gap))
  for (const matches of matchers) {
    const alert = at_the_time.find((one) => matches(one, gap))
    if (alert) return alert.alert_id
  }
  return null
}

/** A recurring alert keeps the start of its first occurrence, up to this long before the gap. */
const longest_ms = 30 * day_ms

export async function readGapAlerts(
  db: Queries,
  site_id: string,
  gaps: readonly AlertedGap[],
): Promise<(gap: AlertedGap) => number | null> {
  if (gaps.length === 0) return () => null
  const first_ms = Math.min(...gaps.map(({ start_at }) => start_at.getTime()))
  const ends_ms = gaps.map(({ end_at }) => end_at?.getTime() ?? Number.POSITIVE_INFINITY)
  const last_ms = Math.max(...ends_ms)
  const alerts = await db.query<GapAlert>(gapAlerts, [
    site_id,
    codes,
    new Date(first_ms - longest_ms),
    Number.isFinite(last_ms) ? new Date(last_ms) : null,
  ])
  return (gap) => alertOfGap(alerts, gap)
}

// All statuses are listed because the index begins with the status.
const gapAlerts = `
  select alert_id, code, source_type, source_id, part, started_at,
    coalesce(ended_at, resolved_at) as ended_at
  from alerts
  where site_id = $1 and status in ('active', 'acknowledged', 'resolved') and code = any($2)
    and started_at >= $3 and ($4::timestamptz is null or started_at < $4)
  order by started_at desc, alert_id desc`

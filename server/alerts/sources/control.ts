/** Curtailment orders that are not carried out, and plants that their grid permit limits. */
import { minute_ms } from '@heliograph/domain/durations'
import { type releasingReasons, rowColumns, type StoredRow } from '../../control/curtailment-row.ts'
import { iso } from '../../plant/frame.ts'
import { isUnconfirmed } from '../../storage/curtailment.ts'
import {
  type AlertSource,
  type Finding,
  type OpenAlert,
  ofLogger,
  type SourceContext,
} from '../finding.ts'
import { type Past, withoutHandled } from './handled.ts'

/** A failed order is reported this long after its end, unless a person resolves the alert. */
const reported_after_ms = 24 * 60 * minute_ms
/** The edge reports an order in force every minute; older reports count as missing. */
const report_age_ms_max = 3 * minute_ms
/** The tolerances of the edge. */
const tolerated = { of_limit: 0.01, of_rated: 0.001 } as const

export const findControl: AlertSource = async (context) => {
  const { db, site, now } = context
  const rows = await readRows(context)
  const clamps = await readClamps(context)
  const found = rows.flatMap((row) => findingsOf(row, now))
  const unreported = new Set(
    rows.filter((row) => isUnreported(row, now)).map(({ id }) => String(id)),
  )
  const measured = new Set(clamps.map(({ logger_id }) => logger_id))
  return {
    findings: [...(await withoutHandled(db, site.site_id, found)), ...clamps.flatMap(clampOf)],
    isUnknown: ({ code, part, logger_id }: OpenAlert) =>
      (code === 'curtailment_not_verified' && part !== null && unreported.has(part)) ||
      (code === 'permit_clamp' && (logger_id === null || !measured.has(logger_id))),
  }
}

export type JudgedRow = Pick<
  StoredRow,
  | 'id'
  | 'logger_id'
  | 'status'
  | 'start_at'
  | 'end_at'
  | 'created_at'
  | 'release_requested_at'
  | 'releasing_reason'
  | 'applied_at'
  | 'verified_at'
  | 'restored_at'
  | 'last_checked_at'
  | 'max_power_kw'
  | 'rated_power_kw'
  | 'observed_power_kw'
  | 'violation_s'
  | 'failure_code'
  | 'failure_message'
> & { reported_at: Date | null }

const readRows = ({ db, site, now }: SourceContext) =>
  db.query<JudgedRow>(
    `select ${rowColumns('$2::timestamptz')}, r.reported_at
     from curtailment_rows r
     join curtailment_groups g on g.site_id = r.site_id and g.group_id = r.group_id
     where r.site_id = $1 and (r.end_at > $3 or ${isUnconfirmed})
     order by r.row_id`,
    [site.site_id, now, new Date(now.getTime() - reported_after_ms)],
  )

/** Pure. `known_at` is the end of the order. */
export function findingsOf(row: JudgedRow, now: Date): Past[] {
  const { status, applied_at, release_requested_at, end_at } = row
  const begun_at = row.start_at > row.created_at ? row.start_at : row.created_at
  if (status === 'active' && applied_at === null) {
    return [{ finding: notApplied(row, begun_at), known_at: null }]
  }
  if (status === 'active') {
    const finding = isUnreported(row, now) ? null : notVerified(row, now)
    return finding ? [{ finding, known_at: null }] : []
  }
  const has_passed = status === 'failed' || status === 'releasing'
  const is_missed = has_passed && applied_at === null && release_requested_at === null
  const missed = is_missed ? [{ finding: notApplied(row, begun_at), known_at: end_at }] : []
  if (status !== 'releasing') return missed
  return [...missed, { finding: notReleased(row, release_requested_at ?? end_at), known_at: null }]
}

/** In force and applied, without a recent report of the edge. */
const isUnreported = ({ status, applied_at, reported_at }: JudgedRow, now: Date) =>
  status === 'active' &&
  applied_at !== null &&
  (reported_at === null || now.getTime() - reported_at.getTime() > report_age_ms_max)

const ofRow = ({ id, logger_id }: JudgedRow) => ({
  ...ofLogger(logger_id),
  part: String(id),
})

const why = ({ failure_code, failure_message }: JudgedRow) => {
  if (failure_message !== null) return `: ${failure_message}`
  return failure_code === 'edge_offline' ? ': no edge has confirmed this order' : ''
}

function notApplied(row: JudgedRow, since: Date): Finding {
  const { id, logger_id, max_power_kw, status } = row
  const end = `until its end ${iso(row.end_at)}`
  const what =
    status === 'failed'
      ? `was never applied ${end}`
      : status === 'releasing'
        ? `was not reported as applied ${end}`
        : 'is not applied'
  return {
    code: 'curtailment_not_applied',
    ...ofRow(row),
    ...powerOf(row),
    since,
    message: `Curtailment ${id} of plant ${logger_id} to ${max_power_kw} kW ${what}${why(row)}.`,
  }
}

const powerOf = ({ max_power_kw, observed_power_kw }: JudgedRow) => ({
  threshold: max_power_kw,
  unit: 'kW',
  ...(observed_power_kw !== null && { value: observed_power_kw }),
})

function notVerified(row: JudgedRow, now: Date): Finding | null {
  const { id, logger_id, max_power_kw, observed_power_kw, verified_at, violation_s } = row
  const tolerance_kw = Math.max(
    tolerated.of_limit * max_power_kw,
    tolerated.of_rated * (row.rated_power_kw ?? 0),
  )
  const is_above = observed_power_kw !== null && observed_power_kw > max_power_kw + tolerance_kw
  if (verified_at !== null && !is_above) return null
  const name = `Curtailment ${id} of plant ${logger_id}`
  // Only the total time above the limit is known, not its start.
  const seen_at = row.last_checked_at ?? now
  const above_since_ms = is_above ? seen_at.getTime() - 1000 * violation_s : 0
  return {
    code: 'curtailment_not_verified',
    ...ofRow(row),
    ...powerOf(row),
    since: new Date(Math.max(row.applied_at!.getTime(), above_since_ms)),
    message: is_above
      ? `${name} to ${max_power_kw} kW is applied, and ${observed_power_kw} kW were measured.`
      : `${name} is applied, and no measured power proves it.`,
  }
}

const releasingWords: Record<(typeof releasingReasons)[number], string> = {
  edge_unreachable: ': the edge is unreachable',
  raise_refused: ': the edge may not raise the plant',
  device_not_restored: ': a device is not restored',
  awaiting_confirmation: '',
}

function notReleased(row: JudgedRow, since: Date): Finding {
  const { id, logger_id, releasing_reason, failure_message } = row
  const is_unreachable = releasing_reason === 'edge_unreachable' || failure_message === null
  const reason = is_unreachable ? releasingWords[releasing_reason!] : why(row)
  return {
    code: 'curtailment_not_released',
    ...ofRow(row),
    since,
    message:
      `Curtailment ${id} of plant ${logger_id} has ended, and the edge has not confirmed that its ` +
      `limits are lifted${reason}. The plant may still be limited.`,
  }
}

interface Clamp {
  logger_id: number
  /** null: no inverter with a fresh reading is limited by the permit. */
  since: Date | null
}

/** The least time to search back for the start of the condition. */
const looked_back_ms_min = 15 * minute_ms
const fresh_ms = minute_ms

/** Part of its limit: an inverter that delivers less is limited by its light. Unknown counts. */
const limited_ratio = 0.95

const isHeld = (reading: string) =>
  `(${reading}.limited_by = 'permit' and coalesce(${reading}.ac_power_kw >=
    ${limited_ratio} * i.rated_ac_power_kw * ${reading}.power_limit_pct / 100, true))`

/** One row per plant with fresh readings, without any value of the permit. */
const readClamps = ({ db, site, settings, now }: SourceContext) => {
  const { raise_delay_s } = settings.rules.permit_clamp
  const looked_back_ms = Math.max(looked_back_ms_min, 2000 * raise_delay_s)
  return db.query<Clamp>(
    `select p.logger_id,
       case when p.inverter_id is not null then coalesce((
         select r.measured_at from inverter_readings r
         join inverters i on i.site_id = r.site_id and i.inverter_id = r.inverter_id
         where r.site_id = $1 and r.inverter_id = p.inverter_id and r.measured_at > $3
           and r.measured_at <= $4 and ${isHeld('r')} is not true
         order by r.measured_at desc limit 1), $3) end as since
     from (
       select i.logger_id, min(i.inverter_id) filter (where ${isHeld('l')}) as inverter_id
       from inverters i
       join inverter_latest l on l.site_id = i.site_id and l.inverter_id = i.inverter_id
       where i.site_id = $1 and i.retired_at is null and l.measured_at > $2
       group by i.logger_id
     ) as p
     order by p.logger_id`,
    [
      site.site_id,
      new Date(now.getTime() - fresh_ms),
      new Date(now.getTime() - looked_back_ms),
      now,
    ],
  )
}

function clampOf({ logger_id, since }: Clamp): Finding[] {
  if (since === null) return []
  const message = `The grid permit limits the output of plant ${logger_id}.`
  return [{ code: 'permit_clamp', ...ofLogger(logger_id), since, message }]
}

/** How far edges have come with what was asked of them: frames of kind `curtailment`. */
import {
  curtailment_rows_max,
  RowReport,
  reportInstants,
  rowKey,
} from '@heliograph/domain/curtailment'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { noteReport } from '../storage/curtailment.ts'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { firstFault } from '../telemetry/first-fault.ts'
import { isUnstorableJson, Refused, shown } from '../telemetry/refused.ts'

const checker = Compile(Type.Array(RowReport, { maxItems: curtailment_rows_max }))
/** Instants end with the year 2999, as those do that are asked for. */
const instant_max = Date.UTC(3000, 0, 1) - 1

/** Throws `Refused` where a payload is no list of reports, or one came before or after its time. */
export function acceptReports(
  payload: unknown,
  { first_at, last_at }: { first_at: number; last_at: number },
): RowReport[] {
  if (!checker.Check(payload)) throw new Refused(`payload${firstFault(checker, payload)}`)
  if (isUnstorableJson(JSON.stringify(payload))) {
    throw new Refused('payload: text with NUL or half a character')
  }
  for (const [index, { row, reported_at, ...report }] of payload.entries()) {
    const refuse = (what: string) => new Refused(`report ${index}: ${what}`)
    if (reported_at < first_at || reported_at > last_at) {
      throw refuse(`reported_at: ${shown(reported_at)} is out of range`)
    }
    if (row.end_at <= row.start_at) throw refuse('row: end_at is not after start_at')
    const reached = reportInstants.map((name) => report[name])
    const instants = [row.start_at, row.end_at, row.released_at, ...reached]
    if (instants.some((at) => at !== null && at > instant_max))
      throw refuse('an instant is too late')
  }
  return payload
}

/**
 * Stores the newest report of each row. A row that the database does not know, since it was
 * restored from a backup, comes back by what the edge tells of it; so does a release.
 */
export async function storeReports(
  transaction: Transaction,
  site_id: string,
  reports: readonly RowReport[],
): Promise<void> {
  if (reports.length === 0) return
  const newest = new Map<string, RowReport>()
  for (const report of reports) {
    const known = newest.get(rowKey(report.row))
    if (!known || report.reported_at >= known.reported_at) newest.set(rowKey(report.row), report)
  }
  const records = JSON.stringify([...newest.values()].map(recordOf))
  await transaction.execute(addUnknownGroups, [site_id, records])
  await transaction.execute(addUnknownRows, [site_id, records])
  await transaction.execute(update, [site_id, records])
  await noteReport(transaction, site_id)
}

const iso = (at: number | null) => (at === null ? null : isoTime(at))

function recordOf({ row, reported_at, ...report }: RowReport) {
  return {
    ...report,
    group_id: row.group_id,
    logger_id: row.logger_id,
    start_at: isoTime(row.start_at),
    end_at: isoTime(row.end_at),
    max_power_kw: row.max_power_kw,
    released_at: iso(row.released_at),
    is_release_heard: row.released_at !== null,
    reported_at: isoTime(reported_at),
    ...Object.fromEntries(reportInstants.map((name) => [name, iso(report[name])])),
  }
}

const reported = 'jsonb_populate_recordset(null::curtailment_rows, $2::jsonb) as e'

const addUnknownGroups = `
  insert into curtailment_groups (site_id, group_id, source, created_at)
  select $1, group_id, 'edge_local', min(acknowledged_at) from ${reported}
  group by group_id order by group_id
  on conflict do nothing`

const addUnknownRows = `
  insert into curtailment_rows
    (site_id, group_id, logger_id, start_at, end_at, max_power_kw, rated_power_kw, told_at)
  select $1, e.group_id, e.logger_id, e.start_at, e.end_at, e.max_power_kw, l.rated_power_kw,
    e.acknowledged_at
  from ${reported}
  left join loggers l on l.site_id = $1 and l.logger_id = e.logger_id
  -- Known rows take no id.
  where not exists (select from curtailment_rows r
    where r.site_id = $1 and r.group_id = e.group_id and r.logger_id = e.logger_id)
  order by e.group_id, e.logger_id
  on conflict do nothing`

const told = [
  'reported_at',
  'restore_started_at',
  'restored_at',
  'retry_count',
  'failure_code',
  'failure_message',
]

/** While in force. */
const proved = [
  'acknowledged_at',
  'applied_at',
  'verified_at',
  'last_checked_at',
  'observed_limit_kw',
  'observed_power_kw',
  'samples',
  'compliant_samples',
  'violation_s',
]

/** An edge that lost the row, and hears of it again when it is over, knows nothing of its time. */
const isHeardAnew = `(
  r.applied_at is not null and e.applied_at is null and e.acknowledged_at > r.acknowledged_at
  and (e.released_at is not null or e.reported_at >= r.end_at))`

/** Who reports a row unreleased, or applied, was told of it, whatever a restored database says. */
const update = `
  update curtailment_rows as r
  set ${told.map((name) => `${name} = e.${name}`).join(', ')},
    ${proved.map((name) => `${name} = case when ${isHeardAnew} then r.${name} else e.${name} end`).join(', ')},
    told_at = coalesce(r.told_at, case
      when e.released_at is null or e.applied_at is not null then e.acknowledged_at end),
    released_at = least(r.released_at, e.released_at),
    is_release_heard = r.is_release_heard or e.is_release_heard
  from ${reported}
  where r.site_id = $1 and r.group_id = e.group_id and r.logger_id = e.logger_id
    and (r.reported_at is null or r.reported_at <= e.reported_at)`

/** Progress reports of edges on curtailment rows: frames of kind `curtailment`. */
import {
  curtailment_rows_max,
  open_end_at,
  RowReport,
  reportInstants,
  rowKey,
} from '@heliograph/domain/curtailment'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { noteReport } from '../storage/curtailment.ts'
import type { Transaction } from '../storage/database.ts'
import { takeIds } from '../storage/site-ids.ts'
import { rowsJson } from '../storage/values.ts'
import { checked, storableJson } from '../telemetry/first-fault.ts'
import { Refused, shown } from '../telemetry/refused.ts'
import { lockProgress, publishProgress } from './published.ts'

const checker = Compile(Type.Array(RowReport, { maxItems: curtailment_rows_max }))
/** Instants end with the year 2999, as in requests. */
const instant_max = Date.UTC(3000, 0, 1) - 1

/** @throws Refused for a payload that is no list of reports, or a report out of its time range */
export function acceptReports(
  payload: unknown,
  { first_at, last_at }: { first_at: number; last_at: number },
): RowReport[] {
  const reports = checked(checker, payload)
  storableJson(reports)
  for (const [index, { row, reported_at, ...report }] of reports.entries()) {
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
  return reports
}

/**
 * Stores the newest report of each row. Rows and releases that are missing in a database restored
 * from a backup are recreated from the report.
 */
export async function storeReports(
  transaction: Transaction,
  site_id: string,
  reports: readonly RowReport[],
): Promise<void> {
  if (reports.length === 0) return
  const ascending = reports.toSorted((a, b) => a.reported_at - b.reported_at)
  const newest = new Map(ascending.map((report) => [rowKey(report.row), report]))
  const rows = [...newest.values()].map(({ row, ...report }) => {
    return { ...report, ...row, is_release_heard: row.released_at !== null }
  })
  const records = rowsJson(rows)
  await transaction.execute(addUnknownGroups, [site_id, records])
  const group_ids = rows.map(({ group_id }) => group_id)
  const known = await transaction.query<Pick<RowReport['row'], 'group_id' | 'logger_id'>>(
    'select group_id, logger_id from curtailment_rows where site_id = $1 and group_id = any ($2)',
    [site_id, group_ids],
  )
  const known_keys = new Set(known.map(rowKey))
  const unknown = rows.filter((row) => !known_keys.has(rowKey(row)))
  const row_ids = await takeIds(transaction, { site_id, kind: 'row_id', count: unknown.length })
  const added = unknown.map((row, nth) => ({ ...row, row_id: row_ids[nth] }))
  if (added.length > 0) await transaction.execute(addUnknownRows, [site_id, rowsJson(added)])
  const before = await lockProgress(transaction, site_id, group_ids)
  await transaction.execute(update, [site_id, records])
  const now = new Date(ascending.at(-1)!.reported_at)
  await publishProgress(transaction, site_id, { before, now })
  await noteReport(transaction, site_id)
}

const reported = 'jsonb_populate_recordset(null::curtailment_rows, $2::jsonb) as e'

const addUnknownGroups = `
  insert into curtailment_groups (site_id, group_id, source, created_at)
  select $1, group_id, coalesce(min(o.source), 'edge_local'), min(acknowledged_at)
  from ${reported}
  join jsonb_to_recordset($2::jsonb) as o (group_id text, logger_id integer, source text)
    using (group_id, logger_id)
  group by group_id order by group_id
  on conflict do nothing`

const addUnknownRows = `
  insert into curtailment_rows
    (site_id, row_id, group_id, logger_id, start_at, end_at, max_power_kw, rated_power_kw, told_at)
  select $1, e.row_id, e.group_id, e.logger_id, e.start_at, e.end_at, e.max_power_kw, l.rated_power_kw,
    e.acknowledged_at
  from ${reported}
  left join loggers l on l.site_id = $1 and l.logger_id = e.logger_id
  order by e.group_id, e.logger_id
  on conflict do nothing`

const always_updated = [
  'reported_at',
  'restore_started_at',
  'restored_at',
  'retry_count',
  'failure_code',
  'failure_message',
]

/** Updated unless the edge lost the row. */
const in_force = [
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

/**
 * An edge that lost the row and received it again after its end has no data of its time in force.
 */
const isReceivedAgain = `(
  r.applied_at is not null and e.applied_at is null and e.acknowledged_at > r.acknowledged_at
  and (e.released_at is not null or e.reported_at >= r.end_at))`

const openEnd = `to_timestamp(${open_end_at / 1000})`

/**
 * An order from outside ends when its source replaces it.
 *
 * An edge that reports a row as unreleased or applied was sent it, even if a restored database
 * differs.
 */
const update = `
  update curtailment_rows as r
  set ${always_updated.map((name) => `${name} = e.${name}`).join(', ')},
    ${in_force
      .map((name) => `${name} = case when ${isReceivedAgain} then r.${name} else e.${name} end`)
      .join(', ')},
    told_at = coalesce(r.told_at, case
      when e.released_at is null or e.applied_at is not null then e.acknowledged_at end),
    released_at = least(r.released_at, e.released_at),
    end_at = case when r.end_at = ${openEnd} and e.released_at is not null
      then greatest(e.released_at,
        -- Without a time zone the sum is immutable, which a distributed table needs.
        (r.start_at at time zone 'UTC' + interval '1 ms') at time zone 'UTC') else r.end_at end,
    is_release_heard = r.is_release_heard or e.is_release_heard
  from ${reported}
  where r.site_id = $1 and r.group_id = e.group_id and r.logger_id = e.logger_id
    and (r.reported_at is null or r.reported_at <= e.reported_at)`

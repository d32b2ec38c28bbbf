import { columnsOf, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { markBatteryDays } from './battery-day-marks.ts'
import { believed_ahead_ms_max, copyColumns, type EncodedTable, type Trace } from './readings.ts'
import { touchHours } from './touched-hours.ts'

const unique_violation = '23505'

/** The readings of one kind from all frames of a batch. */
interface KindBatch extends Pick<EncodedTable, 'kind' | 'row_count' | 'devices'> {
  texts: Buffer[]
}

/** Merges the tables of many frames by kind, in the same order in all transactions. */
export function mergeTables(tables: readonly EncodedTable[]): KindBatch[] {
  const batches = new Map<ReadingKind, KindBatch>()
  for (const table of tables) {
    const { kind } = table
    const empty: KindBatch = { kind, row_count: 0, texts: [], devices: new Map() }
    const batch = batches.get(kind) ?? empty
    batches.set(kind, batch)
    batch.row_count += table.row_count
    batch.texts.push(table.text)
    for (const [device_id, trace] of table.devices) mergeTrace(batch, device_id, trace)
  }
  const order = Object.keys(readingKinds)
  return [...batches.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

function mergeTrace(batch: KindBatch, device_id: number, trace: Trace): void {
  const merged = batch.devices.get(device_id) ?? { newest_at: new Map(), hours: new Set() }
  batch.devices.set(device_id, merged)
  for (const [sub, at] of trace.newest_at) {
    if (!(merged.newest_at.get(sub)! >= at)) merged.newest_at.set(sub, at)
  }
  for (const hour of trace.hours) merged.hours.add(hour)
}

/**
 * Stores the rows of a batch, marks the touched hours and updates the latest readings. Shared rows
 * are locked last and always in the same order, so that live data waits only for the end of a
 * backlog transaction. `repeated` counts rows whose device and instant were already stored; the
 * first row stays.
 */
export async function storeReadings(
  transaction: Transaction,
  site_id: string,
  batches: readonly KindBatch[],
  received_at: string,
): Promise<{ stored: number; repeated: number }> {
  if (batches.length === 0) return { stored: 0, repeated: 0 }
  const stored = await copyRows(transaction, batches)
  const touched = batches.flatMap(({ kind, devices }) =>
    [...devices].flatMap(([device_id, { hours }]) =>
      [...hours].map((hour) => ({ kind, device_id, hour })),
    ),
  )
  await touchHours(transaction, site_id, touched)
  for (const batch of batches) await updateLatest(transaction, site_id, batch, received_at)
  const of_batteries = touched.flatMap(({ kind, device_id: bess_id, hour }) =>
    kind === 'bess' ? [{ bess_id, hour }] : [],
  )
  await markBatteryDays(transaction, site_id, of_batteries, new Date(received_at))
  const row_count = batches.reduce((count, batch) => count + batch.row_count, 0)
  return { stored, repeated: row_count - stored }
}

/** COPY cannot skip conflicts: if a row exists, all rows go through a temporary table. */
async function copyRows(transaction: Transaction, batches: readonly KindBatch[]): Promise<number> {
  await transaction.execute('savepoint rows')
  try {
    let stored = 0
    for (const { kind, texts } of batches) {
      stored += await transaction.copyInto(copyTarget(kind, readingKinds[kind].table), texts)
    }
    return stored
  } catch (error) {
    if ((error as { code?: unknown }).code !== unique_violation) throw error
  }
  await transaction.execute('rollback to savepoint rows')
  let stored = 0
  for (const batch of batches) stored += await copyNewRows(transaction, batch)
  return stored
}

async function copyNewRows(transaction: Transaction, { kind, texts }: KindBatch): Promise<number> {
  const { table, keys } = readingKinds[kind]
  const names = copyColumns(kind).join(', ')
  await transaction.execute(`create temp table arrived (like ${table})`)
  await transaction.copyInto(copyTarget(kind, 'arrived'), texts)
  const stored = await transaction.execute(
    `insert into ${table} (${names})
     select ${names} from arrived order by site_id, ${keys.join(', ')}, measured_at
     on conflict do nothing`,
  )
  await transaction.execute('drop table arrived')
  return stored
}

function copyTarget(kind: ReadingKind, table: string): string {
  return `${table} (${copyColumns(kind).join(', ')})`
}

const believed_ahead = `interval '${believed_ahead_ms_max} milliseconds'`

const latestStatements = Object.fromEntries(
  (Object.keys(readingKinds) as ReadingKind[]).map((kind) => [kind, latestStatement(kind)]),
) as Record<ReadingKind, string>

/**
 * The latest reading is the newest row of the batch, unless a newer one is stored. A reading dated
 * into the future by the clock of its edge gets its time of arrival, so that later readings replace
 * it and it becomes stale without them.
 */
function latestStatement(kind: ReadingKind): string {
  const { table, keys } = readingKinds[kind]
  const latest = `${kind}_latest`
  const columns = columnsOf(kind)
  const same = (a: string, b: string) =>
    keys.map((key) => `${a}.${key} = ${b}.${key}`).join(' and ')
  const moving = columns.filter((name) => !(keys as readonly string[]).includes(name))
  const measured_at = `case when n.measured_at > $2::timestamptz + ${believed_ahead}
    then $2::timestamptz else n.measured_at end`
  const values = columns.map((name) => (name === 'measured_at' ? measured_at : `r.${name}`))
  const arrays = keys.map((_, index) => `$${index + 6}::int[]`).join(', ')
  return `
    insert into ${latest} (site_id, ${columns.join(', ')}, received_at)
    select r.site_id, ${values.join(', ')}, $2::timestamptz
    from unnest(${arrays}, $5::timestamptz[]) as n (${keys.join(', ')}, measured_at)
    join ${table} r on r.site_id = $1 and ${same('r', 'n')} and r.measured_at = n.measured_at
      and r.measured_at between $3 and $4
    where not exists (
      select from ${latest} l
      where l.site_id = $1 and ${same('l', 'n')} and l.measured_at >= ${measured_at}
    )
    order by ${keys.map((key) => `n.${key}`).join(', ')}
    on conflict (site_id, ${keys.join(', ')}) do update
    set ${moving.map((name) => `${name} = excluded.${name}`).join(', ')},
      received_at = excluded.received_at
    where ${latest}.measured_at < excluded.measured_at`
}

async function updateLatest(
  transaction: Transaction,
  site_id: string,
  { kind, devices }: KindBatch,
  received_at: string,
): Promise<void> {
  const newest = [...devices].flatMap(([device_id, { newest_at }]) =>
    [...newest_at].map(([sub, at]) => ({ device_id, sub, at })),
  )
  if (newest.length === 0) return
  const instants = newest.map(({ at }) => at)
  const subs = readingKinds[kind].keys.length > 1 ? [newest.map(({ sub }) => sub)] : []
  await transaction.execute(latestStatements[kind], [
    site_id,
    received_at,
    isoTime(Math.min(...instants)),
    isoTime(Math.max(...instants)),
    instants.map(isoTime),
    newest.map(({ device_id }) => device_id),
    ...subs,
  ])
}

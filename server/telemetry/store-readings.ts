import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { markBatteryDays } from './battery-day-marks.ts'
import { believed_ahead_ms_max, type EncodedTable, type Trace } from './readings.ts'
import { copyColumns, latestColumns, rowValue } from './rows.ts'
import { touchHours } from './touched-hours.ts'

const unique_violation = '23505'

/** Checked readings of a site that arrived together. */
interface Arrival {
  site_id: string
  received_at: string
  tables: readonly EncodedTable[]
}

type Traces = Map<number, Trace>

/** The readings of one kind of all arrivals. */
interface KindBatch {
  kind: ReadingKind
  texts: Buffer[]
  devicesOf: Map<string, Traces>
}

interface StoredRows {
  stored: number
  /** Rows whose device and instant were already stored; the first row stays. */
  repeated: number
}

/** Merges the tables of all arrivals by kind, in the same order in all transactions. */
function mergeTables(arrivals: readonly Arrival[]): KindBatch[] {
  const batches = new Map<ReadingKind, KindBatch>()
  for (const { site_id, tables } of arrivals) {
    for (const { kind, text, devices } of tables) {
      const empty: KindBatch = { kind, texts: [], devicesOf: new Map() }
      const batch = batches.get(kind) ?? empty
      batches.set(kind, batch)
      batch.texts.push(text)
      const merged: Traces = batch.devicesOf.get(site_id) ?? new Map()
      batch.devicesOf.set(site_id, merged)
      for (const [device_id, trace] of devices) mergeTrace(merged, device_id, trace)
    }
  }
  const order = Object.keys(readingKinds)
  return [...batches.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

function mergeTrace(traces: Traces, device_id: number, trace: Trace): void {
  const merged = traces.get(device_id) ?? { newest_at: new Map(), hours: new Set() }
  traces.set(device_id, merged)
  for (const [sub, at] of trace.newest_at) {
    if (!(merged.newest_at.get(sub)! >= at)) merged.newest_at.set(sub, at)
  }
  for (const hour of trace.hours) merged.hours.add(hour)
}

/**
 * Stores the rows of several sites, marks the touched hours and updates the latest readings. Shared
 * rows are locked last and always in the same order, so that live data waits only for the end of a
 * backlog transaction. Returns the rows of each site.
 */
export async function storeReadings(
  transaction: Transaction,
  arrivals: readonly Arrival[],
): Promise<ReadonlyMap<string, StoredRows>> {
  const batches = mergeTables(arrivals)
  if (batches.length === 0) return new Map()
  const stored = await copyRows(transaction, batches)
  const touched = batches.flatMap(({ kind, devicesOf }) =>
    [...devicesOf].flatMap(([site_id, devices]) =>
      [...devices].flatMap(([device_id, { hours }]) =>
        [...hours].map((hour) => ({ site_id, kind, device_id, hour })),
      ),
    ),
  )
  await touchHours(transaction, touched)
  const receivedAt = new Map(arrivals.map(({ site_id, received_at }) => [site_id, received_at]))
  for (const batch of batches) await updateLatest(transaction, batch, receivedAt)
  const of_batteries = touched.filter(({ kind }) => kind === 'bess')
  const by_site = [...Map.groupBy(of_batteries, (one) => one.site_id)]
  for (const [site_id, hours] of by_site.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const battery_hours = hours.map(({ device_id, hour }) => ({ bess_id: device_id, hour }))
    await markBatteryDays(transaction, site_id, battery_hours, new Date(receivedAt.get(site_id)!))
  }
  const rows = new Map<string, StoredRows>()
  for (const { site_id, tables } of arrivals) {
    const given = tables.reduce((count, { row_count }) => count + row_count, 0)
    const before = rows.get(site_id) ?? { stored: 0, repeated: 0 }
    rows.set(site_id, { stored: before.stored + given, repeated: 0 })
  }
  if (stored === 'all') return rows
  for (const [site_id, site] of rows) {
    site.repeated = site.stored - (stored.get(site_id) ?? 0)
    site.stored -= site.repeated
  }
  return rows
}

/**
 * COPY cannot skip conflicts: if a row exists, all rows go through a temporary table. Returns the
 * stored rows of each site, unless all were.
 */
async function copyRows(
  transaction: Transaction,
  batches: readonly KindBatch[],
): Promise<'all' | ReadonlyMap<string, number>> {
  await transaction.execute('savepoint rows')
  try {
    for (const { kind, texts } of batches) {
      await transaction.copyInto(copyTarget(kind, readingKinds[kind].table), texts)
    }
    return 'all'
  } catch (error) {
    if ((error as { code?: unknown }).code !== unique_violation) throw error
  }
  await transaction.execute('rollback to savepoint rows')
  const stored = new Map<string, number>()
  for (const batch of batches) await copyNewRows(transaction, batch, stored)
  return stored
}

async function copyNewRows(
  transaction: Transaction,
  { kind, texts }: KindBatch,
  stored: Map<string, number>,
): Promise<void> {
  const { table, keys } = readingKinds[kind]
  const names = copyColumns(kind).join(', ')
  await transaction.execute(`create temp table arrived (like ${table})`)
  await transaction.copyInto(copyTarget(kind, 'arrived'), texts)
  const counts = await transaction.query<{ site_id: string; count: number }>(
    `with new_rows as (
       insert into ${table} (${names})
       select ${names} from arrived order by site_id, ${keys.join(', ')}, measured_at
       on conflict do nothing returning site_id)
     select site_id, count(*)::int as count from new_rows group by site_id`,
  )
  for (const { site_id, count } of counts) stored.set(site_id, (stored.get(site_id) ?? 0) + count)
  await transaction.execute('drop table arrived')
}

function copyTarget(kind: ReadingKind, table: string): string {
  return `${table} (${copyColumns(kind).join(', ')})`
}

const believed_ahead = `interval '${believed_ahead_ms_max} milliseconds'`

const latestStatements = (is_of_one_site: boolean) =>
  Object.fromEntries(
    (Object.keys(readingKinds) as ReadingKind[]).map((kind) => [
      kind,
      latestStatement(kind, is_of_one_site),
    ]),
  ) as Record<ReadingKind, { name: string; text: string }>
const of_sites = latestStatements(false)
const of_one_site = latestStatements(true)

/**
 * The latest reading is the newest row of the batch, unless a newer one is stored. A reading dated
 * into the future by the clock of its edge gets its time of arrival, so that later readings replace
 * it and it becomes stale without them.
 *
 * The subqueries keep the plan of the prepared statement at one look into an index for each row,
 * however small the tables were when it was planned. A batch of one site names it: on a cluster,
 * where all batches are, the site decides the node.
 */
function latestStatement(
  kind: ReadingKind,
  is_of_one_site: boolean,
): { name: string; text: string } {
  const { table, keys } = readingKinds[kind]
  const latest = `${kind}_latest`
  const columns = latestColumns(kind)
  const own = ['site_id', ...keys]
  const same = (a: string, b: string) => own.map((key) => `${a}.${key} = ${b}.${key}`).join(' and ')
  const moving = columns.filter((name) => !(keys as readonly string[]).includes(name))
  const measured_at = `case when n.measured_at > n.received_at + ${believed_ahead}
    then n.received_at else n.measured_at end`
  const isOfSite = (name: string) => (is_of_one_site ? `and ${name}.site_id = ($1)[1]` : '')
  const values = columns.map((name) =>
    name === 'measured_at' || name === 'compact_at' ? measured_at : rowValue(kind, name),
  )
  const arrays = keys.map((_, index) => `$${index + 4}::int[]`).join(', ')
  const text = `
    insert into ${latest} (site_id, ${columns.join(', ')}, received_at)
    select r.site_id, ${values.join(', ')}, n.received_at
    from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], ${arrays})
      as n (site_id, received_at, measured_at, ${keys.join(', ')})
    cross join lateral (
      select * from ${table} t
      where ${same('t', 'n')} and t.measured_at = n.measured_at ${isOfSite('t')} limit 1
    ) as r
    where coalesce(
      (select l.measured_at from ${latest} l where ${same('l', 'n')} ${isOfSite('l')})
        < ${measured_at}, true)
    order by ${own.map((key) => `n.${key}`).join(', ')}
    on conflict (${own.join(', ')}) do update
    set ${moving.map((name) => `${name} = excluded.${name}`).join(', ')},
      received_at = excluded.received_at
    where ${latest}.measured_at < excluded.measured_at`
  return { name: `update_${latest}${is_of_one_site ? '_of_site' : ''}`, text }
}

async function updateLatest(
  transaction: Transaction,
  { kind, devicesOf }: KindBatch,
  receivedAt: ReadonlyMap<string, string>,
): Promise<void> {
  const newest = [...devicesOf].flatMap(([site_id, devices]) =>
    [...devices].flatMap(([device_id, { newest_at }]) =>
      [...newest_at].map(([sub, at]) => ({ site_id, device_id, sub, at })),
    ),
  )
  if (newest.length === 0) return
  const statements = devicesOf.size === 1 ? of_one_site : of_sites
  await transaction.execute(statements[kind], [
    arrayOf(newest, ({ site_id }) => site_id),
    arrayOf(newest, ({ site_id }) => receivedAt.get(site_id)!),
    arrayOf(newest, ({ at }) => isoTime(at)),
    arrayOf(newest, ({ device_id }) => device_id),
    ...(readingKinds[kind].keys.length > 1 ? [arrayOf(newest, ({ sub }) => sub)] : []),
  ])
}

/** An array of numbers, instants or site ids; the driver would quote each element. */
const arrayOf = <Row>(rows: readonly Row[], of: (row: Row) => string | number) =>
  `{${rows.map(of).join()}}`

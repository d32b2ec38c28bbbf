import { day_ms, week_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Database, Transaction } from './database.ts'

/** 1970-01-05 was a Monday. */
const first_monday_ms = 4 * day_ms
/** Twenty years, to limit the damage of a wrong date. */
const weeks_max = 1044

/** Advisory lock of partitions: the letters `hg-part` as a number. */
const advisory_lock = 0x68672d70617274n

export interface Week {
  start: Date
  end: Date
}

/** The weeks from Monday 00:00 UTC that overlap `[from, to)`. */
export function weeksOf(from: Date, to: Date): Week[] {
  if (!(to > from)) throw new RangeError('partitions: the window must end after it begins')
  const first = Math.floor((from.getTime() - first_monday_ms) / week_ms)
  const end = Math.ceil((to.getTime() - first_monday_ms) / week_ms)
  if (end - first > weeks_max) {
    throw new RangeError(`partitions: ${end - first} weeks at once are more than ${weeks_max}`)
  }
  return Array.from({ length: end - first }, (_, index) => {
    const start_ms = first_monday_ms + (first + index) * week_ms
    return { start: new Date(start_ms), end: new Date(start_ms + week_ms) }
  })
}

/** `inverter_readings_20261116` */
export function partitionName(table: string, week: Week): string {
  return `${table}_${utcDate(week.start).replaceAll('-', '')}`
}

/** The `FOR VALUES` clause of a weekly partition. */
const boundsOf = ({ start, end }: Week): string =>
  `FOR VALUES FROM ('${start.toISOString()}') TO ('${end.toISOString()}')`

/**
 * Creates missing weekly partitions for `[from, to)` and returns their names. Safe to run in
 * several processes. A partition is created separately and then attached, which does not block
 * readers and writers of the table, unlike `CREATE TABLE … PARTITION OF`.
 */
export async function ensurePartitions(
  db: Database,
  tables: readonly string[],
  from: Date,
  to: Date,
): Promise<string[]> {
  const weeks = weeksOf(from, to)
  const { lacks } = await partitionsOf(db, tables)
  const missing = weeks.filter((week) => tables.some((table) => lacks(table, week)))
  const made: string[] = []
  for (const week of missing) {
    made.push(...(await db.transaction((transaction) => makeWeek(transaction, tables, week))))
  }
  return made
}

async function makeWeek(
  transaction: Transaction,
  tables: readonly string[],
  week: Week,
): Promise<string[]> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [advisory_lock])
  const { lacks } = await partitionsOf(transaction, tables)
  const missing = tables.filter((table) => lacks(table, week))
  for (const table of missing) {
    const name = identifier(partitionName(table, week))
    await transaction.execute(
      `CREATE TABLE ${name} (LIKE ${identifier(table)} INCLUDING ALL EXCLUDING IDENTITY)`,
    )
    await transaction.execute(
      `ALTER TABLE ${identifier(table)} ATTACH PARTITION ${name} ${boundsOf(week)}`,
    )
  }
  return missing.map((table) => partitionName(table, week))
}

interface Partition {
  table: string
  name: string
  start: Date
  end: Date
}

async function readPartitions(
  db: Pick<Database, 'query'>,
  tables: readonly string[],
): Promise<Partition[]> {
  const bound = (which: string) =>
    `substring(pg_get_expr(child.relpartbound, child.oid) from '${which} \\(''([^'']+)''\\)')`
  return db.query<Partition>(
    `SELECT parent.relname AS "table", child.relname AS name,
            ${bound('FROM')}::timestamptz AS start, ${bound('TO')}::timestamptz AS "end"
       FROM pg_inherits
       JOIN pg_class AS child ON child.oid = inhrelid
       JOIN pg_class AS parent ON parent.oid = inhparent
      WHERE inhparent = ANY (SELECT name::regclass FROM unnest($1::text[]) AS name)
      ORDER BY "end", "table"`,
    [tables.map(identifier)],
  )
}

/** Finds weeks without a partition. */
async function partitionsOf(db: Pick<Database, 'query'>, tables: readonly string[]) {
  const partitions = await readPartitions(db, tables)
  const names = new Set(partitions.map(({ name }) => name))
  return { lacks: (table: string, week: Week) => !names.has(partitionName(table, week)) }
}

/** The partitions of the tables that end by `before`, oldest first. */
export async function weeksBefore(
  db: Pick<Database, 'query'>,
  tables: readonly string[],
  before: Date,
): Promise<{ table: string; week: Week }[]> {
  const partitions = await readPartitions(db, tables)
  return partitions.flatMap(({ table, start, end }) =>
    end <= before ? [{ table, week: { start, end } }] : [],
  )
}

/** Blocks readers and writers of the table until the transaction ends. */
export const dropPartition = (transaction: Transaction, name: string) =>
  transaction.execute(`DROP TABLE ${identifier(name)}`)

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

export type PartitionKeeper = ReturnType<typeof keepPartitions>

/** `ensurePartitions` with a cache of known weeks, for ingest. */
export function keepPartitions(db: Database, tables: readonly string[]) {
  const known = new Set<number>()
  return {
    /** Creates missing partitions for `[from, to)`. Known weeks cost no query. */
    async ensure(from: Date, to: Date): Promise<string[]> {
      const weeks = weeksOf(from, to).filter(({ start }) => !known.has(start.getTime()))
      if (weeks.length === 0) return []
      const made = await ensurePartitions(db, tables, weeks[0]!.start, weeks.at(-1)!.end)
      for (const { start } of weeks) known.add(start.getTime())
      return made
    },
  }
}

/** The window in which partitions are created ahead: four weeks. */
export function weeksAhead(now: Date): { from: Date; to: Date } {
  return { from: now, to: new Date(now.getTime() + 4 * week_ms) }
}

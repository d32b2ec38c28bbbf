import type { Database, Transaction } from './database.ts'

const day_ms = 86_400_000
const week_ms = 7 * day_ms
/** 1970-01-05 was a Monday. */
const first_monday_ms = 4 * day_ms
/** Twenty years: a wrong date must not make partitions without end. */
const weeks_max = 1044

/**
 * Of PostgreSQL's advisory locks, ours for making partitions: the letters `hg-part` as a number.
 */
const advisory_lock = 0x68672d70617274n

export interface Week {
  start: Date
  end: Date
}

/** The weeks, Monday 00:00 UTC to Monday 00:00 UTC, that `[from, to)` touches. */
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
  return `${table}_${week.start.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/**
 * Makes the weekly partitions of the tables that `[from, to)` touches and returns the names of the
 * new ones. The tables are `PARTITION BY RANGE` of a timestamptz. Any number of processes may do so
 * at once. A partition is made on its own and then attached, which readers and writers of the table
 * do not wait for; `CREATE TABLE … PARTITION OF` would lock them out.
 */
export async function ensurePartitions(
  db: Database,
  tables: readonly string[],
  from: Date,
  to: Date,
): Promise<string[]> {
  const weeks = weeksOf(from, to)
  const existing = await partitionsOf(db, tables)
  const missing = weeks.filter((week) =>
    tables.some((table) => !existing.has(partitionName(table, week))),
  )
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
  const existing = await partitionsOf(transaction, tables)
  const missing = tables.filter((table) => !existing.has(partitionName(table, week)))
  for (const table of missing) {
    const name = identifier(partitionName(table, week))
    const bounds = `FROM ('${week.start.toISOString()}') TO ('${week.end.toISOString()}')`
    await transaction.execute(
      `CREATE TABLE ${name} (LIKE ${identifier(table)} INCLUDING ALL EXCLUDING IDENTITY);
       ALTER TABLE ${identifier(table)} ATTACH PARTITION ${name} FOR VALUES ${bounds}`,
    )
  }
  return missing.map((table) => partitionName(table, week))
}

async function partitionsOf(
  db: Pick<Database, 'query'>,
  tables: readonly string[],
): Promise<Set<string>> {
  const rows = await db.query<{ name: string }>(
    `SELECT child.relname AS name
       FROM pg_inherits
       JOIN pg_class AS child ON child.oid = inhrelid
      WHERE inhparent = ANY (SELECT name::regclass FROM unnest($1::text[]) AS name)`,
    [tables.map(identifier)],
  )
  return new Set(rows.map(({ name }) => name))
}

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

export interface PartitionKeeper {
  /** Makes what `[from, to)` lacks. Weeks that this process has seen cost nothing. */
  ensure(from: Date, to: Date): Promise<string[]>
}

/** For ingest, which asks before every batch: remembers which weeks are there. */
export function keepPartitions(db: Database, tables: readonly string[]): PartitionKeeper {
  const known = new Set<number>()
  return {
    async ensure(from, to) {
      const weeks = weeksOf(from, to).filter(({ start }) => !known.has(start.getTime()))
      if (weeks.length === 0) return []
      const made = await ensurePartitions(db, tables, weeks[0]!.start, weeks.at(-1)!.end)
      for (const { start } of weeks) known.add(start.getTime())
      return made
    },
  }
}

/** What a server asks for at start and then daily: from now to four weeks ahead. */
export function weeksAhead(now: Date): { from: Date; to: Date } {
  return { from: now, to: new Date(now.getTime() + 4 * week_ms) }
}

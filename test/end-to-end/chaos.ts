/**
 * Kills server, edge and database with SIGKILL at random moments under load, then asks of every
 * reading and event that the edge's journal ever held whether the database has it, once and
 * unchanged.
 */
import { linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { LinkEvent, Readings } from '@heliograph/domain/link'
import { columnsOf, type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import { recordsOf } from '@heliograph/edge/journal-record'
import type { Database } from '@heliograph/server/storage/database'
import { readingsIn } from '@heliograph/server/telemetry/blocks/store'
import { readRows } from '@heliograph/server/telemetry/rows'
import { enrol, onDatabase } from './enrol.ts'
import type { Programs } from './programs.ts'

export interface Outcome {
  kills: Record<'server' | 'edge' | 'database', number>
  journaled: number
  /** What the journal held and the database has not, and the other way round. */
  missing: string[]
  invented: string[]
  changed: string[]
}

const settle_ms_max = 45_000

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function chaos(
  programs: Programs,
  { seed, seconds }: { seed: number; seconds: number },
): Promise<Outcome> {
  const random = seeded(seed)
  const kills = { server: 0, edge: 0, database: 0 }
  programs.start('server')
  await programs.serverIsReady()
  await enrol(programs)
  await onDatabase(programs, (db) => db.execute(slow_transactions))
  programs.start('simulator')
  programs.start('edge')
  const archive = archiveOf(join(programs.edge_dir, 'journal'), join(programs.dir, 'archive'))

  const until = Date.now() + seconds * 1000
  while (Date.now() < until) {
    await wait(200 + random() * 1500)
    const victim = (['server', 'edge', 'database'] as const)[Math.floor(random() * 3)]!
    kills[victim] += 1
    if (victim === 'database') await programs.killDatabase()
    else await programs.end(victim, 'SIGKILL')
    await wait(random() * 700)
    for (const name of ['server', 'edge'] as const) {
      if (!programs.isRunning(name)) programs.start(name)
    }
    if (random() < 0.7) await programs.serverIsReady()
  }
  await programs.serverIsReady()
  if (!programs.isRunning('edge')) programs.start('edge')

  const judged_until = Date.now()
  const outcome = await onDatabase(programs, async (db) => {
    const give_up = Date.now() + settle_ms_max
    for (;;) {
      const found = await compare(db, programs.site, archive.records(), judged_until)
      if (found.missing.length === 0 || Date.now() > give_up) return found
      await wait(500)
    }
  })
  archive.close()
  return { kills, ...outcome }
}

/** A third of a second between writing and committing: where a kill hurts most, it often falls. */
const slow_transactions = `
  create function dawdle() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.3); return null; end $$;
  create trigger dawdle after insert on link_frames
    for each statement execute function dawdle()`

/** A second name for every segment of the journal, which outlives the edge's own. */
function archiveOf(journal_dir: string, archive_dir: string) {
  mkdirSync(archive_dir, { recursive: true })
  const known = new Set<string>()
  const look = () => {
    for (const epoch of list(journal_dir)) {
      for (const file of list(join(journal_dir, epoch)).filter((one) => one.endsWith('.journal'))) {
        const name = `${epoch}-${file}`
        if (known.has(name)) continue
        linkSync(join(journal_dir, epoch, file), join(archive_dir, name))
        known.add(name)
      }
    }
  }
  const looking = setInterval(look, 10)
  return {
    *records() {
      look()
      for (const file of readdirSync(archive_dir)) {
        yield* recordsOf(readFileSync(join(archive_dir, file)))
      }
    },
    close: () => clearInterval(looking),
  }
}

const list = (dir: string): string[] => {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

type EventName = Pick<LinkEvent, 'at' | 'source_kind' | 'source_id' | 'code' | 'edge'>

const eventId = ({ at, source_kind, source_id, code, edge }: EventName) =>
  ['event', at, source_kind, source_id, code, edge].join(' ')

/** What the server noticed by itself, in no journal. */
const events_of_the_server = ['edge_offline']

/** Everything of a reading but what names it. */
const valuesOf = (kind: ReadingKind): string[] => [
  'quality',
  ...Object.keys(readingKinds[kind].columns),
]

async function compare(
  db: Database,
  site: Site,
  records: Iterable<{ kind: string; payload: string }>,
  judged_until: number,
): Promise<Omit<Outcome, 'kills'>> {
  const journaled = new Map<string, string>()
  for (const { kind, payload } of records) {
    if (kind === 'events') {
      for (const event of JSON.parse(payload) as LinkEvent[]) {
        if (event.at < judged_until) journaled.set(eventId(event), event.severity)
      }
    }
    if (kind !== 'readings') continue
    for (const [name, table] of Object.entries(JSON.parse(payload) as Readings)) {
      const { keys } = readingKinds[name as ReadingKind]
      const at = (column: string) => table.columns.indexOf(column)
      for (const row of table.rows) {
        if ((row[at('measured_at')] as number) >= judged_until) continue
        const id = [name, ...keys.map((key) => row[at(key)]), row[at('measured_at')]].join(' ')
        if (journaled.has(id)) throw new Error(`the journal holds ${id} twice`)
        const values = valuesOf(name as ReadingKind).map((column) => row[at(column)])
        journaled.set(id, canonical(values))
      }
    }
  }
  const stored = await storedReadings(db, site, judged_until)
  const ids = [...journaled.keys()]
  return {
    journaled: journaled.size,
    missing: ids.filter((id) => !stored.has(id)),
    invented: [...stored.keys()].filter((id) => !journaled.has(id)),
    changed: ids.filter((id) => stored.has(id) && stored.get(id) !== journaled.get(id)),
  }
}

async function storedReadings(db: Database, site: Site, judged_until: number) {
  const stored = new Map<string, string>()
  const asked = {
    where: 'where r.site_id = $1 and r.measured_at < $2',
    values: [site.site_id, new Date(judged_until)],
  }
  for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
    const ids = [...readingKinds[kind].keys, 'measured_at']
    for (const reading of readingsIn(await readRows(db, kind, asked, columnsOf(kind)))) {
      const id = [kind, ...ids.map((name) => reading[name])].join(' ')
      stored.set(id, canonical(valuesOf(kind).map((name) => reading[name])))
    }
  }
  const events = await db.query<Omit<EventName, 'at'> & { at: Date; severity: string }>(
    `select at, source_kind, source_id, code, edge, severity from events
     where site_id = $1 and at < $2 and code <> all($3)`,
    [site.site_id, new Date(judged_until), events_of_the_server],
  )
  for (const event of events) {
    const id = eventId({ ...event, at: event.at.getTime() })
    stored.set(stored.has(id) ? `${id} again` : id, event.severity)
  }
  return stored
}

/** As a column of type real holds it. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'number' ? Math.fround(one) : one)) ?? 'null'

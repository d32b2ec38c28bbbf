/**
 * `--part blocks`: kills the server or its database while late readings arrive and become part of
 * blocks, and reads the histories meanwhile and after each kill. A fault is an acknowledged reading
 * that is missing, changed or returned twice, and a reading that was never sent.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { hour_ms, week_ms } from '@heliograph/domain/durations'
import type { HistoryFrame } from '@heliograph/edge/importer'
import { readingsFrame } from '@heliograph/server/link/fixtures/plant'
import { applyInventory } from '@heliograph/server/plant/inventory'
import { hasRow } from '@heliograph/server/storage/rows'
import { seeded } from '../end-to-end/chaos.ts'
import { enrol, onDatabase } from '../end-to-end/enrol.ts'
import { loadSite } from '../end-to-end/load-site.ts'
import { type Programs, programsIn } from '../end-to-end/programs.ts'
import { sendFrames } from './plant.ts'

interface Options {
  seed: number
  rounds: number
  /** No round starts later. */
  minutes: number
}

const inverters = 4
const readings_per_hour = 24
const packing_ms_max = 15_000
/** The longest time from the first block of a round to a kill, about that of all its blocks. */
const packing_ms = 4000
const settling_ms_max = 30_000
const sending_ms_max = 60_000
const reading_ms = 300
const shown_max = 20

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Returns the number of faults. */
export async function blockKills({ seed, rounds, minutes }: Options): Promise<number> {
  say(`blocks: seed ${seed}, ${rounds} rounds`)
  const until = Date.now() + minutes * 60_000
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-soak-'))
  const programs = await programsIn(dir, loadSite)
  try {
    const run = await start(programs, seed)
    let round = 0
    for (; round < rounds && Date.now() < until; round += 1) {
      const { victim, was_packing } = await run.killOnce(round)
      const found = await run.judge()
      say(
        `round ${round + 1}: killed ${victim}${was_packing ? ' while blocks were made' : ''}, ` +
          `${found.acknowledged} readings acknowledged, ${found.blocks} blocks, ${found.rows} rows, ` +
          `${run.faults.length} faults`,
      )
      if (run.faults.length > 0) break
    }
    for (const fault of run.faults.slice(0, shown_max)) say(`FAULT ${fault}`)
    if (run.faults.length > 0) say(`replay: npm run soak -- --part blocks --seed ${seed}`)
    say(
      `${round} of ${rounds} rounds, ${run.killed_packing} kills while blocks were made, ` +
        `${run.answers} histories read, ${run.faults.length} faults`,
    )
    return run.faults.length + (round < rounds ? 1 : 0)
  } finally {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function start(programs: Programs, seed: number): Promise<BlockRun> {
  programs.start('server')
  await programs.serverIsReady()
  const rates = { general_per_minute: 1_000_000, write_per_minute: 1_000_000 }
  const key = await enrol(programs, rates)
  await onDatabase(programs, async (db) => {
    const announcement = { json: JSON.stringify(programs.site), epoch: 'soak', seq: 1 }
    await db.transaction((tx) =>
      applyInventory(tx, programs.site, { ...announcement, at: Date.now() }),
    )
    await db.execute(slow_packing)
  })
  const token = readFileSync(join(programs.dir, 'token'), 'utf8').trim()
  return new BlockRun(programs, { seed, key, token })
}

/** A kill is likely to fall between two blocks of a transaction, and before it is committed. */
const slow_packing = `
  create function dawdle() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.02); return null; end $$;
  create trigger dawdle after insert or update on reading_blocks
    for each statement execute function dawdle()`

type Kind = 'inverter' | 'string'

interface Reading {
  kind: Kind
  device: number
  at: number
  value: number
}

const idOf = ({ kind, device, at }: Omit<Reading, 'value'>) => `${kind} ${device} ${at}`

class BlockRun {
  killed_packing = 0
  answers = 0
  readonly faults: string[] = []
  readonly #programs: Programs
  readonly #random: () => number
  readonly #key: string
  readonly #token: string
  /** Hours that end before the run starts: of today, and of weeks whose rows go. */
  readonly #hours: readonly number[]
  readonly #sent = new Map<string, number>()
  readonly #acknowledged = new Set<string>()
  #imports = 0

  constructor(programs: Programs, of: { seed: number; key: string; token: string }) {
    this.#programs = programs
    this.#random = seeded(of.seed)
    this.#key = of.key
    this.#token = of.token
    const hour = Math.floor(Date.now() / hour_ms) * hour_ms
    this.#hours = [
      ...[3, 4, 5].map((hours) => hour - hours * hour_ms),
      ...[2, 3].flatMap((weeks) => [0, 1].map((nth) => hour - weeks * week_ms + nth * hour_ms)),
    ]
  }

  #drawn = (count: number) => Math.floor(this.#random() * count)

  /** Sends readings while a program is killed, and starts the server anew. */
  async killOnce(round: number): Promise<{ victim: string; was_packing: boolean }> {
    const programs = this.#programs
    const victim = this.#random() < 0.5 ? 'server' : 'database'
    // Some kills fall into the arrival of readings, most into the making of their blocks.
    const is_arriving = this.#random() < 0.25
    const are_rows_going = round % 3 === 2
    const reading = this.#readUntil()
    let sending = this.#send()
    if (!is_arriving) {
      await sending
      sending = this.#random() < 0.5 ? this.#send() : Promise.resolve()
    }
    const was_packing = is_arriving ? false : await this.#untilPacking()
    if (was_packing) this.killed_packing += 1
    if (are_rows_going) await this.#letRowsGo()
    await wait(this.#random() * (is_arriving ? 300 : packing_ms))
    if (victim === 'database') await programs.killDatabase()
    else await programs.end('server', 'SIGKILL')
    if (programs.isRunning('server')) await programs.end('server', 'SIGTERM')
    programs.start('server')
    await programs.serverIsReady()
    await sending
    await reading.end()
    return { victim, was_packing }
  }

  /** Sends readings of some hours, and some that were acknowledged again with other values. */
  async #send(): Promise<void> {
    const readings: Reading[] = []
    for (const hour of this.#hours) {
      if (this.#random() < 0.5) continue
      for (let device = 1; device <= inverters; device += 1) {
        for (const kind of ['inverter', 'string'] as const) {
          for (let nth = 0; nth < readings_per_hour; nth += 1) {
            const at = hour + this.#drawn(720) * 5000
            const value = (100 + this.#drawn(9000)) / 100
            readings.push({ kind, device, at, value })
          }
        }
      }
    }
    // The first value that was sent stays, and a second one must never be stored beside it.
    const isSettled = (id: string) => this.#acknowledged.has(id) || !this.#sent.has(id)
    const chosen = [...new Map(readings.map((each) => [idOf(each), each])).values()].filter(
      (each) => isSettled(idOf(each)),
    )
    for (const each of chosen) {
      const id = idOf(each)
      if (!this.#sent.has(id)) this.#sent.set(id, each.value)
    }
    const { site_id } = this.#programs.site
    this.#imports += 1
    const to = { site_id, token: this.#token, epoch: `late-${this.#imports}` }
    const signal = AbortSignal.timeout(sending_ms_max)
    await sendFrames(this.#programs.api, { ...to, signal }, framesOf(chosen))
    for (const each of chosen) this.#acknowledged.add(idOf(each))
  }

  /** Makes the announced bound old enough for rows before it to go, and requests that they go. */
  async #letRowsGo(): Promise<void> {
    await onDatabase(this.#programs, async (db) => {
      const give_up = Date.now() + settling_ms_max
      while (Date.now() < give_up) {
        if (!(await hasRow(db, `select from touched_hours where kind in ('inverter', 'string')`))) {
          break
        }
        await wait(100)
      }
      await db.execute(`update packed_before set announced_at = announced_at - interval '3 hours'`)
      await db.execute(`insert into pgboss.job (name) values ('pack_rows')`)
    })
  }

  #untilPacking(): Promise<boolean> {
    return onDatabase(this.#programs, async (db) => {
      const give_up = Date.now() + packing_ms_max
      while (Date.now() < give_up) {
        const is_packing = await hasRow(
          db,
          `select from pg_stat_activity where query ilike 'insert into reading_blocks%'
             and pid <> pg_backend_pid() and state = 'active'`,
        )
        if (is_packing) return true
        await wait(20)
      }
      return false
    })
  }

  /** Reads histories beside the writes and kills. A request that breaks with the server is none. */
  #readUntil() {
    let is_over = false
    const loop = async () => {
      for (let nth = 0; !is_over; nth += 1) {
        const device = 1 + (nth % inverters)
        const known = [...this.#acknowledged]
        for (const kind of ['inverter', 'string'] as const) {
          const items = await this.#history(kind, device).catch(() => null)
          if (items) this.#compare({ kind, device, known, items })
        }
        await wait(reading_ms)
      }
    }
    const done = loop()
    return {
      end() {
        is_over = true
        return done
      },
    }
  }

  /** Compares all histories, and counts what the database holds. */
  async judge() {
    const known = [...this.#acknowledged]
    for (const kind of ['inverter', 'string'] as const) {
      for (let device = 1; device <= inverters; device += 1) {
        this.#compare({ kind, device, known, items: await this.#history(kind, device) })
      }
    }
    const [held] = await onDatabase(this.#programs, (db) =>
      db.query<{ blocks: number; rows: number }>(
        `select (select count(*) from reading_blocks) as blocks,
           (select count(*) from inverter_readings) + (select count(*) from string_readings) as rows`,
      ),
    )
    return { acknowledged: known.length, ...held! }
  }

  async #history(kind: Kind, device: number): Promise<Item[]> {
    const { api, site } = this.#programs
    const path = kind === 'inverter' ? `inverters/${device}` : `strings/inverter/${device}`
    const start = new Date(Math.min(...this.#hours)).toISOString()
    const end = new Date().toISOString()
    const url = `${api}/v1/sites/${site.site_id}/${path}/history?start=${start}&end=${end}`
    const headers = { authorization: `Bearer ${this.#key}`, accept: 'application/x-ndjson' }
    const answer = await fetch(url, { headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Item)
  }

  #compare(of: { kind: Kind; device: number; known: readonly string[]; items: Item[] }): void {
    const { kind, device, known, items } = of
    this.answers += 1
    if (kind === 'inverter') this.#compareSeries({ kind, device, known, items })
    else {
      // The second string of each range holds the value.
      for (const index of [1, 3]) {
        const own = items.filter(({ string_index }) => string_index === index)
        this.#compareSeries({ kind, device, known, items: own })
      }
    }
  }

  #compareSeries(of: {
    kind: Kind
    device: number
    known: readonly string[]
    items: readonly Item[]
  }): void {
    const { kind, device, known, items } = of
    const got = new Set<string>()
    for (const item of items) {
      const id = idOf({ kind, device, at: Date.parse(item.measured_at) })
      const value = kind === 'inverter' ? item.ac_power_kw : item.current_a
      if (got.has(id)) this.faults.push(`${id} came back twice`)
      if (!this.#sent.has(id)) this.faults.push(`${id} was never sent`)
      else if (this.#sent.get(id) !== value) {
        this.faults.push(`${id} came back as ${value}, not ${this.#sent.get(id)}`)
      }
      got.add(id)
    }
    const missing = known.filter((id) => id.startsWith(`${kind} ${device} `) && !got.has(id))
    for (const id of missing) this.faults.push(`${id} is missing`)
  }
}

interface Item {
  measured_at: string
  ac_power_kw?: number
  string_index?: number
  current_a?: number
}

function* framesOf(readings: readonly Reading[]): Generator<HistoryFrame> {
  let seq = 0
  for (const [, some] of Map.groupBy(readings, ({ kind, device }) => `${kind} ${device}`)) {
    const { kind, device } = some[0]!
    seq += 1
    if (kind === 'inverter') {
      const rows = some.map(({ at, value }) => ({
        inverter_id: device,
        measured_at: at,
        ac_power_kw: value,
      }))
      yield readingsFrame(seq, 'inverter', rows)
    } else {
      // Two ranges of strings, as of two combiners.
      const rows = some.flatMap(({ at, value }) =>
        [0, 2].map((first_string_index) => ({
          inverter_id: device,
          first_string_index,
          measured_at: at,
          current_a: [first_string_index, value],
        })),
      )
      yield readingsFrame(seq, 'string', rows)
    }
  }
}

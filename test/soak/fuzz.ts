/**
 * `--part fuzz`: any request to any operation, a few at a time, against the server program with the
 * data of a plant. A fault is an answer of 5xx other than the documented 503, one that the API
 * document does not allow, a connection that the server breaks, a stall of `/healthz` over 250 ms,
 * and memory without bound.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utcDate } from '@heliograph/domain/utc-day'
import { keepAlerts } from '@heliograph/server/alerts/fixtures/kept-alerts'
import { keepReports, kept_run_id } from '@heliograph/server/reports/fixtures/kept-reports'
import { keepDefects } from '@heliograph/server/work/defects/fixtures/kept-defects'
import { keepWorkOrders } from '@heliograph/server/work/orders/fixtures/kept-orders'
import { exchanges } from './exchange.ts'
import { faultOf } from './judge.ts'
import { addPeople } from './people.ts'
import { clientOf, type SoakPlant, withPlant } from './plant.ts'
import { type Asking, addScopedKeys, nearTo, type SoakRequest, soakRequests } from './requests.ts'
import { faultsOf, type Stall, watch, wordsOf } from './watch.ts'

export interface FuzzOptions {
  seed: number
  requests: number
  /** Number of the first request; together with `requests: 1` this replays one request. */
  from: number
  history_days: number
}

const in_flight_max = 8
const restore_every = 1000
const told_every = 5000
const shown_per_kind = 3

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Returns the number of faults. */
export function fuzz(options: FuzzOptions): Promise<number> {
  say(`fuzz: seed ${options.seed}, ${options.requests} requests from number ${options.from}`)
  return withPlant(options, async (plant) => {
    const { asking, restore } = await prepare(plant)
    const run = new FuzzRun(plant, options)
    const watching = watch({ url: plant.url, pid: plant.program.pid }, (stall) => run.note(stall))
    await Promise.race([run.all(asking, restore), plant.program.died])
    const seen = await watching.end()
    run.report()
    say(wordsOf(seen))
    const faults = faultsOf(seen)
    for (const fault of faults) say(`FAULT ${fault}`)
    return run.faults + faults.length
  })
}

async function prepare({ db, url, fixtures }: SoakPlant) {
  const owner = await clientOf(db, fixtures.sites.live)
  const people = await addPeople(db, url)
  const now = new Date()
  const restorers = [
    await keepAlerts(db),
    await keepWorkOrders(db),
    await keepDefects(db, now),
    await keepReports(db),
  ]
  const values = {
    market_code: 'DEMO',
    node_id: 'ts-south',
    date: utcDate(now.getTime()),
    start_hour: '11',
    end_hour: '14',
    hour: '20',
    run_id: kept_run_id,
    user_id: people.user_id,
    key_id: 'bbbbbbbbbb00',
  }
  const { full: _, ...others } = fixtures.keys
  const asking: Asking = {
    fixtures: { ...fixtures, values, of: { work_order_approve: { wo_id: '2' } } },
    people,
    keys: [...Object.values(others), ...(await addScopedKeys(db, owner))],
    near: nearTo(now),
  }
  const restore = async () => {
    for (const one of restorers) await one()
  }
  return { asking, restore }
}

interface Tally {
  count: number
  longest_ms: number
  longest_of: SoakRequest | null
  stalls: number
}

interface Flight {
  asked: SoakRequest
  from_ms: number
  /** Unix ms; infinite while the request is pending. */
  to_ms: number
}

class FuzzRun {
  faults = 0
  readonly #plant: SoakPlant
  readonly #options: FuzzOptions
  readonly #began = performance.now()
  readonly #statuses = new Map<number, number>()
  readonly #operations = new Map<string, Tally>()
  readonly #kinds = new Map<string, number>()
  readonly #busy = new Map<string, number>()
  /** Pending requests and those that ended last, to name suspects of a stall. */
  #flights: Flight[] = []
  #done = 0

  constructor(plant: SoakPlant, options: FuzzOptions) {
    this.#plant = plant
    this.#options = options
  }

  async all(asking: Asking, restore: () => Promise<void>): Promise<void> {
    const { seed, requests, from } = this.#options
    const asked = soakRequests(seed, from, asking)
    const { ask, close } = exchanges(this.#plant.url, in_flight_max)
    let restoring = Promise.resolve()
    const one = async () => {
      for (let nth = this.#take(requests); nth !== null; nth = this.#take(requests)) {
        if (nth % restore_every === 0) restoring = restoring.then(restore)
        await restoring
        await this.#exchange(ask, asked.next().value!)
        if ((nth + 1) % told_every === 0) this.#tell(nth + 1)
      }
    }
    await Promise.all(Array.from({ length: in_flight_max }, one))
    close()
  }

  #take(requests: number): number | null {
    if (this.#done === requests) return null
    this.#done += 1
    return this.#done - 1
  }

  async #exchange(ask: ReturnType<typeof exchanges>['ask'], asked: SoakRequest): Promise<void> {
    const flight = { asked, from_ms: Date.now(), to_ms: Number.POSITIVE_INFINITY }
    this.#flights.push(flight)
    const tally = this.#tallyOf(asked)
    tally.count += 1
    try {
      const answered = await ask(asked)
      const { status, elapsed_ms, headers } = answered
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
      if (status === 503) {
        this.#busy.set(asked.operation, (this.#busy.get(asked.operation) ?? 0) + 1)
      }
      if (elapsed_ms > tally.longest_ms) {
        tally.longest_ms = elapsed_ms
        tally.longest_of = asked
      }
      const fault = faultOf(asked, answered)
      if (fault !== null) this.#show(asked, fault, String(headers['x-request-id']))
    } catch (error) {
      this.#show(asked, `no whole answer: ${(error as Error).message}`, null)
    }
    flight.to_ms = Date.now()
    const old_ms = flight.to_ms - 10_000
    if (this.#flights.length > 2000) {
      this.#flights = this.#flights.filter(({ to_ms }) => to_ms > old_ms)
    }
  }

  #tallyOf({ operation }: SoakRequest): Tally {
    const known = this.#operations.get(operation)
    if (known) return known
    const tally = { count: 0, longest_ms: 0, longest_of: null, stalls: 0 }
    this.#operations.set(operation, tally)
    return tally
  }

  #show(asked: SoakRequest, fault: string, request_id: string | null): void {
    this.faults += 1
    const kind = `${asked.operation}: ${fault}`
    const times = (this.#kinds.get(kind) ?? 0) + 1
    this.#kinds.set(kind, times)
    if (times > shown_per_kind) return
    const { seed, history_days } = this.#options
    say(`FAULT ${kind}`)
    say(`  ${curl(asked, this.#plant.url)}`)
    say(
      `  replay: npm run soak -- --part fuzz --seed ${seed} --from ${asked.nth} --requests 1 ` +
        `--history-days ${history_days}`,
    )
    if (request_id !== null) for (const line of this.#logged(request_id)) say(`  ${line}`)
  }

  #logged(request_id: string): string[] {
    const log = readFileSync(join(this.#plant.dir, 'server.log'), 'utf8')
    return log.split('\n').filter((line) => line.includes(request_id))
  }

  /** Prints the requests that were pending during a stall. */
  note(stall: Stall): void {
    const present = this.#flights.filter(
      ({ from_ms, to_ms }) => from_ms < stall.to_ms && to_ms > stall.from_ms,
    )
    for (const { asked } of present) this.#operations.get(asked.operation)!.stalls += 1
    const [stalled, busy, whole] = [
      stall.stalled_ms,
      stall.busy_ms,
      stall.to_ms - stall.from_ms,
    ].map((ms) => ms.toFixed(0))
    say(
      `STALL of ${stalled} ms, ${busy} of them computing (${whole} with waiting for a core), during`,
    )
    for (const { asked, from_ms } of present) {
      const before_ms = stall.from_ms - from_ms
      say(`  ${asked.nth}, ${before_ms} ms before: ${asked.method} ${asked.url.slice(0, 160)}`)
    }
  }

  #tell(done: number): void {
    const per_s = done / ((performance.now() - this.#began) / 1000)
    say(`${done} requests, ${per_s.toFixed(0)}/s, ${this.faults} faults`)
  }

  report(): void {
    this.#tell(this.#done)
    const statuses = [...this.#statuses].sort(([a], [b]) => a - b)
    say(`statuses: ${statuses.map(([status, count]) => `${status} × ${count}`).join(', ')}`)
    for (const [operation, count] of this.#busy) say(`503 × ${count}: ${operation}`)
    const longest = [...this.#operations].sort(([, a], [, b]) => b.longest_ms - a.longest_ms)
    for (const [operation, { count, longest_ms, longest_of }] of longest.slice(0, 8)) {
      const request = `${longest_of?.nth} ${longest_of?.url.slice(0, 160)}`
      say(`longest ${longest_ms.toFixed(0)} ms of ${count}: ${operation}, ${request}`)
    }
    const suspects = [...this.#operations].filter(([, { stalls }]) => stalls > 0)
    const rate = ({ stalls, count }: Tally) => stalls / count
    for (const [operation, tally] of suspects
      .sort(([, a], [, b]) => rate(b) - rate(a))
      .slice(0, 8)) {
      say(`under way during ${tally.stalls} stalls, of ${tally.count} requests: ${operation}`)
    }
    for (const [kind, times] of this.#kinds) say(`FAULT × ${times}: ${kind}`)
  }
}

function curl({ method, url, headers, payload }: SoakRequest, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const parts = ['curl --path-as-is -g', `-X ${method}`]
  for (const [name, value] of Object.entries(headers))
    parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (payload !== undefined) parts.push(`--data-binary ${quoted(payload.slice(0, 3000))}`)
  return [...parts, quoted(origin + url)].join(' ')
}

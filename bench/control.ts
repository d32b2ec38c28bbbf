/**
 * Latency of a command: from `POST /curtailment/immediate` until 100 inverters behind 4 loggers
 * hold the limit, and from its release until they are restored. Server, PostgreSQL and edge are the
 * real programs; this process serves the simulated inverters and stamps each write. Another edge
 * adds the ingest of 50 MW: a tenth of the rows of a site of 500 MW, 147 a second, in frames of ten
 * seconds.
 *
 *   node bench/control.ts [--commands 100] [--seed 1]
 */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Site } from '@heliograph/domain/site'
import { sealPermitFile } from '@heliograph/edge/control/permit-file'
import { seeded } from '../test/end-to-end/chaos.ts'
import { freePort } from '../test/end-to-end/programs.ts'
import { fieldOf } from './fixtures/field.ts'
import { p50p99, quantile, tell } from './fixtures/figures.ts'
import { site_id as large_site_id } from './fixtures/large-site.ts'
import { startLargeSiteEdge } from './fixtures/large-site-edge.ts'
import { type LimitedField, serveLimitedField } from './fixtures/limited-field.ts'
import {
  endAll,
  figuresAt,
  type Program,
  startProgram,
  until,
  withPrograms,
} from './fixtures/programs.ts'
import { quickOr } from './fixtures/quick.ts'
import { enrol, onDatabase, type ServerProgram, startServer } from './fixtures/server-program.ts'

const { values: options } = parseArgs({
  options: {
    commands: { type: 'string', default: quickOr('2', '100') },
    seed: { type: 'string', default: '1' },
  },
})
const commands = Number(options.commands)
const random = seeded(Number(options.seed))

const loggers = 4
const units = quickOr(5, 25)
const site_id = 'field'
/** Share of rated power to which restored inverters return. */
const permit_ratio = 0.9
/** The simulated inverters follow at once. Without it, each lower limit would count for 60 s. */
const limit = { ramp_s: 1 }
const ingest = { pace: 0.1, for_ms: quickOr(2000, 10_000) }
const hold_ms_max = 1500
const pause_ms_max = 500

const limited_p99_ms_max = 2000
const restored_p99_ms_max = 3000
const ingest_rows_per_s_min = 140
const patience_ms = 20_000

interface Place {
  server: ServerProgram
  key: string
  large_token: string
  site: Site
  field: LimitedField
  programs: Program[]
}

/** The server, then the edge; returns when every inverter is held to its share of the permit. */
async function startAll(dir: string, programs: Program[], field: LimitedField, site: Site) {
  const server = await startServer(dir, programs)
  const scopes = ['plant:read', 'curtailment:read', 'curtailment:write']
  const site_ids = [site_id, large_site_id]
  const { key, tokens } = await onDatabase(server, (db) => enrol(db, { site_ids, scopes }))
  const place: Place = { key, large_token: tokens[1]!, server, site, field, programs }
  const files = { site: join(dir, 'site.yaml'), permit: join(dir, 'permit.yaml') }
  writeFileSync(files.site, JSON.stringify(site))
  writeFileSync(files.permit, permitOf(site))
  const edge_settings = {
    SITE_FILE: files.site,
    PERMIT_FILE: files.permit,
    EDGE_DATA_DIR: join(dir, 'edge'),
    EDGE_TOKEN: tokens[0]!,
    SERVER_URL: `ws://127.0.0.1:${server.port}`,
    METRICS_PORT: String(await freePort()),
  }
  programs.unshift(startProgram('edge', { dir, settings: edge_settings }))
  const isHeld = () => site.loggers.every((logger) => isPermitted(field, logger))
  await until('the permit holds', isHeld, programs)
  const knowsAll = async () => {
    const { body } = await call(place, 'GET', '/loggers')
    return (body as { data?: unknown[] }).data?.length === loggers
  }
  await until('the server knows the plants', knowsAll, programs)
  await untilRaisesAreAllowed(place)
  return place
}

/**
 * For some seconds after its start the edge raises nothing, nor until the inverters had the time to
 * come down to the permit: a release then waits for that. One that comes before its order has
 * lowered anything waits for nothing, and shows nothing.
 */
async function untilRaisesAreAllowed(place: Place): Promise<void> {
  const { field, programs } = place
  const body = { scope: 'site', limit_mode: 'percent', limit_value: 10 }
  const made = await call(place, 'POST', '/curtailment/immediate', body)
  const { group_id, schedules } = made.body as Made
  await until('an order is applied', () => isApplied(field, schedules), programs)
  await untilRestored(place, group_id)
}

/** The answer to an order. */
interface Made {
  group_id: string
  schedules: { logger_id: number; max_power_kw: number }[]
}

const isApplied = (field: LimitedField, schedules: Made['schedules']) =>
  schedules.every((row) => field.allowedOf(row.logger_id) <= row.max_power_kw * 1000)

/** A release answers after 10 s at most; the rest completes by itself. */
async function untilRestored(place: Place, group_id: string): Promise<void> {
  const isRestored = async () => {
    const { body } = await call(place, 'DELETE', `/curtailment/group/${group_id}`)
    return (body as { restored_count?: number }).restored_count === loggers
  }
  await until('a release is restored', isRestored, place.programs)
}

function permitOf({ loggers: plants }: Site): string {
  const sealed = sealPermitFile(
    JSON.stringify({
      version: 1,
      site_id,
      plants: plants.map(({ logger_id, rated_power_kw }) => ({
        logger_id,
        permit_kw: rated_power_kw * permit_ratio,
      })),
    }),
  )
  if ('problems' in sealed) throw new Error(sealed.problems.join('\n'))
  return sealed.text
}

/** At the permit, less the steps of its registers. */
function isPermitted(field: LimitedField, { logger_id, rated_power_kw }: Site['loggers'][number]) {
  const permit_w = rated_power_kw * permit_ratio * 1000
  const allowed_w = field.allowedOf(logger_id)
  return allowed_w <= permit_w && allowed_w >= permit_w * 0.995
}

async function call({ server, key }: Place, method: string, path: string, body?: unknown) {
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/sites/${site_id}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as unknown }
}

interface Times {
  /** All in ms since the request. */
  answered_ms: number
  first_ms: number
  last_ms: number
}

/** A request, and the register writes until the limits are reached. */
async function timed({ field }: Place, request: () => Promise<() => boolean>): Promise<Times> {
  const start = performance.now()
  let first_ms = Number.NaN
  let last_ms = Number.NaN
  let isThere: (() => boolean) | null = null
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = field.onWrite((at_ms) => {
    if (Number.isNaN(first_ms)) first_ms = at_ms - start
    last_ms = at_ms - start
    if (isThere?.()) resolve()
  })
  try {
    isThere = await request()
    const answered_ms = performance.now() - start
    if (!isThere()) await Promise.race([promise, wait(patience_ms, undefined, { ref: false })])
    if (!isThere()) throw new Error('the registers never came to what was asked for')
    return { answered_ms, first_ms, last_ms }
  } finally {
    stop()
  }
}

async function measure(place: Place) {
  const { field, site } = place
  const limited: Times[] = []
  const restored: Times[] = []
  for (let nth = 0; nth < commands; nth += 1) {
    let group_id = ''
    const limit_value = 10 + Math.round(random() * 70)
    const body = { scope: 'site', limit_mode: 'percent', limit_value }
    limited.push(
      await timed(place, async () => {
        const answer = await call(place, 'POST', '/curtailment/immediate', body)
        if (answer.status !== 201) throw new Error(JSON.stringify(answer))
        const { schedules, ...group } = answer.body as Made
        group_id = group.group_id
        return () => isApplied(field, schedules)
      }),
    )
    await wait(random() * hold_ms_max)
    restored.push(
      await timed(place, async () => {
        await untilRestored(place, group_id)
        return () => site.loggers.every((logger) => isPermitted(field, logger))
      }),
    )
    await wait(random() * pause_ms_max)
  }
  return { limited, restored }
}

/** Sends rows until it is stopped; returns the rate per second. */
async function startIngest({ server, large_token, programs }: Place) {
  const offer = await startLargeSiteEdge(server.port, large_token, programs)
  let is_over = false
  const begun_ms = performance.now()
  const working = (async () => {
    let rows = 0
    while (!is_over) rows += (await offer(ingest)).rows
    return (rows * 1000) / (performance.now() - begun_ms)
  })()
  working.catch(() => {})
  return {
    async stop(): Promise<number> {
      is_over = true
      return working
    },
  }
}

function report({ limited, restored }: Awaited<ReturnType<typeof measure>>, rows_per_s: number) {
  const all = (times: readonly Times[], of: keyof Times) => times.map((one) => one[of])
  const limited_p99 = quantile(all(limited, 'last_ms'), 0.99)
  tell(
    limited_p99 < limited_p99_ms_max,
    `immediate to the limit in all ${loggers * units} inverters, p50/p99 of ${commands}: ` +
      `${p50p99(all(limited, 'last_ms'))} ms (limit ${limited_p99_ms_max} p99); answered after ` +
      `${p50p99(all(limited, 'answered_ms'))}, first register ${p50p99(all(limited, 'first_ms'))}`,
  )
  const restored_ms = restored.map(({ answered_ms, last_ms }) => Math.max(answered_ms, last_ms))
  tell(
    quantile(restored_ms, 0.99) < restored_p99_ms_max,
    `release to restored and answered, p50/p99: ${p50p99(restored_ms)} ms (limit ` +
      `${restored_p99_ms_max} p99); first register ${p50p99(all(restored, 'first_ms'))}, last ` +
      `${p50p99(all(restored, 'last_ms'))}`,
  )
  tell(
    rows_per_s >= ingest_rows_per_s_min,
    `beside an ingest of ${rows_per_s.toFixed(0)} rows/s (at least ${ingest_rows_per_s_min}); ` +
      `load of the machine ${loadavg()[0]!.toFixed(1)}`,
  )
}

async function bench(dir: string, programs: Program[]): Promise<void> {
  const ports = await Promise.all(Array.from({ length: loggers }, () => freePort()))
  const size = { ports, units, poll: {}, noon_at: new Date(), with_instruments: false }
  const site = fieldOf({ site_id, ...size })
  for (const { inverters } of site.loggers) {
    for (const inverter of inverters) inverter.limit = limit
  }
  const field = await serveLimitedField(site)
  try {
    const place = await startAll(dir, programs, field, site)
    const generator = await startIngest(place)
    const stored = async () =>
      (await figuresAt(place.server.metrics_port)).get('heliograph_link_rows_total{lane="live"}') ??
      0
    const before = { rows: await stored(), at_ms: performance.now() }
    const measured = await measure(place)
    const elapsed_s = (performance.now() - before.at_ms) / 1000
    const rows_per_s = ((await stored()) - before.rows) / elapsed_s
    await generator.stop()
    report(measured, rows_per_s)
  } finally {
    await endAll(programs)
    await field.close()
  }
}

await withPrograms(bench)

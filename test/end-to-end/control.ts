/**
 * Curtails and releases the plants of a controlled site over HTTP at random, and kills edge and
 * server with SIGKILL meanwhile, also between two writes to the devices; then judges by what the
 * devices wrote down, and by the database.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { scopes } from '@heliograph/server/http/endpoint'
import type { Database } from '@heliograph/server/storage/database'
import { seeded } from './chaos.ts'
import {
  aboveARow,
  aboveThePermit,
  appliedRows,
  armedAt,
  stepsOf,
  wrongGroups,
} from './control-judge.ts'
import { proofFaults } from './control-proof.ts'
import { type CommandClient, commandClient } from './control-requests.ts'
import { controlledSite, gatewaysOf, permit, permittedShares, plantOf } from './controlled-site.ts'
import { writeSealedPermit } from './edge-program.ts'
import { enrol, onDatabase } from './enrol.ts'
import { type InverterPeer, serveInverters, type Write } from './inverter-peer.ts'
import { freePort, type Programs, programsIn } from './programs.ts'
import { writeTable } from './write-log.ts'

export interface ControlOutcome {
  kills: { server: number; edge: number; between_writes: number }
  commands: number
  releases: number
  writes: number
  rows_applied: number
  /** The newest writes of each device, as its own log has them. */
  write_log: string
  /** What must not be, in words. */
  faults: string[]
}

interface Run {
  programs: Programs
  peer: InverterPeer
  client: CommandClient
  metrics: { server: number; edge: number }
  random(): number
  kills: ControlOutcome['kills']
}

const patience_ms = 60_000
const rest_ms = 10_000
const seesaws = 4
const rows_judged = 10
/** Of each device. */
const lines_max = 8

/** In a directory of its own, where the programs leave their logs. */
export async function control(
  dir: string,
  { seed, seconds }: { seed: number; seconds: number },
): Promise<ControlOutcome> {
  const permit_file = join(dir, 'permit.yaml')
  writeSealedPermit(permit_file, permit.text)
  const programs = await programsIn(dir, controlledSite, { PERMIT_FILE: permit_file })
  const peer = await serveInverters(join(dir, 'writes.jsonl'), gatewaysOf(programs.site))
  try {
    const metrics = { server: await freePort(), edge: await freePort() }
    const run = { programs, peer, metrics, kills: { server: 0, edge: 0, between_writes: 0 } }
    start(run, 'server')
    await programs.serverIsReady()
    const rates = { general_per_minute: 1_000_000, write_per_minute: 1_000_000 }
    const key = await enrol(programs, { scopes, ...rates })
    const random = seeded(seed)
    const client = commandClient(`${programs.api}/v1/sites/${controlledSite.site_id}`, key, random)
    return await commandAndJudge({ ...run, client, random }, seconds)
  } catch (error) {
    const words = `${programs.lastWords('edge')}\n${programs.lastWords('server')}`
    throw new Error(`${(error as Error).message}\n${words}`, { cause: error })
  } finally {
    await programs.endAll()
    await peer.close()
  }
}

function start({ programs, metrics }: Pick<Run, 'programs' | 'metrics'>, name: 'server' | 'edge') {
  programs.start(name, { METRICS_PORT: String(metrics[name]) })
}

async function commandAndJudge(run: Run, seconds: number): Promise<ControlOutcome> {
  const { programs, peer, client, kills } = run
  start(run, 'edge')
  await demand('the permit holds', () =>
    peer.until(() => armedAt(stepsOf(peer.writes())) !== null, patience_ms),
  )
  await demand('the plants are known', () =>
    client.until('/loggers', ({ data }) => data.length === 2),
  )
  await disturb(run, seconds)
  await programs.serverIsReady()
  if (!programs.isRunning('edge')) start(run, 'edge')
  await client.settled()
  return await onDatabase(programs, async (db) => {
    await commandInPeace(run, db)
    await seesaw(run)
    await comeToRest(run)
    const rows = await appliedRows(db)
    const writes = peer.writes()
    const steps = stepsOf(writes)
    const armed_at = armedAt(steps)!
    const { edge_dir } = programs
    const proven = { edge_dir, armed_at, writes, rows, kills: kills.edge }
    return {
      kills,
      ...client.counts,
      writes: writes.length,
      rows_applied: rows.length,
      write_log: writeTable(writes.map(loggedOf), lines_max),
      faults: [
        ...client.faults,
        ...aboveThePermit(steps, armed_at),
        ...aboveARow(steps, rows),
        ...notAtTheirShares(peer),
        ...(await wrongGroups(db, client.groups)),
        ...(await unheldReadings(db)),
        ...(await proofFaults(proven)),
      ],
    }
  })
}

const loggedOf = ({ inverter_id, ...write }: Write) => ({
  ...write,
  device: `inverter ${inverter_id}`,
})

/** Random commands, and a kill now and then. */
async function disturb(run: Run, seconds: number): Promise<void> {
  const { random, client, kills } = run
  const begun = Date.now()
  const passed_ms = () => Date.now() - begun
  // On a machine that is busy it takes longer until enough has happened.
  const isEnough = () => kills.server > 0 && kills.between_writes > 0 && client.counts.releases > 9
  while (passed_ms() < seconds * 1000 || (!isEnough() && passed_ms() < seconds * 2000)) {
    const choice = random()
    if (choice < 0.08) await kill(run, 'edge')
    else if (choice < 0.15) await kill(run, 'server')
    // Few at a time: under many the lowest holds, and nothing is ever raised.
    else if (random() * 3 < client.unreleased) client.release()
    else client.command()
    await wait(random() * 500)
  }
}

/** On a machine that is busy hardly a row is applied between two kills. */
async function commandInPeace({ client, random }: Run, db: Database): Promise<void> {
  const late = Date.now() + patience_ms
  while ((await appliedRows(db)).length < rows_judged) {
    if (Date.now() > late) throw new Error(`fewer than ${rows_judged} rows are ever applied`)
    if (random() * 3 < client.unreleased) client.release()
    else client.command()
    await wait(random() * 1000)
  }
  await client.settled()
}

/** At once, or when a device has just been written to and others are yet to be. */
async function kill(run: Run, name: 'server' | 'edge'): Promise<void> {
  const { programs, peer, client, random, kills } = run
  const written = peer.untilWrites(1 + Math.floor(random() * 5), 2000)
  if (random() < 0.7) {
    client.command()
    if (await written) kills.between_writes += 1
  }
  await programs.end(name, 'SIGKILL')
  kills[name] += 1
  if (random() < 0.3) client.command()
  await wait(random() * 700)
  start(run, name)
  if (name === 'server' && random() < 0.7) await programs.serverIsReady()
}

/**
 * What plant 2 leaves under a curtailment plant 1 may have, up to a permit of its own, and has to
 * give back before plant 2 may come up again. The edge is killed on that way, too.
 */
async function seesaw(run: Run): Promise<void> {
  const { client, peer, programs, random, kills } = run
  const mine = [...plantOf].filter(([, logger_id]) => logger_id === 1).map(([id]) => id)
  const shares = permittedShares()
  const isUp = (allowed: Map<number, number>) =>
    mine.every((inverter_id) => allowed.get(inverter_id)! > shares.get(inverter_id)!)
  await client.releaseAll()
  for (let nth = 0; nth < seesaws; nth += 1) {
    const limit = { limit_mode: 'percent', limit_value: 5 + 10 * random() }
    await client.answered('/curtailment/immediate', { scope: 'logger', logger_id: 2, ...limit })
    await demand('plant 1 has what plant 2 leaves', () => peer.until(isUp, patience_ms))
    const written = peer.untilWrites(1 + Math.floor(random() * 6), patience_ms)
    const releasing = client.releaseAll()
    if (nth % 2 === 1 && (await written)) {
      await programs.end('edge', 'SIGKILL')
      kills.edge += 1
      kills.between_writes += 1
      start(run, 'edge')
    }
    await releasing
    await untilPermitted(peer)
  }
}

/** The longest time without a kill: a row holds, and then the permit alone. */
async function comeToRest({ client, peer }: Run): Promise<void> {
  await client.releaseAll()
  await untilPermitted(peer)
  const half = { scope: 'site', limit_mode: 'percent', limit_value: 50 }
  await client.answered('/curtailment/immediate', half)
  await demand('the last row is applied', () =>
    client.until('/curtailment', ({ data }) => data.every(({ applied }) => applied === true)),
  )
  await wait(rest_ms)
  await client.releaseAll()
  await untilPermitted(peer)
  await wait(rest_ms)
}

const untilPermitted = (peer: InverterPeer) =>
  peer.until((allowed) => notPermitted(allowed).length === 0, patience_ms)

function notPermitted(allowed: ReadonlyMap<number, number>): string[] {
  return [...permittedShares()].flatMap(([inverter_id, share_w]) => {
    const allowed_w = allowed.get(inverter_id)!
    const is_there = Math.abs(allowed_w - share_w) < 0.01
    return is_there ? [] : [`inverter ${inverter_id} stands at ${allowed_w} W, not at ${share_w}`]
  })
}

const notAtTheirShares = (peer: InverterPeer) => notPermitted(peer.allowed())

/** Where the permit holds an inverter, its readings say so, with the limit that was read. */
async function unheldReadings(db: Database): Promise<string[]> {
  const [found] = await db.query<{ held: number; unread: number }>(
    `select (count(*) filter (where limited_by = 'permit'))::int as held,
       (count(*) filter (where limited_by = 'permit' and power_limit_pct is null))::int as unread
     from inverter_readings`,
  )
  return [
    ...(found!.held >= plantOf.size ? [] : ['no reading says that the permit holds']),
    ...(found!.unread === 0 ? [] : [`${found!.unread} readings have no limit`]),
  ]
}

async function demand(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (!(await isTrue())) throw new Error(`waited in vain: ${what}`)
}

/** One world from its seed to its end, or to where something did not hold. */

import { seedOf } from './chance.ts'
import { controllerMachine, outsideMachine } from './controller-edge.ts'
import type { Cause, SimulatedDevice } from './device.ts'
import { type Allowances, Judge } from './judge.ts'
import { type Machine, type MachineNeeds, thinMachine } from './machine.ts'
import { poll_ms, tick_ms, World } from './world.ts'

const notes_max = 200

export type EdgeName = 'thin' | 'controller' | 'outside'

interface EdgeKind {
  build(needs: MachineNeeds): Machine | Promise<Machine>
  allowances: Allowances
}

const of_controller: Allowances = {
  answer_ms: poll_ms + 24_000,
  trouble_ms: 4 * poll_ms + 24_000,
  ignoring_ms: 4 * poll_ms + 54_000,
  start_ms: poll_ms,
  search_ms: 2 * poll_ms,
}

/** Why each is what it is: docs/control.md. */
export const edges: Readonly<Record<EdgeName, EdgeKind>> = {
  thin: {
    build: thinMachine,
    allowances: {
      answer_ms: poll_ms + 20_000,
      trouble_ms: 4 * poll_ms + 35_000,
      ignoring_ms: 4 * poll_ms + 60_000,
      start_ms: 20_000,
      search_ms: 0,
    },
  },
  controller: { build: controllerMachine, allowances: of_controller },
  /** The controller with orders from outside, of all sources at once. */
  outside: { build: outsideMachine, allowances: of_controller },
}

interface Outcome {
  ticks: number
  /** What did not hold; null: all did. */
  broken: string | null
  /** The last that happened, oldest first. */
  trace: readonly string[]
}

/** @param is_traced whether what happens is written down, which takes its time */
export async function playEpisode(
  seed: number,
  edge: EdgeName,
  is_traced: boolean,
): Promise<Outcome> {
  const trace: string[] = []
  let judge: Judge | null = null
  const note = (text: () => string) => {
    if (!is_traced) return
    trace.push(`${(world.now_ms / tick_ms).toFixed(1).padStart(6)} s  ${text()}`)
    if (trace.length > notes_max) trace.shift()
  }
  const changed = (device: SimulatedDevice, cause: Cause, before_w: number) => {
    const { inverter_id } = device.build
    const told = typeof cause === 'string' ? cause : 'its ceiling'
    const to = `${before_w.toFixed(0)} to ${device.allowed_w.toFixed(0)} W`
    if (judge) note(() => `    ${inverter_id} may deliver from ${to} (${told})`)
    judge?.changed(device, cause, before_w)
  }
  const world: World = new World(seed, { changed, note: (text) => judge && note(text) })
  judge = new Judge(world, edges[edge].allowances)
  try {
    const machine = await edges[edge].build({ world, judge, note, seed })
    return { ticks: await play(machine, { world, judge, note }), broken: null, trace }
  } catch (error) {
    const broken = `at ${world.now_ms / tick_ms} s: ${(error as Error).message}`
    return { ticks: Math.floor(world.now_ms / tick_ms), broken, trace }
  }
}

async function play(
  machine: Machine,
  { world, judge, note }: Omit<MachineNeeds, 'seed'>,
): Promise<number> {
  machine.start()
  judge.started()
  let ticks = 0
  let down_until_ms = 0
  let is_running = true
  for (; !world.is_over; ticks += 1) {
    world.step()
    if (world.down_until_ms !== down_until_ms) {
      down_until_ms = world.down_until_ms
      note(() => 'the edge is killed')
      machine.kill()
      is_running = false
    }
    if (!is_running && !world.is_down) {
      machine.start()
      is_running = true
      judge.started()
      note(() => 'the edge starts')
    }
    // The thin edge has nothing to wait for, and millions of ticks to go.
    const passing = machine.tick()
    if (passing !== undefined) await passing
    judge.tick(tick_ms)
  }
  judge.final()
  return ticks
}

export interface Failure extends Outcome {
  /** Of the episode. */
  seed: number
}

interface Simulated {
  ticks: number
  failure: Failure | null
}

/** Plays episodes until so many ticks have passed, or one breaks: that is played again, traced. */
export async function simulate(seed: number, ticks: number, edge: EdgeName): Promise<Simulated> {
  let passed = 0
  for (let nth = 0; passed < ticks; nth += 1) {
    const episode = seedOf(seed, nth)
    const outcome = await playEpisode(episode, edge, false)
    passed += outcome.ticks
    if (outcome.broken !== null) {
      const failure = { ...(await playEpisode(episode, edge, true)), seed: episode }
      return { ticks: passed, failure }
    }
  }
  return { ticks: passed, failure: null }
}

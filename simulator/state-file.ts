/** Counters, limits and batteries on disk, so that they survive a restart of the simulator. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { minute_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { resumedUnits, type UnitStates } from './batteries/batteries.ts'
import { firstUnits } from './batteries/past.ts'
import type { Counters } from './counters.ts'
import { initialLimits, type LimitStates, type Limits } from './limits.ts'
import { livedCounters } from './lived-counters.ts'
import { createSimulation } from './site.ts'
import { ambientOf } from './weather.ts'

/** Time to collect several changes of limits in one write. */
const change_ms = 200
const counters_ms = 10_000

export interface SimulatorState {
  seed: number
  /** Counters when the simulation began: the end of its history. */
  first: Counters
  now: Counters
  limits: LimitStates
  batteries: UnitStates
}

/**
 * Continues from the file, or begins at the full minute before `now_ms` and writes it. Devices that
 * joined the site since then begin with their first counters.
 */
export function openState(
  path: string | null,
  { site, seed, now_ms }: { site: Site; seed: number; now_ms: number },
): SimulatorState {
  const began_ms = Math.floor(now_ms / minute_ms) * minute_ms
  const limits = initialLimits(site, now_ms)
  if (path === null || !existsSync(path)) {
    const first = livedCounters(createSimulation(site, seed), began_ms)
    const batteries = unitsOf(site, seed, now_ms)
    const state = { seed, first, now: structuredClone(first), limits, batteries }
    saveState(path, state)
    return state
  }
  const state = JSON.parse(readFileSync(path, 'utf8')) as SimulatorState
  const first = livedCounters(createSimulation(site, state.seed), began_ms)
  for (const counters of [state.first, state.now]) {
    counters.inverters = { ...first.inverters, ...counters.inverters }
  }
  state.limits = { ...limits, ...state.limits }
  state.batteries = resumedUnits(unitsOf(site, state.seed, now_ms), state.batteries ?? {})
  return state
}

function unitsOf(site: Site, seed: number, time_ms: number): UnitStates {
  return firstUnits(site, { seed, time_ms, ambient_c: ambientOf(site, seed) })
}

/** The file is always complete, before or after a write, also after a loss of power. */
export function saveState(path: string | null, state: SimulatorState): void {
  if (path === null) return
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${path}.new`, JSON.stringify(state), { flush: true })
  renameSync(`${path}.new`, path)
  const entries = openSync(directory, 'r')
  try {
    fsyncSync(entries)
  } finally {
    closeSync(entries)
  }
}

/**
 * Saves changed limits soon after each change, and counters every ten seconds. Returns a function
 * that stops it; the caller saves the last changes.
 */
export function keepSaved(
  path: string | null,
  state: SimulatorState,
  { limits, timers }: { limits: Limits; timers: Timers },
): () => void {
  let cancelChange: (() => void) | null = null
  let cancelNext = timers.after(counters_ms, saveLater)

  function saveLater(): void {
    saveState(path, state)
    cancelNext = timers.after(counters_ms, saveLater)
  }

  limits.onChange(() => {
    cancelChange ??= timers.after(change_ms, () => {
      cancelChange = null
      saveState(path, state)
    })
  })
  return () => {
    cancelNext()
    cancelChange?.()
  }
}

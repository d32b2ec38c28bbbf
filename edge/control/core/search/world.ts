/** A state of the search: what the core knows, and the devices as they are. The present is 0. */
import type { Command } from '../core.ts'
import { step } from '../events.ts'
import { load } from '../site.ts'
import type { Source, Timer, Traits } from '../source.ts'
import { reach, type State } from '../worst.ts'
import { type Config, inverter, tick_ms, unlimited } from './configurations.ts'

export class Broken extends Error {}

/** Short times keep the number of states small. */
export const short = {
  timer_margin_ms: tick_ms,
  start_ms: tick_ms,
  contest_ms: 2 * tick_ms,
  settle_ms: tick_ms,
  distrust_ms: 2 * tick_ms,
  night_doubt_ms: 2 * tick_ms,
  repeat_most_ms: 2 * tick_ms,
}

/** Ages above this make no difference. */
export const oldest_ms = 3 * tick_ms

/** The last command, unless a lower external limit replaced it. */
export const ownCommand = ({ command }: Source) =>
  command && !command.is_external ? command.w : null

/** The device as it truly is. The core does not see this. */
export interface Device {
  held: number
  /** What it delivers at its ceiling. */
  full_w: number
  /**
   * Commands that may still take effect, each once, and when the driver returned. `is_over`: it
   * took effect before the driver returned.
   */
  queue: { w: number; at_ms: number | null; is_repeated?: boolean; is_over?: boolean }[]
  /** Earlier limits that the power may still follow. */
  past: { w: number; until_ms: number }[]
  timer: Timer | null
  is_silent: boolean
  is_ignoring: boolean
  is_removed: boolean
  /** The device may do more than the core can know: an outside change that was not read yet. */
  is_excused: boolean
  /** The held value came from a command of the edge. */
  is_own: boolean
  /** An external limit that was not read yet; one that was read and not lifted since. */
  unread_external: number | null
  external: number | null
  /** A read under way: its value and its begin. */
  reading: { w: number; began_ms: number; timer: Timer | null; is_old?: boolean } | null
  read_w: number | null
  /** Before a command that may turn out as not sent. */
  before: { command: Source['command']; queue: Device['queue'] } | null
  was_misread: boolean
}

export interface World {
  state: State
  devices: Device[]
  permit: number
  request: number
  is_dark: boolean
  /** Until then power measured in a wrong night counts. */
  daylight_ms: number
  saved: readonly Source[] | null
  /** Decided, and not on the wire yet. */
  todo: readonly Command[] | null
}

export const ids = ['a', 'b', 'c']
export const sourcesOf = ({ state }: World) => ids.flatMap((id) => state.sources.get(id) ?? [])

export function permitsOf(config: Config, nth: number): Pick<State, 'permits' | 'curtailments'> {
  const { export: out, import: drawn = {}, curtailment } = config.permits[nth]!
  const permits = new Map(
    Object.entries(out).map(([group, cap]) => [
      group,
      { export: cap, import: drawn[group] ?? unlimited },
    ]),
  )
  return {
    permits,
    curtailments: curtailment === undefined ? [] : [{ group: 'p', most_w: curtailment }],
  }
}

export const traitsOf = ({ sources }: Config) =>
  sources.map((one, nth): Traits => {
    const peak_w = one.rated_w ?? inverter.rated_w
    return { ...inverter, peak_w, ...one, id: ids[nth]! }
  })

export function begin(config: Config): World {
  const traits = traitsOf(config)
  let state = step(load([], 0), { is: 'site', sources: traits })
  state = step(state, { is: 'permits', ...permitsOf(config, 0) })
  const devices = traits.map(
    (one, nth): Device => ({
      held: one.is_pv ? one.rated_w : 0,
      full_w: (nth === 0 ? config.full_w : null) ?? one.rated_w,
      queue: [],
      past: [],
      timer: null,
      is_silent: false,
      is_ignoring: false,
      is_removed: false,
      is_excused: false,
      is_own: false,
      unread_external: null,
      external: null,
      reading: null,
      read_w: null,
      before: null,
      was_misread: false,
    }),
  )
  return {
    state,
    devices,
    permit: 0,
    request: 0,
    is_dark: false,
    daylight_ms: 0,
    saved: null,
    todo: null,
  }
}

/** The most that the device truly delivers now. */
export function real(
  s: Source,
  device: Device,
  kind: 'export' | 'import',
  is_dark: boolean,
): number {
  if (s.is_pv && is_dark) return 0
  if (device.is_ignoring) return kind === 'import' ? 0 : s.rated_w
  const held = [device.held, ...device.past.map(({ w }) => w)]
  const delivered = (w: number) => (w >= s.rated_w ? device.full_w : w)
  return Math.max(...held.map((w) => reach(s, delivered(w), kind)))
}

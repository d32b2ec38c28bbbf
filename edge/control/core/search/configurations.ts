/** The small sites that the search explores: one to three sources of a few steps of power. */
import type { Traits } from '../source.ts'
import type { Cap } from '../worst.ts'

/** Ages and durations are whole ticks. */
export const tick_ms = 1000

/** Power counts in steps of the register: a read-back shows a command to 1 W, and no other step. */
export const step_w = 10
const settable = (w: number) => Math.floor(w / step_w) * step_w

/** What may happen besides reads, permits and requests. */
export type Does =
  | 'silence'
  | 'reset'
  | 'external'
  | 'ignore'
  | 'timer'
  | 'restart'
  | 'sun'
  | 'hang'
  | 'slow read'
  | 'apart'
  | 'release'
  | 'unsaved'
  | 'power'
  | 'garbage'
  | 'removal'
  | 'wrong night'
  | 'nonsense'
  | 'unsent'
  | 'no control'

export interface Config {
  name: string
  sources: Partial<Traits>[]
  /** Permits of export and import by group, and a curtailment of group p. */
  permits: { export: Record<string, Cap>; import?: Record<string, Cap>; curtailment?: number }[]
  /** Requests by source; PV without one is requested at full power. */
  requests?: (number | undefined)[][]
  /** Limits that another master sets. */
  external?: number[]
  does: readonly Does[]
  /** What the register makes of a command. */
  register?: (w: number) => number
  /** What source a truly delivers at its ceiling, when above that. */
  full_w?: number
  /** The true ramp, when it is shorter than the declared one. */
  ramp_ms?: number
}

export const unlimited: Cap = { most_w: Number.POSITIVE_INFINITY, may_raise: true }
const at = (most_w: number, may_raise = true): Cap => ({ most_w, may_raise })
/** Without the ceiling, which is the rating unless a configuration says more. */
export const inverter: Omit<Traits, 'peak_w'> = {
  id: '',
  groups: ['p'],
  rated_w: 2 * step_w,
  lowest_w: 0,
  is_pv: true,
  keeps_limit: false,
  has_no_watchdog: false,
  respects_external: true,
  is_uncontrolled: false,
  settable,
  tolerance_w: 0,
  smallest_limit_w: 0,
  stale_ms: tick_ms,
  latency_ms: 2 * tick_ms,
  settle_ms: 0,
  ramp_ms: 0,
  raise_pause_ms: 0,
}
const battery = { is_pv: false, respects_external: false, lowest_w: -1, rated_w: 1 }
const small = { rated_w: 1 }
/** One source at a time is requested at full power. */
const turns = [
  [1, 0],
  [0, 1],
]
const each_of_three = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
]
/** Export permits of group p. */
const p = (...most_w: number[]) => most_w.map((one) => ({ export: { p: at(one) } }))
const both = (out_w: number, in_w: number) => ({
  export: { p: at(out_w) },
  import: { p: at(in_w) },
})

/** Two sources of one step, of which one at a time has it. */
const token = { sources: [small, small], permits: p(1), requests: turns }

const in_steps: Config[] = [
  { name: 'token', ...token, does: ['silence', 'reset'] },
  { name: 'token-apart', ...token, does: ['apart', 'hang'] },
  {
    name: 'token-terms',
    sources: [small, small],
    permits: [
      ...p(1, 0),
      { export: { p: at(1, false) } },
      { export: { p: at(1) }, curtailment: 0 },
    ],
    requests: turns,
    does: [],
  },
  { name: 'token-external', ...token, does: ['external'], external: [0, 1] },
  { name: 'token-ignore', ...token, does: ['ignore'] },
  { name: 'token-timer', ...token, does: ['timer'] },
  { name: 'token-restart', ...token, does: ['restart', 'reset'] },
  {
    name: 'token-night',
    sources: [small, { ...battery, lowest_w: 0 }],
    permits: p(1),
    requests: [
      [undefined, 1],
      [undefined, 0],
      [0, 1],
    ],
    does: ['sun', 'silence'],
  },
  {
    name: 'token-battery',
    sources: [battery, battery],
    permits: [both(1, 1)],
    requests: [
      [1, 0],
      [0, 1],
      [-1, 1],
      [1, -1],
      [-1, 0],
      [0, -1],
    ],
    does: [],
  },
  {
    name: 'token-keeps',
    ...token,
    sources: [{ ...small, keeps_limit: true }, small],
    does: ['silence', 'reset'],
  },
  {
    name: 'token-no-watchdog',
    ...token,
    sources: [
      { ...small, keeps_limit: true },
      { ...battery, lowest_w: 0, has_no_watchdog: true },
    ],
    does: ['silence'],
  },
  { name: 'token-removal', ...token, does: ['removal'] },
  {
    name: 'removal-keeps',
    ...token,
    sources: [{ ...small, keeps_limit: true }, small],
    does: ['removal', 'external'],
    external: [0, 1],
  },
  {
    name: 'token-ramp',
    ...token,
    sources: [{ ...small, ramp_ms: 2 * tick_ms }, small],
    does: ['power'],
  },
  {
    name: 'ramp-silence',
    ...token,
    sources: [{ ...small, ramp_ms: 2 * tick_ms, latency_ms: 3 * tick_ms }, small],
    does: ['silence', 'reset'],
  },
  {
    name: 'ramp-keeps',
    ...token,
    sources: [{ ...small, ramp_ms: 2 * tick_ms, keeps_limit: true }, small],
    does: ['silence', 'reset', 'external'],
    external: [0, 1],
  },
  {
    name: 'ramp-restart',
    ...token,
    sources: [{ ...small, ramp_ms: 2 * tick_ms }, small],
    does: ['restart'],
  },
  {
    name: 'token-garbage',
    ...token,
    sources: [{ ...small, ramp_ms: 2 * tick_ms }, small],
    does: ['garbage'],
    ramp_ms: 0,
  },
  {
    name: 'garbage-ramp',
    ...token,
    sources: [{ ...small, ramp_ms: 3 * tick_ms }, small],
    does: ['garbage', 'silence'],
    ramp_ms: tick_ms,
  },
  {
    name: 'round-up',
    sources: [{ rated_w: 4, tolerance_w: 1 }, small],
    permits: p(2),
    requests: [
      [4, 1],
      [4, 0],
      [0, 1],
    ],
    does: [],
    register: (w) => Math.ceil(w / 2) * 2,
  },
  {
    name: 'round-down',
    sources: [{ rated_w: 4, tolerance_w: 1 }, small],
    permits: p(4, 3),
    requests: [
      [4, 1],
      [4, 0],
    ],
    does: [],
    register: (w) => Math.floor(w / 2) * 2,
  },
  {
    name: 'least',
    sources: [{ rated_w: 3, smallest_limit_w: 1 }, small],
    permits: p(3, 1),
    requests: [
      [3, 1],
      [3, 0],
      [0, 1],
    ],
    does: [],
    register: (w) => Math.max(1, w),
  },
  {
    name: 'least-restart',
    sources: [{ rated_w: 3, smallest_limit_w: 1 }, small],
    permits: p(3, 1),
    requests: [
      [3, 1],
      [0, 1],
    ],
    does: ['restart'],
    register: (w) => Math.max(1, w),
  },
  {
    name: 'least-of-four',
    sources: [{ rated_w: 4, smallest_limit_w: 2 }, small],
    permits: p(4, 2),
    requests: [
      [4, 1],
      [4, 0],
      [0, 1],
    ],
    does: [],
    register: (w) => Math.max(2, w),
  },
  {
    name: 'burst',
    sources: [{ rated_w: 5, settle_ms: 2 * tick_ms, latency_ms: 3 * tick_ms }],
    permits: p(5, 4, 3, 2),
    does: [],
  },
  {
    name: 'settle',
    sources: [{ settle_ms: 2 * tick_ms, latency_ms: 3 * tick_ms }, {}],
    permits: p(3, 2, 1),
    does: ['silence'],
  },
  { name: 'exceeds', sources: [{}], permits: p(3, 2), does: ['power'], full_w: 3 },
  {
    name: 'no-control',
    sources: [small, small],
    permits: p(1, 0),
    requests: turns,
    does: ['no control'],
  },
  { name: 'unsent', ...token, does: ['apart', 'hang', 'unsent'] },
  {
    name: 'ramp',
    sources: [{ ramp_ms: 2 * tick_ms }, { ...battery, ramp_ms: tick_ms }],
    permits: [both(2, 1), both(1, 1)],
    requests: [
      [undefined, 1],
      [0, -1],
    ],
    does: ['power', 'silence'],
  },
  {
    name: 'slow-read',
    sources: [{ ...small, latency_ms: tick_ms }],
    permits: p(0, 1),
    does: ['slow read'],
  },
  { name: 'late', sources: [{}, {}], permits: p(2), does: ['silence', 'reset'] },
  {
    name: 'permit',
    sources: [{}, {}],
    permits: [...p(3, 1), { export: { p: at(2, false) } }],
    does: ['silence'],
  },
  { name: 'apart', sources: [{}, {}], permits: p(2, 1), does: ['apart', 'hang'] },
  { name: 'external', sources: [{}, {}], permits: p(3), does: ['external'], external: [0, 1, 2] },
  { name: 'ignore', sources: [{}, {}], permits: p(2), does: ['ignore'] },
  { name: 'timer', sources: [{}, {}], permits: p(2), does: ['timer'] },
  {
    name: 'battery',
    sources: [small, battery],
    permits: [both(1, 1), both(1, 0)],
    requests: [
      [undefined, 1],
      [undefined, -1],
      [0, 1],
    ],
    does: ['silence'],
  },
  {
    name: 'batteries',
    sources: [battery, battery],
    permits: [both(1, 1)],
    requests: [
      [1, 1],
      [-1, 1],
      [-1, -1],
    ],
    does: ['silence', 'reset'],
  },
  {
    name: 'nested',
    sources: [{ groups: ['p', 'site'] }, { groups: ['q', 'site'] }],
    permits: [
      { export: { p: at(2), q: at(1), site: at(2) } },
      { export: { p: at(2), q: at(2), site: at(1) } },
    ],
    does: ['silence'],
  },
  {
    name: 'night',
    sources: [{}, { ...battery, rated_w: 2, lowest_w: 0 }],
    permits: p(2),
    requests: [
      [undefined, 2],
      [0, 2],
    ],
    does: ['sun', 'silence'],
  },
  {
    name: 'no-watchdog',
    sources: [
      { keeps_limit: true },
      { ...battery, rated_w: 2, lowest_w: 0, has_no_watchdog: true },
    ],
    permits: [{ export: { p: at(2) } }, { export: { p: at(2) }, curtailment: 1 }],
    requests: [
      [undefined, 2],
      [0, 2],
    ],
    does: [],
  },
  { name: 'nonsense', ...token, does: ['nonsense'] },
  {
    name: 'fallback',
    sources: [small, { ...battery, lowest_w: 0, has_no_watchdog: true }],
    permits: p(1, 2),
    requests: turns,
    does: ['silence'],
  },
  { name: 'wrong-night', ...token, does: ['wrong night', 'power'] },
  {
    name: 'garbage-ceiling',
    sources: [{ ramp_ms: 2 * tick_ms }, small],
    permits: p(2),
    does: ['garbage', 'silence'],
    ramp_ms: 0,
  },
  { name: 'restart', sources: [{}, {}], permits: p(2), does: ['restart', 'reset'] },
  {
    name: 'one',
    sources: [{}],
    permits: p(1, 2),
    does: ['silence', 'reset', 'external', 'slow read', 'hang', 'restart', 'unsaved', 'release'],
    external: [0, 1, 2],
  },
  {
    name: 'one-ignoring',
    sources: [{}],
    permits: p(1, 2),
    does: ['silence', 'ignore', 'reset', 'hang', 'timer'],
  },
  {
    name: 'one-keeping',
    sources: [{ keeps_limit: true }],
    permits: p(1, 2),
    does: ['silence', 'external', 'timer', 'slow read', 'restart'],
    external: [0, 1, 2],
  },
  {
    name: 'three-tokens',
    sources: [small, small, small],
    permits: p(1),
    requests: each_of_three,
    does: ['silence', 'reset'],
  },
  { name: 'three', sources: [{}, {}, {}], permits: p(3, 1), does: ['silence'] },
  {
    name: 'three-restart',
    sources: [small, small, small],
    permits: p(2),
    requests: each_of_three,
    does: ['restart', 'reset'],
  },
  {
    name: 'three-external',
    sources: [small, small, small],
    permits: p(2),
    does: ['external'],
    external: [0, 1],
  },
  {
    name: 'three-ignore',
    sources: [small, small, small],
    permits: p(2, 1),
    requests: each_of_three,
    does: ['ignore'],
  },
  {
    name: 'three-nested',
    sources: [
      { groups: ['p', 'site'], rated_w: 1 },
      { groups: ['p', 'site'], rated_w: 1 },
      { groups: ['q', 'site'], rated_w: 1 },
    ],
    permits: [
      { export: { p: at(1), q: at(1), site: at(1) } },
      { export: { p: at(2), q: at(0), site: at(2) } },
    ],
    does: ['silence'],
  },
  {
    name: 'three-batteries',
    sources: [small, battery, battery],
    permits: [both(1, 1)],
    requests: [
      [1, 0, 0],
      [0, 1, -1],
      [0, -1, 1],
      [1, -1, -1],
    ],
    does: ['silence'],
  },
]

const inWatts = <Of>(steps: Of): Of =>
  typeof steps === 'number' ? ((steps * step_w) as Of) : steps
const capsInWatts = (caps: Record<string, Cap>) =>
  Object.fromEntries(
    Object.entries(caps).map(([group, cap]) => [group, { ...cap, most_w: inWatts(cap.most_w) }]),
  )
const sourceInWatts = (source: Partial<Traits>): Partial<Traits> =>
  Object.fromEntries(
    Object.entries(source).map(([name, one]) => [name, name.endsWith('_w') ? inWatts(one) : one]),
  )

export const configs: Config[] = in_steps.map((config) => ({
  ...config,
  sources: config.sources.map(sourceInWatts),
  permits: config.permits.map(({ export: out, import: drawn, curtailment }) => ({
    export: capsInWatts(out),
    ...(drawn && { import: capsInWatts(drawn) }),
    ...(curtailment !== undefined && { curtailment: inWatts(curtailment) }),
  })),
  ...(config.requests && { requests: config.requests.map((all) => all.map(inWatts)) }),
  ...(config.external && { external: config.external.map(inWatts) }),
  ...(config.full_w && { full_w: inWatts(config.full_w) }),
  ...(config.register && { register: (w: number) => inWatts(config.register!(w / step_w)) }),
}))

/** Mistakes about the night and the sun, each of which a check has to find: see `mutate.ts`. */
import { core, type Mutation } from './mutation.ts'

const night = `${core}/night-watch.ts`

export const nightMutations: readonly Mutation[] = [
  {
    name: 'raises an alarm for inverters that sleep',
    edge: 'controller',
    file: `${core}/controlled-plants.ts`,
    from: "if (this.sun === 'day') return new Set()",
    to: "if (this.sun !== 'day') return new Set()",
  },
  {
    name: 'accuses inverters that sleep in the proof',
    edge: 'controller',
    file: `${core}/proof-worst.ts`,
    from: "  if (!is_day && (!found || gone !== 'no')) return 0\n",
    to: '',
  },
  {
    name: 'takes an inverter that answers for one that sleeps in the proof',
    edge: 'controller',
    file: `${core}/proof-worst.ts`,
    from: "if (!is_day && (!found || gone !== 'no')) return 0",
    to: 'if (!is_day) return 0',
  },
  {
    name: 'counts inverters that sleep beside a battery',
    edge: 'batteries',
    file: `${core}/controlled-plants.ts`,
    from: 'return this.worstOf(plant, now_ms) - (this.is_night ? this.silentWorst(plant, now_ms) : 0)',
    to: 'return this.worstOf(plant, now_ms)',
  },
  {
    name: 'takes an inverter that answers for one that sleeps',
    edge: 'batteries',
    file: `${core}/controlled-plants.ts`,
    from: `const silent = devices.filter(({ power }) => power === null)
    return [...silent, ...removed].filter(({ limits }) => !limits.isFresh(now_ms))`,
    to: 'return [...devices, ...removed]',
  },
  {
    name: 'gives away at low sun what inverters may deliver',
    edge: 'batteries',
    file: `${core}/controlled-plants.ts`,
    from: "return this.sun === 'night'",
    to: "return this.sun !== 'day'",
  },
  {
    name: 'knows the night by a clock that nobody confirmed',
    edge: 'controller',
    file: night,
    from: "if (!this.#is_confirmed) return is_settled ? 'day' : null",
    to: '',
  },
  {
    name: 'takes any server for one that confirms the clock',
    edge: 'controller',
    file: night,
    from: 'server !== null && Math.abs(now - server) <= agreement_ms',
    to: 'server !== null',
  },
  {
    name: 'knows the night by one clock of several',
    edge: 'controller',
    file: night,
    from: 'times.every(',
    to: 'times.some(',
  },
  {
    name: 'ends the night at dawn and not before',
    edge: 'controller',
    file: night,
    from: 'this.#isBelow(elevation_deg, at + ahead_ms)',
    to: 'this.#isBelow(elevation_deg, at)',
  },
  {
    name: 'knows the night right after a start',
    edge: 'controller',
    file: night,
    from: 'const is_dark = is_settled &&',
    to: 'const is_dark =',
  },
  {
    name: 'forgets power that was measured at night',
    edge: 'controller',
    file: night,
    from: 'now_ms - this.#power_ms >= doubt_ms',
    to: 'now_ms >= 0',
  },
  {
    name: 'takes noise for PV power',
    edge: 'controller',
    file: night,
    from: 'if (power_w > noise_ratio * rated_w) this.#power_ms = now_ms',
    to: 'if (power_w > 0) this.#power_ms = now_ms',
  },
  {
    name: 'believes in a low sun that gives much power',
    edge: 'controller',
    file: night,
    from: '|| now_ms - this.#bright_ms < bright_ms',
    to: '',
  },
  {
    name: 'takes the export of a battery for PV power',
    edge: 'controller',
    file: night,
    from: 'power_w - batteryPower(logger_id)',
    to: 'power_w',
  },
  {
    name: 'takes a battery that was read later than the meter for PV power',
    edge: 'controller',
    file: night,
    from: 'if (now_ms - since_ms >= meter_ms) this',
    to: 'this',
  },
  {
    name: 'takes a battery on the DC side for PV',
    edge: 'controller',
    file: night,
    from: 'this.#place = is_ac ? { latitude, longitude } : null',
    to: 'this.#place = is_ac ? { latitude, longitude } : { latitude, longitude }',
  },
]

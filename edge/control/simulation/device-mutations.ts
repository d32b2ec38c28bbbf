/** Mistakes in what is known of one device, and in what it is told: see `mutate.ts`. */
import { core, type Mutation } from './mutation.ts'

const limits = `${core}/device-limits.ts`
const device = `${core}/controlled-device.ts`
const habits = `${core}/device-habits.ts`
const foreign = `${core}/foreign-limit.ts`
const overshoot = `${core}/overshoot-watch.ts`
const contest = `${core}/contest-watch.ts`
const vain = `${core}/vain-writes.ts`
const origin = `${core}/limit-origin.ts`
const edge = 'controller'

export const deviceMutations: readonly Mutation[] = [
  {
    name: 'takes any lower limit for one that the device rounded',
    edge,
    file: habits,
    from: 'const rounding_ratio = 0.02',
    to: 'const rounding_ratio = 1',
  },
  {
    name: 'takes what a device held all the time for its rounding',
    edge,
    file: habits,
    from: 'if (!is_new || is_applying ||',
    to: 'if ((!is_new && is_applying) ||',
  },
  {
    name: 'lifts a limit of another that is less of a step than the device would round by',
    edge,
    file: habits,
    from: 'if (doubt.gap_w > rounds_by_w + same_w) {',
    to: 'if (doubt.gap_w < 0) {',
  },
  {
    name: 'believes under another ceiling what a device rounded by before',
    edge,
    file: limits,
    from: '    this.#habits.forget()\n',
    to: '',
  },
  {
    name: 'forgets over a restart what a device rounds by',
    edge,
    file: limits,
    from: 'new DeviceHabits(this.#record.habits)',
    to: 'new DeviceHabits()',
  },
  {
    name: 'lifts a limit of another where the device was away',
    edge,
    file: foreign,
    from: 'const is_lifted = !was_silent && !has_new_max',
    to: 'const is_lifted = !has_new_max',
  },
  {
    name: 'lifts a limit of another where the ceiling is another',
    edge,
    file: foreign,
    from: 'const is_lifted = !was_silent && !has_new_max',
    to: 'const is_lifted = !was_silent',
  },
  {
    name: 'lifts a limit of another by what comes through late',
    edge,
    file: foreign,
    from: ' && found_w > begun_w + same_w',
    to: '',
  },
  {
    name: 'lifts a limit of another in percent with the ceiling',
    edge,
    file: foreign,
    from: 'Math.floor(external_w * Math.min(1, ratio))',
    to: 'Math.floor(external_w * ratio)',
  },
  {
    name: 'forgets a limit of another that a lower ceiling hid',
    edge,
    file: foreign,
    from: 'const above_w = is_lifted ? null : external_w',
    to: 'const above_w = null',
  },
  {
    name: 'takes what is in percent of another ceiling for a limit of another',
    edge,
    file: foreign,
    from: 'const isOf = (limit_w: number | null) =>\n',
    to: 'const isOf = (limit_w: number | null) =>\n    limit_w === -1 &&\n',
  },
  {
    name: 'counts what was begun under a lower ceiling as no more under a higher',
    edge,
    file: limits,
    from: 'if (ratio > 1 && this.#told(now_ms).length > 0) {',
    to: 'if (ratio < 0) {',
  },
  {
    name: 'gives a device no time to come down',
    edge,
    file: overshoot,
    from: 'const settling_ms = 30_000',
    to: 'const settling_ms = 0',
  },
  {
    name: 'gives a device time anew with each limit that it does not obey',
    edge,
    file: overshoot,
    from: 'else if (over_w > this.#descentAt(now_ms)) this.#count += 1',
    to: 'else if (this.#descentAt(now_ms) === 0) this.#count += 1',
  },
  {
    name: 'forgets over a restart that a device delivers more than its ceiling',
    edge,
    file: limits,
    from: 'this.#keep({ exceeds: exceedsBy(this.#record, { power_w, bound_w }) })',
    to: 'exceedsBy(this.#record, { power_w, bound_w })',
  },
  {
    name: 'never trusts a device again that another raised twice',
    edge,
    file: contest,
    from: 'this.#until_ms = now_ms + contested_ms',
    to: 'this.#until_ms = Number.POSITIVE_INFINITY',
  },
  {
    name: 'mistrusts a device that another raised once',
    edge,
    file: contest,
    from: 'if (now_ms - this.#raised_at_ms < contested_ms) this.#until_ms',
    to: 'if (now_ms >= 0) this.#until_ms',
  },
  {
    name: 'believes a ceiling of no watts',
    edge,
    file: `${core}/sound-limit.ts`,
    from: 'static_max_w > 0 && ',
    to: '',
  },
  {
    name: 'believes a limit below nothing',
    edge,
    file: `${core}/sound-limit.ts`,
    from: '(limit_w === null || limit_w >= 0)',
    to: '(limit_w === null || limit_w > -1e9)',
  },
  {
    name: 'believes a read-back that makes no sense',
    edge,
    file: `${core}/sound-limit.ts`,
    from: 'if (isSound(state)) return state',
    to: 'if (state) return state',
  },
  {
    name: 'counts the silence of a device anew after each restart',
    edge,
    file: `${core}/unheard-time.ts`,
    from: 'this.#before_ms + now_ms - this.#looked_at_ms',
    to: 'now_ms - this.#looked_at_ms',
  },
  {
    name: 'writes down each poll that is a little late',
    edge,
    file: `${core}/unheard-time.ts`,
    from: 'steps > steps_max / 2',
    to: 'steps > 0',
  },
  {
    name: 'sets again and again what has no effect',
    edge,
    file: vain,
    from: 'times < times_min ? 0 : now_ms + pause',
    to: 'times < times_min ? 0 : now_ms',
  },
  {
    name: 'waits ever longer without an end for what has no effect',
    edge,
    file: vain,
    from: 'Math.min(pause_ms.longest, pause_ms.first * 2 ** (times - times_min))',
    to: 'pause_ms.first * 2 ** (times - times_min)',
  },
  {
    name: 'leaves a device alone also with another limit',
    edge,
    file: vain,
    from: 'return this.#last?.limit_w === limit_w && now_ms < this.#last.until_ms',
    to: 'return this.#last !== null && limit_w >= 0 && now_ms < this.#last.until_ms',
  },
  {
    name: 'leaves a device alone also with a new row',
    edge,
    file: device,
    from: '    this.#vain.forget()\n',
    to: '',
  },
  {
    name: 'names a limit after a row that came a part of the way from the permit',
    edge,
    file: origin,
    from: 'const is_from_before = is_raise || is_as_before',
    to: 'const is_from_before = is_as_before && (is_raise || true)',
  },
  {
    name: 'takes its own fail-safe for a limit of another',
    edge,
    file: device,
    from: '    this.limits.arming(share_w)\n',
    to: '',
  },
  {
    name: 'finds what is left beside one that does not obey clear of the permit',
    edge,
    file: origin,
    from: 'if (this.is_failing || (!this.isFresh(now_ms) && this.stays)) return false',
    to: 'if (!this.isFresh(now_ms) && this.stays) return false',
  },
  {
    name: 'finds what is left beside a silent one that keeps its limit clear of the permit',
    edge,
    file: origin,
    from: 'if (this.is_failing || (!this.isFresh(now_ms) && this.stays)) return false',
    to: 'if (this.is_failing) return false',
  },
  {
    name: 'takes what was in doubt for a limit of another once it stays',
    edge,
    file: origin,
    from: '    if (limit_w === doubtful_w) return false\n',
    to: '    if (limit_w === -1) return doubtful_w === -1\n',
  },
]

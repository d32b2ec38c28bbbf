/** Mistakes that someone could make, each of which a check has to find: see `mutate.ts`. */
import { deviceMutations } from './device-mutations.ts'
import { driverMutations } from './driver-mutations.ts'
import type { EdgeName } from './episode.ts'
import { plantMutations } from './plant-mutations.ts'

export interface Mutation {
  name: string
  /** Which edge is simulated with it; without one, the core in its thin loop. */
  edge?: EdgeName | 'none'
  file: string
  /** Occurs once in the file. */
  from: string
  to: string
}

/** The folder that most of them are in. */
export const core = 'edge/control'
const limits = `${core}/device-limits.ts`
const decide = `${core}/decide.ts`
const share = `${core}/share.ts`
const driver = `${core}/simulation/device-driver.ts`
const thin = `${core}/simulation/thin-edge.ts`
const controller = `${core}/controller.ts`

export const mutations: readonly Mutation[] = [
  {
    name: 'restores to 100 %',
    file: decide,
    from: 'const wanted_w = device.settable!(Math.min(target_w, most_w, bound_w + rise_w))',
    to: 'const wanted_w = device.settable!(device.limits.static_max_w)',
  },
  {
    name: 'forgets the silent device',
    file: limits,
    from: 'if (!this.isFresh(now_ms) && !this.stays) return this.ceiling_w',
    to: '',
  },
  {
    name: 'never believes that a device is silent',
    file: limits,
    from: 'now_ms - this.#read_at_ms <= this.facts.fresh_ms',
    to: 'now_ms >= this.#read_at_ms',
  },
  {
    name: 'uses the revert timer of model 123',
    file: driver,
    from: 'return device.write({ units, timer: null }, meant_ms)',
    to: 'return device.write({ units, timer: { ends_ms: device.now_ms + 60_000, to_units: null } }, meant_ms)',
  },
  {
    name: 'leads the revert timer of model 704 to no limit',
    file: driver,
    from: 'to_units: units }',
    to: 'to_units: null }',
  },
  {
    name: 'rounds steps up, not down',
    file: driver,
    from: 'return whole_w <= limit_w ? whole_w : wattsOf(Math.max(0, units - 1), step_w)',
    to: 'return wattsOf(units + 1, step_w)',
  },
  {
    name: 'takes percent of rated power, not of WMax',
    file: driver,
    from: 'const units = Math.floor(limit_w / device.build.step_w + 1e-9)',
    to: 'const units = Math.floor(((limit_w / device.build.step_w) * device.build.rated_w) / device.build.static_w + 1e-9)',
  },
  {
    name: 'raises before lowering',
    file: decide,
    from: 'if (plant_worst_w + more_w > ceiling_w) continue',
    to: '',
  },
  {
    name: 'ignores the ceiling of the common connection',
    file: share,
    from: 'if (site_w === null) return',
    to: 'if (site_w !== -1) return',
  },
  {
    name: 'trusts a raise only when it was read back, not while it is under way',
    file: limits,
    from: 'const begun_w = Math.max(this.#overtakenAt(now_ms), ...this.#intents)',
    to: 'const begun_w = this.#overtakenAt(now_ms)',
  },
  {
    name: 'trusts a write without reading it back',
    file: limits,
    from: '    this.#writes += 1\n',
    to: '    this.#writes += 1\n    if (this.#state) this.#state = { ...this.#state, limit_w }\n    this.#intents = []\n',
  },
  {
    name: 'forgets what was overtaken',
    file: limits,
    from: 'if (this.#writes > 1) {',
    to: 'if (this.#writes < 0) {',
  },
  {
    name: 'forgets over a restart what was begun',
    file: limits,
    from: 'this.#intents = [...this.#record.intents]',
    to: 'this.#intents = []',
  },
  {
    name: 'forgets over a restart what another had set',
    file: thin,
    from: 'new DeviceLimits(facts, disk.durable.get(inverter_id) ?? null)',
    to: 'new DeviceLimits(facts, null)',
  },
  {
    name: 'lifts a limit of another',
    file: limits,
    from: 'return Math.min(static_max_w, external_w ?? static_max_w)',
    to: 'return external_w === -1 ? 0 : static_max_w',
  },
  {
    name: 'takes its own old value for a limit of another',
    file: `${core}/foreign-limit.ts`,
    from: 'const known = [before_w, seen_w]',
    to: 'const known = [seen_w]',
  },
  {
    name: 'takes a missing permit for rated power',
    file: `${core}/ceiling.ts`,
    from: 'may_raise: permit_w !== null',
    to: 'may_raise: true',
  },
  {
    name: 'lets a release end the other rows of the plant',
    file: `${core}/ceiling.ts`,
    from: 'if (now_ms !== null && !isInForce(row, now_ms)) continue',
    to: 'if (now_ms !== null && !isInForce(row, now_ms)) {\n      row_w = Number.POSITIVE_INFINITY\n      continue\n    }',
  },
  {
    name: 'ignores rows',
    file: `${core}/ceiling.ts`,
    from: 'row_w = Math.min(row_w, wattsOf(row))',
    to: '',
  },
  {
    name: 'rounds shares up',
    file: share,
    from: 'shares[nth] = Math.floor((left_w',
    to: 'shares[nth] = Math.ceil((left_w',
  },
  {
    name: 'counts a device that ignores its limit at that limit',
    file: limits,
    from: 'if (!state || this.is_ineffective',
    to: 'if (!state',
  },
  {
    name: 'tells time by the wall clock',
    file: thin,
    from: 'const { now_ms, is_linked, jumped_ms, wall_ms } = this.#world',
    to: 'const { is_linked, jumped_ms, wall_ms } = this.#world\n    const now_ms = wall_ms - 1_780_308_000_000',
  },
  {
    name: 'raises before each device was heard of',
    file: decide,
    from: 'plant.may_raise && plant.is_known && is_site_known',
    to: 'plant.may_raise',
  },
  {
    name: 'does not see a timer run out',
    file: limits,
    from: 'return left_ms <= this.facts.revert_margin_ms ? revert.to_w : 0',
    to: 'return left_ms <= -1e12 ? revert.to_w : 0',
  },
  {
    name: 'gives one up for good that failed three times',
    file: decide,
    from: 'return [...targets, ...asked]',
    to: 'return targets',
  },
  {
    name: 'keeps over a restart only the last of what was begun',
    edge: 'controller',
    file: limits,
    from: 'this.#intents = [...this.#record.intents]',
    to: 'this.#intents = this.#record.intents.slice(-1)',
  },
  {
    name: 'forgets over a restart what it and others had set (controller)',
    edge: 'controller',
    file: `${core}/controlled-plants.ts`,
    from: 'const record = this.#records.get(key) ?? null',
    to: 'const record = null',
  },
  {
    name: 'tells time by the wall clock (controller)',
    edge: 'controller',
    file: controller,
    from: '      stopwatch,\n      records',
    to: '      stopwatch: { elapsedMs: () => needs.clock.now().getTime() - 1_780_308_000_000 },\n      records',
  },
  {
    name: 'does not wait until a write is written down',
    edge: 'controller',
    file: `${core}/ordering.ts`,
    from: 'await this.#needs.store.saveDevices(saving)',
    to: 'void this.#needs.store.saveDevices(saving).catch(() => {})',
  },
  {
    name: 'believes a poll that may be older than a write',
    edge: 'controller',
    file: `${core}/controlled-device.ts`,
    from: 'if (was_touched && is_news) this.#lookAgain(control)\n      else this.#take',
    to: 'void [was_touched, is_news]\n      this.#take',
  },
  {
    name: 'reports a row as applied before it is proven',
    edge: 'controller',
    file: `${core}/row-watch.ts`,
    from: 'const is_kept = worst_w <= wattsOf(row)',
    to: 'const is_kept = worst_w >= 0',
  },
  {
    name: 'forgets rows over a restart',
    edge: 'controller',
    file: `${core}/row-book.ts`,
    from: 'for (const held of store.rows)',
    to: 'for (const held of store.rows.slice(store.rows.length))',
  },
  {
    name: 'tells what the limits allow in a report',
    edge: 'controller',
    file: `${core}/row-watch.ts`,
    from: 'is_kept ? row.max_power_kw : told_kw',
    to: 'told_kw ?? worst_w / 1000',
  },
  {
    name: 'tells what a former permit let the limits allow',
    edge: 'controller',
    file: controller,
    from: 'is_free: permit === null,',
    to: 'is_free: permit === null || !permit.plant_w.has(logger_id),',
  },
  {
    name: 'raises right after the clock jumped',
    edge: 'controller',
    file: controller,
    from: 'const is_held = !this.#is_clock_settled ||',
    to: 'const is_held =',
  },
  {
    name: 'lets a device that could not be armed wait with its lower',
    edge: 'controller',
    file: `${core}/controlled-device.ts`,
    from: 'this.#rearm_ms = this.#now() + backoffs_ms[2]',
    to: 'this.#retry_ms = this.#now() + backoffs_ms[2]',
  },
  {
    name: 'saves a read-back only before the next write',
    edge: 'controller',
    file: controller,
    from: 'await this.#ordering.carryOut(orders, permit)',
    to: 'if (orders.length > 0) await this.#ordering.carryOut(orders, permit)',
  },
  {
    name: 'raises under a permit that was lowered while that was written down',
    edge: 'controller',
    file: `${core}/ordering.ts`,
    from: 'return is_wanted && isSamePermit(permit, this.#needs.permit())',
    to: 'return is_wanted',
  },
  {
    name: 'trusts a clock that is older after a restart',
    edge: 'controller',
    file: `${core}/clock-watch.ts`,
    from: 'Math.max(offset_ms, this.#latest_at - now_ms)',
    to: 'offset_ms',
  },
  {
    name: 'lets a device of which the registers make no sense hold up all',
    edge: 'controller',
    file: `${core}/controlled-device.ts`,
    from: 'control?.settable(0)',
    to: '',
  },
  {
    name: 'says nothing of a raise that is refused',
    edge: 'controller',
    file: `${core}/row-watch.ts`,
    from: 'is_in_force || !this.#is_refused ? null',
    to: 'is_in_force || !this.#is_refused || true ? null',
  },
  {
    name: 'takes a plant for restored while a silent device may still be held down',
    edge: 'controller',
    file: decide,
    from: 'const is_settled = targets.every(isReached) && isReleased(plant, if_all[nth]!, now_ms)',
    to: 'const is_settled = targets.every(isReached)',
  },
  {
    name: 'trusts the limit of a device that another raises again and again',
    edge: 'controller',
    file: limits,
    from: 'return this.#contest.isContested(now_ms)',
    to: 'return this.#contest.isContested(now_ms) && now_ms < 0',
  },
  {
    name: 'finds at any instant that a row is applied',
    edge: 'controller',
    file: `${core}/row-watch.ts`,
    from: 'const is_judged = this.#isJudged(now)',
    to: 'const is_judged = this.#isJudged(now) || true',
  },
  {
    name: 'names a limit after a row that was set for the permit before',
    edge: 'controller',
    file: `${core}/limit-origin.ts`,
    from: 'const is_certain = is_of_row && (was_of_row || !is_from_before)',
    to: 'const is_certain = is_of_row || (was_of_row && !is_from_before)',
  },
  {
    name: 'takes what was read while it was set for what stands now',
    edge: 'controller',
    file: `${core}/controlled-device.ts`,
    from: "const is_masked = was_touched && this.#limited_by === 'permit'",
    to: 'const is_masked = false',
  },
  {
    name: 'tells of a limit of another where that may be its own',
    edge: 'controller',
    file: `${core}/limit-origin.ts`,
    from: "return this.#isAnothers(bound_w) ? 'external' : null",
    to: "return 'external'",
  },
  {
    name: 'waits with one that failed until the others give up its share',
    file: decide,
    from: 'device.limits.is_failing ? worst_w + room_w : target_w',
    to: 'target_w',
  },
  {
    name: 'takes what is found after a restart for a limit of another',
    edge: 'controller',
    file: `${core}/limit-origin.ts`,
    from: 'if (is_doubtful) this.#origin =',
    to: 'if (is_doubtful && !is_doubtful) this.#origin =',
  },
  {
    name: 'takes a limit that is not in force yet for a failure',
    edge: 'controller',
    file: limits,
    from: 'return !this.is_proven && now_ms < this.#applies_until_ms',
    to: 'return false',
  },
  {
    name: 'waits for ever for a limit that was taken',
    edge: 'controller',
    file: limits,
    from: 'return !this.is_proven && now_ms < this.#applies_until_ms',
    to: 'return !this.is_proven && this.#applies_until_ms > 0',
  },
  {
    name: 'lets a lower limit wait for one that was taken',
    edge: 'controller',
    file: decide,
    from: 'limits.isApplying(now_ms) && limit_w === limits.record.written_w',
    to: 'limits.isApplying(now_ms)',
  },
  {
    name: 'takes what a device shows already for what it makes of its limit',
    edge: 'controller',
    file: `${core}/device-habits.ts`,
    from: 'doubt.got_w - same_w - 1',
    to: 'doubt.got_w - 1',
  },
  {
    name: 'lifts what another set while it was in doubt whether a device rounds',
    edge: 'controller',
    file: limits,
    from: "foreign !== 'lost' || found_w < state.static_max_w",
    to: "foreign !== 'lost'",
  },
  {
    name: 'forgets that a limit of the permit goes along with a ceiling',
    edge: 'controller',
    file: `${core}/limit-origin.ts`,
    from: 'if (ratio !== 1) this.#rescale(ratio)',
    to: '',
  },
  ...deviceMutations,
  ...plantMutations,
  ...driverMutations,
]

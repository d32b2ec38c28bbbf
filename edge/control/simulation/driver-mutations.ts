/** Mistakes in drivers, which their own tests have to find: see `mutate.ts`. */
import type { Mutation } from './mutation.ts'

const sunspec = 'edge/drivers/sunspec-limit-registers.ts'

export const driverMutations: readonly Mutation[] = [
  {
    name: 'sunspec: rounds percent up',
    edge: 'none',
    file: sunspec,
    from: 'let steps = Math.max(0, Math.min(full, quotient) - 1)',
    to: 'let steps = Math.max(0, Math.min(full, quotient + 1))',
  },
  {
    name: 'sunspec: takes percent of the nameplate, not of WMax',
    edge: 'none',
    file: sunspec,
    from: 'const base_w = set ? Math.ceil(set.watts) : (nameplate_w ?? 0)',
    to: 'const base_w = nameplate_w ?? (set ? Math.ceil(set.watts) : 0)',
  },
  {
    name: 'sunspec: uses the revert timer of model 123',
    edge: 'none',
    file: sunspec,
    from: 'if (revert_s) writes.push({ point: timer, value: 0 })',
    to: 'writes.push({ point: timer, value: 60 })',
  },
  {
    name: 'sunspec: does not enable what the timer of 704 leads to',
    edge: 'none',
    file: sunspec,
    from: "if (!revert.is_enabled) writes.push({ point: 'WMaxLimPctEnaRvrt', value: 1 })",
    to: '',
  },
  {
    name: 'sunspec: enables a limit before it sets it',
    edge: 'none',
    file: sunspec,
    from: '[...writes.before, ...value, ...enable, ...writes.after]',
    to: '[...writes.before, ...enable, ...value, ...writes.after]',
  },
  {
    name: 'sunspec: raises what 704 reverts to before the limit',
    edge: 'none',
    file: sunspec,
    from: 'return is_lower ? { before: [], after: writes } : { before: writes, after: [] }',
    to: 'return is_lower ? { before: writes, after: [] } : { before: [], after: writes }',
  },
  {
    name: 'sunspec: does not see what a timer leads to',
    edge: 'none',
    file: sunspec,
    from: 'return to_w === limit_w ? null : {',
    to: 'return to_w > 0 ? null : {',
  },
  {
    name: 'profiles: round steps up',
    edge: 'none',
    file: 'edge/drivers/register-limit.ts',
    from: 'const steps = Math.floor((bound_w * scale.per) / (scale.times * step))',
    to: 'const steps = Math.ceil((bound_w * scale.per) / (scale.times * step))',
  },
  {
    name: 'sunspec: sends a write that was overtaken',
    edge: 'none',
    file: 'edge/drivers/sunspec-control.ts',
    from: 'one, mayStill ? { mayStill } : {})',
    to: 'one, {})',
  },
  {
    name: 'profiles: send a limit that was overtaken',
    edge: 'none',
    file: 'edge/drivers/register-limit.ts',
    from: 'await access.set({ register: limit.setpoint.register, raw }, mayStill)',
    to: 'await access.set({ register: limit.setpoint.register, raw })',
  },
  {
    name: 'bus: sends a write that was overtaken',
    edge: 'none',
    file: 'edge/bus/bus.ts',
    from: 'if (mayStill && !mayStill()) throw overtakenError()',
    to: 'mayStill?.()',
  },
  {
    name: 'bus: lets a unit rest of which a write was overtaken',
    edge: 'none',
    file: 'edge/bus/bus.ts',
    from: "if (error.kind === 'disconnected' || error.kind === 'overtaken') return",
    to: "if (error.kind === 'disconnected') return",
  },
  {
    name: 'bus: begins anew with a connection on which a write was overtaken',
    edge: 'none',
    file: 'edge/bus/connection.ts',
    from: "if (error.kind === 'overtaken') return",
    to: '',
  },
  {
    name: 'believes registers that never showed a limit that there is none',
    edge: 'none',
    file: 'edge/drivers/register-limit.ts',
    from: 'stateOf((access.is_mute && by_stored) || limit, values, device)',
    to: 'stateOf(limit, values, device)',
  },
  {
    name: 'forgets the latency that site.yaml declares',
    edge: 'controller',
    file: 'edge/control/declared-traits.ts',
    from: 'Math.max(applies_within_ms, declared?.applies_within_ms ?? 0)',
    to: 'Math.max(applies_within_ms, 0 * (declared?.applies_within_ms ?? 0))',
  },
]

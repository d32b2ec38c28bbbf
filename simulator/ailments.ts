/** Effects of the faults in force on each inverter and its strings. */
import { type Fault, isInForce, type StringFault } from './faults.ts'
import type { InverterAilments } from './inverter.ts'
import { type StringAilment, sound } from './string.ts'

const healthy: InverterAilments = { is_dead: false, power_limit_pct: null, strings: new Map() }

/** Effects by `inverter_id`, for the inverters with a fault at this instant. */
export function ailmentsAt(
  faults: readonly Fault[],
  time_ms: number,
): (inverter_id: number) => InverterAilments {
  const own = Map.groupBy(
    faults.filter((fault) => 'inverter_id' in fault && isInForce(fault, time_ms)),
    (fault) => ('inverter_id' in fault ? fault.inverter_id : null),
  )
  const ailments = new Map([...own].map(([id, those]) => [id, ailmentsOf(those)]))
  return (inverter_id) => ailments.get(inverter_id) ?? healthy
}

function ailmentsOf(faults: readonly Fault[]): InverterAilments {
  const strings = new Map<number, StringAilment>()
  let power_limit_pct: number | null = null
  for (const fault of faults) {
    if (fault.kind === 'limit') power_limit_pct = Math.min(fault.limit_pct, power_limit_pct ?? 100)
    if (!('string_index' in fault)) continue
    strings.set(fault.string_index, worsened(strings.get(fault.string_index) ?? sound, fault))
  }
  return {
    is_dead: faults.some(({ kind }) => kind === 'dead_inverter'),
    power_limit_pct,
    strings,
  }
}

function worsened(before: StringAilment, fault: StringFault): StringAilment {
  switch (fault.kind) {
    case 'open_string':
      return { ...before, is_open: true }
    case 'shaded_string':
      return { ...before, is_shaded: true }
    case 'soiled_string': {
      const left = (1 - before.soiling_loss_ratio) * (1 - fault.value)
      return { ...before, soiling_loss_ratio: 1 - left }
    }
    case 'bypassed_substring':
      return { ...before, bypassed_substrings: before.bypassed_substrings + fault.value }
    case 'resistive_string':
      return { ...before, resistance_ohm: before.resistance_ohm + fault.value }
    case 'degraded_string':
      return { ...before, shunt_ohm: Math.min(before.shunt_ohm, fault.value) }
  }
}

/** The strings of an inverter as rows: from its combiners, itself, or its MPPTs. */
import type { StringReading } from '@heliograph/domain/readings'
import { type Combiner, type Inverter, stringsOf } from '@heliograph/domain/site'
import type { InverterAnswer, Values } from './drivers/driver.ts'

export interface StringPlan {
  /** By string index: the MPPT it feeds. */
  mppt_of: readonly number[]
  /** By string index: whether nothing else is connected to its MPPT. */
  is_alone: readonly boolean[]
  /** Runs of strings that no combiner measures. */
  own: readonly { first: number; count: number }[]
}

type StringRow = Values<StringReading> & { first_string_index: number }

type Measured = readonly (number | null)[] | null

export function planStrings(inverter: Inverter): StringPlan {
  const strings = stringsOf(inverter)
  const own: { first: number; count: number }[] = []
  for (const { string_index, combiner_id } of strings) {
    if (combiner_id !== null) continue
    const run = own.at(-1)
    if (run && run.first + run.count === string_index) run.count += 1
    else own.push({ first: string_index, count: 1 })
  }
  const connected = strings.filter((string) => string.connected)
  return {
    mppt_of: strings.map(({ mppt_index }) => mppt_index),
    is_alone: strings.map(
      (string) =>
        string.connected &&
        connected.filter(({ mppt_index }) => mppt_index === string.mppt_index).length === 1,
    ),
    own,
  }
}

/**
 * Rows of the strings that the inverter itself answers for, none when it says nothing of their
 * currents. Without any string current of its own, the current of an MPPT with a single string is
 * that string's.
 */
export function ownStrings(plan: StringPlan, answer: InverterAnswer): StringRow[] {
  const { strings, inverter } = answer
  const measures = strings?.current_a?.some((value) => value !== null) ?? false
  const current = (index: number): number | null => {
    if (measures) return strings?.current_a?.[index] ?? null
    return plan.is_alone[index]
      ? (inverter.mppt_current_a?.[plan.mppt_of[index] ?? 0] ?? null)
      : null
  }
  return plan.own.flatMap(({ first, count }) => {
    const current_a = Array.from({ length: count }, (_, nth) => current(first + nth))
    if (current_a.every((value) => value === null)) return []
    const measured = strings?.voltage_v?.slice(first, first + count) ?? null
    const voltage_v = voltages(plan, { first, count }, { measured, mppt: inverter.mppt_voltage_v })
    return [{ first_string_index: first, current_a, voltage_v }]
  })
}

/** The row of a combiner; `mppt_voltage_v` is the newest of its inverter, while it is fresh. */
export function combinerStrings(
  plan: StringPlan,
  { first_string_index: first, string_count: count }: Combiner,
  { values, mppt_voltage_v }: { values: Values<StringReading>; mppt_voltage_v: Measured },
): StringRow {
  const current_a = Array.from({ length: count }, (_, nth) => values.current_a?.[nth] ?? null)
  const measured = values.voltage_v
  const voltage_v = voltages(plan, { first, count }, { measured, mppt: mppt_voltage_v })
  return { first_string_index: first, current_a, voltage_v }
}

/** A string whose voltage is not measured has that of its MPPT. */
function voltages(
  plan: StringPlan,
  { first, count }: { first: number; count: number },
  { measured, mppt }: { measured: Measured; mppt: Measured },
): (number | null)[] {
  return Array.from({ length: count }, (_, nth) => {
    return measured?.[nth] ?? mppt?.[plan.mppt_of[first + nth] ?? 0] ?? null
  })
}

import type { StringReading } from '@heliograph/domain/readings'
import type { Answer, Complaint, Values } from './driver.ts'
import { plausible } from './plausible.ts'
import type { Snapshot } from './sunspec-snapshot.ts'

export const stringModels = [401, 403, 404] as const

/** One value per string of the combiner; further inputs are left out. */
export function combinerAnswer(
  snapshot: Snapshot,
  string_count: number,
): Answer<Values<StringReading>> {
  const { complaints } = snapshot
  const inputs = inputsOf(snapshot)
  if (inputs.length < string_count) {
    const reason = `${string_count} strings are expected, the device has ${inputs.length} inputs`
    complaints.push({ point: 'string', reason })
  }
  return { values: stringValues(inputs, string_count, complaints), complaints }
}

interface Input {
  current_a: number | null
  voltage_v: number | null
}

/**
 * Inputs of all combiner models in the order of the chain. They are parallel: an input without its
 * own voltage has that of the combiner.
 */
export function inputsOf(snapshot: Snapshot): Input[] {
  const currents = snapshot
    .all(401, 403)
    .flatMap(({ values, groups }) =>
      groups.map(({ InDCA }) => ({ current_a: InDCA, voltage_v: values.DCV })),
    )
  const advanced = snapshot
    .all(404)
    .flatMap(({ values, groups }) =>
      groups.map(({ InDCA, InDCV }) => ({ current_a: InDCA, voltage_v: InDCV ?? values.DCV })),
    )
  return [...currents, ...advanced]
}

export function stringValues(
  inputs: readonly Input[],
  string_count: number,
  complaints: Complaint[],
): Values<StringReading> {
  const strings = Array.from({ length: string_count }, (_, index) => inputs[index])
  const values = {
    current_a: strings.map((input) => input?.current_a ?? null),
    voltage_v: strings.map((input) => input?.voltage_v ?? null),
  }
  return plausible(values, complaints)
}

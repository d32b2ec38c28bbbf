/** One line of a commissioning protocol. */
export type TestResult = 'passed' | 'failed' | 'warning' | 'not_judged'

export interface TestRow {
  /** Name of the device; null for a test of the site. */
  device: string | null
  test: string
  result: TestResult
  /** Several of a device with equal inputs. */
  measured: number | readonly number[] | null
  unit: string | null
  min: number | null
  max: number | null
  /** Why it failed, is a warning or is not judged; null for a test that passed. */
  reason: string | null
}

interface Judged {
  device: string | null
  test: string
  measured: number | readonly number[]
  unit?: string | null
  min?: number
  max?: number
  /** Where it lies outside. */
  reason?: string
}

export function judged({ measured, unit = null, min, max, reason, ...test }: Judged): TestRow {
  const values = typeof measured === 'number' ? [measured] : measured
  const is_within = values.every(
    (value) =>
      value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY),
  )
  return {
    ...test,
    result: is_within ? 'passed' : 'failed',
    measured,
    unit,
    min: min ?? null,
    max: max ?? null,
    reason: is_within ? null : (reason ?? 'outside the bound'),
  }
}

/** A test without a measured value. */
export function without(
  result: TestResult,
  device: string | null,
  test: string,
  reason: string | null,
): TestRow {
  return { device, test, result, measured: null, unit: null, min: null, max: null, reason }
}

const units: readonly (readonly [ending: string, unit: string])[] = [
  ['_kwh', 'kWh'],
  ['_kw', 'kW'],
  ['_kvar', 'kvar'],
  ['_kva', 'kVA'],
  ['_mv', 'mV'],
  ['_v', 'V'],
  ['_a', 'A'],
  ['_hz', 'Hz'],
  ['_w_m2', 'W/m²'],
  ['_c', '°C'],
  ['_pct', '%'],
  ['_kohm', 'kΩ'],
  ['_hpa', 'hPa'],
  ['_m_s', 'm/s'],
  ['_deg', '°'],
  ['_mm', 'mm'],
]

export const unitOf = (column: string): string | null =>
  units.find(([ending]) => column.endsWith(ending))?.[1] ?? null

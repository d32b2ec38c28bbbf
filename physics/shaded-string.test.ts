import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, assertWithinRatio, thinnedRows } from './fixtures/oracle.ts'
import { moduleOfReference, moduleOfRow, no_panel_list, panelList } from './fixtures/panel-list.ts'
import { uniform } from './fixtures/uniform.ts'
import { ivCurve } from './iv-curve.ts'
import {
  bypass_voltage_v,
  type ShadedString,
  type SubstringGroup,
  shadedString,
  stringCurrent,
  stringOpenCircuitVoltage,
  stringPeaks,
  stringVoltage,
  substringCircuit,
} from './shaded-string.ts'
import {
  type CecModule,
  cecSingleDiode,
  currentAtVoltage,
  maximumPowerPoint,
  openCircuitVoltage,
  seriesParallel,
  voltageAtCurrent,
} from './single-diode.ts'

const modules = thinnedRows('cec_modules_used').map(moduleOfReference)

function group(module: CecModule, [g_w_m2, cell_c, count]: readonly [number, number, number]) {
  return { circuit: substringCircuit(cecSingleDiode(module, g_w_m2, cell_c), 3), count }
}

const reference = new URL('../../shared/data/oracle/shaded_string.json', import.meta.url)
const no_reference = existsSync(reference)
  ? no_panel_list
  : 'no reference answers at ../shared/data/oracle/shaded_string.json'

test('shaded strings agree with all reference answers', { skip: no_reference }, () => {
  // The edition of the list behind the answers writes commas in names as underscores, and three
  // digits of the saturation current.
  const panels = new Map(
    panelList().map((row) => {
      const module = moduleOfRow(row)
      const i_o_ref_a = Number(module.i_o_ref_a.toPrecision(3))
      return [row['Name']!.replaceAll(',', '_'), { ...module, i_o_ref_a }]
    }),
  )
  const { columns, rows } = JSON.parse(readFileSync(reference, 'utf8')) as {
    columns: string[]
    rows: [string, ...number[]][]
  }
  assert.ok(rows.length > 0)
  for (const cells of rows) {
    const name = cells[0]
    const cell = (column: string) => cells[columns.indexOf(column)] as number
    const module = panels.get(name)
    assert.ok(module, name)
    const [g, cell_c, shaded] = [cell('G'), cell('Tc'), cell('shaded_substrings')]
    const lit = cell('substrings')
    const groupsOf = (shaded_count: number) => [
      group(module, [g, cell_c, lit - shaded_count]),
      group(module, [g * cell('shade_frac'), cell_c, shaded_count]),
    ]
    const { global } = stringPeaks(shadedString(groupsOf(shaded)))
    assertWithinRatio(global.power_w, cell('p_mp'), 1e-12, `${name}: power`)
    assertWithinRatio(global.current_a, cell('i_mp'), 1e-7, `${name}: current`)
    assertWithinRatio(global.voltage_v, cell('v_mp'), 1e-7, `${name}: voltage`)
    const uniform = stringPeaks(shadedString(groupsOf(0))).global
    assertWithinRatio(uniform.power_w, cell('p_mp_uniform'), 1e-12, `${name}: unshaded power`)
    assertWithinRatio(uniform.current_a, cell('i_mp_uniform'), 1e-7, `${name}: unshaded current`)
    assertWithinRatio(uniform.voltage_v, cell('v_mp_uniform'), 1e-7, `${name}: unshaded voltage`)
  }
})

// Irradiance, temperature and count of the groups of one string.
const light = fc.oneof(uniform(1, 1200), fc.constantFrom(0, 1e-17, 1, 1000, 1000, 1000))
const cell = uniform(-40, 95)
const conditions = fc.tuple(light, cell, fc.integer({ min: 1, max: 60 }))
const string_of_groups = fc
  .record({
    module: fc.constantFrom(...modules),
    conditions: fc.array(conditions, { minLength: 1, maxLength: 4 }),
    series_resistance_ohm: fc.constantFrom(0, 0, 0.5, 5),
  })
  .map(({ module, conditions, series_resistance_ohm }) => ({
    groups: conditions.map((one): SubstringGroup => group(module, one)),
    series_resistance_ohm,
  }))
const share = uniform(0, 1)

/** The voltage of the string by its definition, one substring after the other. */
function summedVoltage(groups: readonly SubstringGroup[], r_ohm: number, current_a: number) {
  return groups.reduce(
    (sum, { circuit, count }) =>
      sum + count * Math.max(-bypass_voltage_v, voltageAtCurrent(circuit, current_a)),
    -current_a * r_ohm,
  )
}

function build({
  groups,
  series_resistance_ohm,
}: {
  groups: SubstringGroup[]
  series_resistance_ohm: number
}): ShadedString {
  return shadedString(groups, { series_resistance_ohm })
}

function highestCurrent(groups: readonly SubstringGroup[]): number {
  return Math.max(...groups.map(({ circuit }) => currentAtVoltage(circuit, -bypass_voltage_v)))
}

test('the global peak equals that of a fine search over the curve', () => {
  fc.assert(
    fc.property(string_of_groups, (given) => {
      const { global, local } = stringPeaks(build(given))
      const power = (current_a: number) =>
        current_a * summedVoltage(given.groups, given.series_resistance_ohm, current_a)
      const top_a = highestCurrent(given.groups)
      const steps = 1000
      const sampled = Array.from({ length: steps }, (_, i) => power((top_a * i) / steps))
      const best = Math.max(...sampled)
      const isPeak = (here: number, i: number) =>
        here > 1e-9 && here * (1 - 1e-12) > Math.max(sampled[i - 1]!, sampled[i + 1]!)
      const peaks = sampled.filter(isPeak).length
      assert.ok(global.power_w >= best * (1 - 1e-12), `${global.power_w} is below ${best}`)
      assert.ok(local.length >= peaks, `${local.length} peaks of ${peaks}`)
      assert.ok(local.every((peak) => peak.power_w <= global.power_w))
      for (const peak of local) {
        assertWithinRatio(power(peak.current_a), peak.power_w, 1e-8, 'on the curve')
        for (const near of [1 - 1e-5, 1 + 1e-5]) {
          assert.ok(power(peak.current_a * near) <= peak.power_w * (1 + 1e-12), 'a maximum')
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('voltage and current of a string are inverse functions', () => {
  fc.assert(
    fc.property(string_of_groups, uniform(0, 1.3), (given, part) => {
      const string = build(given)
      const v_oc = stringOpenCircuitVoltage(string)
      const voltage_v = part * v_oc
      const current_a = stringCurrent(string, voltage_v)
      const back_v = stringVoltage(string, current_a)
      // The current has only so many digits where the voltage is steep in it.
      const step_a = 1e-13 * (Math.abs(current_a) + highestCurrent(given.groups))
      const steep_v =
        stringVoltage(string, current_a - step_a) - stringVoltage(string, current_a + step_a)
      assertWithin(back_v, voltage_v, 1e-9 * (1 + v_oc) + steep_v, 'voltage')
    }),
    { numRuns: 500 },
  )
})

test('current never rises with voltage, and all results are numbers', () => {
  const volts = fc.oneof(uniform(-100, 2000), fc.constantFrom(-1e6, 0, 1e-17, 1e6))
  fc.assert(
    fc.property(string_of_groups, volts, volts, (given, a, b) => {
      const string = build(given)
      const [high, low] = [
        stringCurrent(string, Math.max(a, b)),
        stringCurrent(string, Math.min(a, b)),
      ]
      assert.ok(Number.isFinite(high) && Number.isFinite(low), `${high} and ${low}`)
      assert.ok(high <= low + 1e-9 * Math.abs(low))
    }),
    { numRuns: 500 },
  )
})

test('shade and series resistance never raise power', () => {
  fc.assert(
    fc.property(string_of_groups, share, fc.nat(59), (given, shade, count) => {
      const [first, ...others] = given.groups as [SubstringGroup, ...SubstringGroup[]]
      const power = (groups: SubstringGroup[], series_resistance_ohm: number) =>
        stringPeaks(build({ groups, series_resistance_ohm })).global.power_w
      const power_w = power(given.groups, given.series_resistance_ohm) * (1 + 1e-12)
      const some = Math.min(count, first.count)
      const rest = { ...first, count: first.count - some }
      // The irradiance changes photocurrent and shunt alike.
      const dimmed = {
        circuit: {
          ...first.circuit,
          i_l_a: first.circuit.i_l_a * shade,
          g_sh_s: first.circuit.g_sh_s * shade,
        },
        count: some,
      }
      assert.ok(power([rest, dimmed, ...others], given.series_resistance_ohm) <= power_w)
      assert.ok(power(given.groups, given.series_resistance_ohm + 1) <= power_w)
    }),
    { numRuns: 300 },
  )
})

test('a failed bypass diode removes the voltage of its substring', () => {
  fc.assert(
    fc.property(string_of_groups, fc.integer({ min: 1, max: 60 }), (given, some) => {
      const [first] = given.groups as [SubstringGroup]
      const failed = { ...first, count: Math.min(some, first.count), is_bypassed: true }
      const groups = [...given.groups, { ...first, count: first.count }]
      const whole = build({ ...given, groups })
      const left = build({
        ...given,
        groups: [...given.groups, { ...first, count: first.count - failed.count }, failed],
      })
      const lost_v = stringOpenCircuitVoltage(whole) - stringOpenCircuitVoltage(left)
      const expected_v = failed.count * openCircuitVoltage(first.circuit)
      assertWithin(lost_v, expected_v, 1e-9, 'open circuit voltage lost')
      // Lit, it takes power too; in shade the short circuit spares the drop of the diode.
      const volts = failed.count * bypass_voltage_v
      const peak = stringPeaks(left).global
      const power_w = stringPeaks(whole).global.power_w
      assert.ok(peak.power_w <= (power_w + volts * peak.current_a) * (1 + 1e-12))
    }),
    { numRuns: 200 },
  )
})

test('an unshaded string equals one circuit', () => {
  const module = cecSingleDiode(modules[3]!, 830, 51)
  const string = shadedString([{ circuit: substringCircuit(module, 3), count: 54 }])
  const whole = seriesParallel(module, 18, 1)
  const expected = maximumPowerPoint(whole)
  const { global, local } = stringPeaks(string)
  assert.equal(local.length, 1)
  assertWithinRatio(global.power_w, expected.power_w, 1e-12, 'power')
  assertWithinRatio(global.voltage_v, expected.voltage_v, 1e-9, 'voltage')
  for (const volts of ivCurve(whole, 50).voltage_v) {
    const current_a = stringCurrent(string, volts)
    assertWithin(current_a, currentAtVoltage(whole, volts), 1e-11, `current at ${volts}`)
  }
})

test('a half shaded string has two peaks, whose order depends on the shade', () => {
  const peaks = (shaded_g: number) =>
    stringPeaks(
      shadedString([group(modules[0]!, [1000, 45, 30]), group(modules[0]!, [shaded_g, 45, 30])]),
    )
  for (const shaded_g of [200, 800]) assert.equal(peaks(shaded_g).local.length, 2)
  const [deep, light_shade] = [peaks(200), peaks(800)]
  assert.equal(deep.global, deep.local[1])
  assert.equal(light_shade.global, light_shade.local[0])
  assert.ok(deep.global.voltage_v < light_shade.global.voltage_v / 1.8)
})

test('a dark string has no power', () => {
  const none = { voltage_v: 0, current_a: 0, power_w: 0 }
  const dark = shadedString([group(modules[0]!, [0, 10, 60])])
  assert.deepEqual(stringPeaks(dark), { global: none, local: [] })
  assert.equal(stringOpenCircuitVoltage(dark), 0)
})

test('a string may have no resistance', () => {
  const { circuit, count } = group(modules[0]!, [900, 10, 3])
  const string = shadedString([{ circuit: { ...circuit, r_s_ohm: 0 }, count }])
  const v_oc = stringOpenCircuitVoltage(string)
  for (const part of [0, 0.5, 1, 1.2]) {
    const current_a = stringCurrent(string, part * v_oc)
    assertWithin(stringVoltage(string, current_a), part * v_oc, 1e-9, `${part} of Voc`)
  }
})

test('NaN gives NaN', () => {
  const string = shadedString([group(modules[0]!, [900, 10, 3])])
  assert.ok(Number.isNaN(stringCurrent(string, Number.NaN)))
  assert.ok(Number.isNaN(stringVoltage(string, Number.NaN)))
})

test('an impossible string is refused', () => {
  const { circuit } = group(modules[0]!, [900, 10, 1])
  assert.throws(() => shadedString([{ circuit, count: -1 }]), /count: -1/)
  assert.throws(() => shadedString([{ circuit, count: 1.5 }]), /count: 1.5/)
  assert.throws(() => shadedString([{ circuit, count: 3, is_bypassed: true }]), /groups/)
  assert.throws(
    () => shadedString([{ circuit, count: 3 }], { series_resistance_ohm: -1 }),
    /series_resistance_ohm: -1/,
  )
})

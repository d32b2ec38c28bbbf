import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CecFit, type Datasheet, fitCecModule } from './cec-fit.ts'
import { assertWithin, assertWithinRatio, thinnedRows } from './fixtures/oracle.ts'
import { moduleOfReference, no_panel_list, panelList } from './fixtures/panel-list.ts'
import { uniform } from './fixtures/uniform.ts'
import { characteristicPoints } from './iv-curve.ts'
import {
  type CecModule,
  cecSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
} from './single-diode.ts'

const powerOf = (module: CecModule, cell_c: number) =>
  maximumPowerPoint(cecSingleDiode(module, 1000, cell_c)).power_w

/** The mean of the steps of 3 degrees from -10 to 50, as the paper takes it. */
function powerCoefficient(module: CecModule): number {
  let sum_w = 0
  for (let cell_c = -10; cell_c < 50; cell_c += 3) {
    sum_w += powerOf(module, cell_c + 3) - powerOf(module, cell_c)
  }
  return ((sum_w / 60) * 100) / powerOf(module, 25)
}

function assertMeets({ module, i_sc_ratio }: CecFit, sheet: Datasheet, what: string): void {
  const points = characteristicPoints(cecSingleDiode(module, 1000, 25))
  assertWithinRatio(points.v_oc_v, sheet.v_oc_v, 1e-9, `${what}: Voc`)
  assertWithinRatio(points.i_mp_a, sheet.i_mp_a, 1e-9, `${what}: Imp`)
  assertWithinRatio(points.v_mp_v, sheet.v_mp_v, 1e-9, `${what}: Vmp`)
  assertWithinRatio(points.i_sc_a, sheet.i_sc_a * i_sc_ratio, 1e-9, `${what}: Isc`)
  assertWithin(powerCoefficient(module), sheet.gamma_pmp_pct_per_c, 1e-6, `${what}: gamma`)
  // The listed coefficient of voltage, adjusted.
  const warm_v = openCircuitVoltage(cecSingleDiode(module, 1000, 30))
  const beta = sheet.beta_oc_v_per_c * (1 + module.adjust_pct / 100)
  assertWithinRatio((warm_v - sheet.v_oc_v) / 5, beta, 1e-6, `${what}: beta`)
  assert.ok(module.r_s_ohm >= 0 && module.r_sh_ref_ohm > 0 && module.i_o_ref_a > 0, what)
}

// No maker's figures: of the size that sheets of each kind have. Isc, Voc, Imp, Vmp, the three
// coefficients, and whether a circuit meets the short circuit current as well.
const sheets: [string, ...number[]][] = [
  ['multi, 60 cells', 8.9, 37.8, 8.4, 30.5, 0.0047, -0.121, -0.42],
  ['multi, 36 cells', 5.2, 22.1, 4.85, 17.8, 0.0026, -0.0752, -0.45],
  ['mono, 72 cells', 9.8, 47.2, 9.3, 38.6, 0.0049, -0.137, -0.4],
  ['passivated rear, 144 half cells', 11.4, 49.6, 10.8, 41.4, 0.0055, -0.134, -0.35],
  ['passivated rear, 120 half cells of 210 mm', 18.4, 41.3, 17.4, 34.6, 0.0074, -0.103, -0.34],
  ['tunnel oxide, 144 half cells', 14.3, 51.9, 13.5, 43.3, 0.0064, -0.13, -0.3],
  ['heterojunction, 132 half cells', 18.3, 50.0, 17.4, 42.0, 0.0073, -0.12, -0.26],
  ['back contact, 96 cells', 6.5, 68.2, 6.1, 57.3, 0.0035, -0.167, -0.35],
  ['shingled', 10.2, 46.9, 9.6, 39.0, 0.0041, -0.127, -0.36],
  ['cadmium telluride', 2.6, 219, 2.4, 180, 0.001, -0.613, -0.32],
  ['copper indium gallium selenide', 2.2, 112, 1.9, 87, 0.0002, -0.31, -0.36],
  ['amorphous, tandem', 3.4, 71, 2.7, 53, 0.0027, -0.22, -0.25],
]

function sheetOf([, ...numbers]: [string, ...number[]]): Datasheet {
  const [i_sc_a, v_oc_v, i_mp_a, v_mp_v, alpha, beta, gamma] = numbers as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    i_sc_a,
    v_oc_v,
    i_mp_a,
    v_mp_v,
    alpha_sc_a_per_c: alpha,
    beta_oc_v_per_c: beta,
    gamma_pmp_pct_per_c: gamma,
  }
}

for (const row of sheets) {
  test(`a data sheet is fitted: ${row[0]}`, () => {
    const sheet = sheetOf(row)
    const fit = fitCecModule(sheet)
    assertMeets(fit, sheet, row[0])
    assert.ok(fit.i_sc_ratio < 1.03 && fit.i_sc_ratio > 1 - 1e-9, `${fit.i_sc_ratio}`)
  })
}

test('the data sheet of a circuit gives the same circuit', () => {
  for (const row of thinnedRows('cec_modules_used')) {
    const module = moduleOfReference(row)
    const points = characteristicPoints(cecSingleDiode(module, 1000, 25))
    const warm_v = openCircuitVoltage(cecSingleDiode(module, 1000, 30))
    const { module: fitted, i_sc_ratio } = fitCecModule({
      i_sc_a: points.i_sc_a,
      v_oc_v: points.v_oc_v,
      i_mp_a: points.i_mp_a,
      v_mp_v: points.v_mp_v,
      alpha_sc_a_per_c: module.alpha_sc_a_per_c,
      beta_oc_v_per_c: (warm_v - points.v_oc_v) / 5 / (1 + module.adjust_pct / 100),
      gamma_pmp_pct_per_c: powerCoefficient(module),
    })
    assertWithin(i_sc_ratio, 1, 1e-9, row.text('Name'))
    for (const name of Object.keys(module) as (keyof CecModule)[]) {
      const ratio = name === 'r_sh_ref_ohm' ? 1e-5 : 1e-6
      assertWithinRatio(fitted[name], module[name], ratio, `${row.text('Name')}: ${name}`)
    }
  }
})

test('every data sheet of the CEC list is fitted', { skip: no_panel_list }, () => {
  const rows = panelList(60)
  let exact = 0
  for (const row of rows) {
    const number = (column: string) => Number(row[column])
    const sheet: Datasheet = {
      i_sc_a: number('I_sc_ref'),
      v_oc_v: number('V_oc_ref'),
      i_mp_a: number('I_mp_ref'),
      v_mp_v: number('V_mp_ref'),
      alpha_sc_a_per_c: number('alpha_sc'),
      beta_oc_v_per_c: number('beta_oc'),
      gamma_pmp_pct_per_c: number('gamma_r'),
    }
    const fit = fitCecModule(sheet)
    assertMeets(fit, sheet, row['Name']!)
    assertWithin(fit.i_sc_ratio, 1, 0.05, row['Name']!)
    if (Math.abs(fit.i_sc_ratio - 1) < 1e-9) exact++
  }
  assert.ok(exact > rows.length * 0.7, `${exact} of ${rows.length} with their short circuit`)
})

test('any data sheet is fitted or refused', () => {
  let met = 0
  fc.assert(
    fc.property(
      fc.record({
        i_sc_a: uniform(0.1, 25),
        v_oc_v: uniform(1, 300),
        fill: fc.tuple(uniform(0.7, 1.01), uniform(0.6, 1.01)),
        alpha: uniform(-1e-3, 3e-3),
        beta: uniform(-5e-3, 1e-4),
        gamma_pmp_pct_per_c: uniform(-0.7, 0.01),
      }),
      ({ i_sc_a, v_oc_v, fill, alpha, beta, gamma_pmp_pct_per_c }) => {
        const sheet: Datasheet = {
          i_sc_a,
          v_oc_v,
          i_mp_a: i_sc_a * fill[0],
          v_mp_v: v_oc_v * fill[1],
          alpha_sc_a_per_c: i_sc_a * alpha,
          beta_oc_v_per_c: v_oc_v * beta,
          gamma_pmp_pct_per_c,
        }
        let fit: CecFit
        try {
          fit = fitCecModule(sheet)
        } catch (error) {
          assert.match(String(error), /^RangeError: [a-z_]+: /)
          return
        }
        met++
        assert.ok(fit.i_sc_ratio > 0.9 && fit.i_sc_ratio < 1.11, `${fit.i_sc_ratio}`)
        assertMeets(fit, sheet, JSON.stringify(sheet))
      },
    ),
    { numRuns: 300 },
  )
  assert.ok(met > 10, `${met} met`)
})

test('an impossible data sheet is refused by the name of its field', () => {
  const sheet = sheetOf(sheets[0]!)
  const refusals: [Partial<Datasheet>, RegExp][] = [
    [{ i_mp_a: sheet.i_sc_a }, /^i_mp_a: 8.9 is not below i_sc_a/],
    [{ v_mp_v: 40 }, /^v_mp_v: 40 is not below v_oc_v/],
    [{ i_sc_a: Number.NaN }, /^i_sc_a: NaN is not a number/],
    [{ v_oc_v: Number.POSITIVE_INFINITY }, /^v_oc_v: Infinity is not a number/],
    [{ alpha_sc_a_per_c: Number.NaN }, /^alpha_sc_a_per_c: NaN/],
    [{ i_mp_a: 0 }, /^i_mp_a: 0 is not above 0/],
    [{ i_mp_a: 4.4 }, /^i_mp_a: 4.4 is not above half of i_sc_a/],
    [{ v_mp_v: 18 }, /^v_mp_v: 18 is not above half of v_oc_v/],
    [{ v_mp_v: -30 }, /^v_mp_v: -30 is not above 0/],
    [{ beta_oc_v_per_c: 0.1 }, /^beta_oc_v_per_c: 0.1 is not below 0/],
    [{ gamma_pmp_pct_per_c: 0 }, /^gamma_pmp_pct_per_c: 0 is not below 0/],
    [{ gamma_pmp_pct_per_c: -4 }, /^gamma_pmp_pct_per_c: no circuit of this curve and beta has -4/],
    [
      { gamma_pmp_pct_per_c: -0.01 },
      /^gamma_pmp_pct_per_c: no circuit of this curve and beta has -0.01/,
    ],
  ]
  // The current follows the temperature here, and the voltage hardly: no adjustment settles.
  const strange = sheetOf([
    '',
    9,
    38,
    7.131217561732046,
    29.948623220506125,
    -0.005935230195522308,
    -0.00060891130091214,
    -0.05156065295450389,
  ])
  refusals.push([strange, /^gamma_pmp_pct_per_c: no circuit/])
  for (const [fields, message] of refusals) {
    assert.throws(() => fitCecModule({ ...sheet, ...fields }), { name: 'RangeError', message })
  }
})

/**
 * The diagnosis against simulated inverters with labelled faults: strings in pairs on one MPPT,
 * clipping, curtailment, east and west, unequal lengths. A string is judged from the beginning of
 * its fault and its partner's on.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { StringModel } from './expected-string.ts'
import { Confusion } from './fixtures/confusion.ts'
import type { LabelledString } from './fixtures/labelled-strings.ts'
import { diagnoseString } from './iv-diagnosis.ts'
import { ivPoint } from './iv-points.ts'

interface Scenario {
  file: string
  module: string
  strings: (LabelledString & { modules: number })[]
}

const shared = new URL('../../../../shared/data/', import.meta.url)
const folder = new URL('oracle/string_health/', shared)
const library = new URL('panels/cec-modules-merged.csv', shared)
const missing = [folder, library].find((url) => !existsSync(url))
const skip = missing ? `no reference data at ${missing.pathname}` : false

/** Cells of a line of comma separated values, where quotes may hold commas. */
function cells(line: string): string[] {
  return [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map(([, plain, quoted]) => quoted ?? plain!)
}

function readModules(): (name: string) => StringModel['module'] {
  const [header = '', ...lines] = readFileSync(library, 'utf8').trim().split('\n')
  const columns = cells(header)
  const byName = new Map(lines.map((line) => [cells(line)[0]!.replaceAll(',', '_'), line]))
  return (name) => {
    const row = cells(byName.get(name) ?? assert.fail(`the library has no ${name}`))
    const value = (column: string) => Number(row[columns.indexOf(column)])
    return {
      power_stc_w: value('STC'),
      a_ref_v: value('a_ref'),
      i_l_ref_a: value('I_L_ref'),
      i_o_ref_a: value('I_o_ref'),
      r_s_ohm: value('R_s'),
      r_sh_ref_ohm: value('R_sh_ref'),
      alpha_sc_a_per_c: value('alpha_sc'),
      adjust_pct: value('Adjust'),
    }
  }
}

type Row = (column: string) => number | null

function readRows({ file }: Scenario): { measured_at: string; cell: Row }[] {
  const [header = '', ...lines] = readFileSync(new URL(file, folder), 'utf8').trim().split('\n')
  const columns = header.split(',')
  return lines.map((line) => {
    const row = line.split(',')
    const cell: Row = (column) => {
      const text = row[columns.indexOf(column)]
      return text === undefined || text === '' ? null : Number(text)
    }
    return { measured_at: row[0]!, cell }
  })
}

function diagnose(scenario: Scenario, module: StringModel['module'], index: number): string {
  const string = scenario.strings[index]!
  const partners = scenario.strings.filter(
    ({ mppt, connected, index: other }) => mppt === string.mppt && connected && other !== index,
  )
  const onset = Math.max(0, ...[string, ...partners].map((each) => each.onset ?? 0))
  const model = { module, module_count: string.modules }
  const points = readRows(scenario)
    .slice(onset)
    .map(({ measured_at, cell }) => {
      const poa = cell(`poa_${string.orientation}`)
      const light = {
        poa_irradiance_w_m2: poa,
        effective_irradiance_w_m2: poa,
        // The simulation's module temperature is that of its cells.
        cell_temperature_c: cell('t_module'),
        source: 'reference_cell' as const,
        reason: null,
        is_night: false,
      }
      const point = ivPoint(model, light, {
        measured_at,
        current_a: cell(`i${index}`),
        voltage_v: cell(`v${string.mppt}`),
        is_curtailed: cell('curtailed') === 1,
        is_clipped: (cell('pac_kw') ?? 0) >= 0.985 * (cell('limit_kw') ?? Infinity),
        is_stale: string.fault === 'stuck',
      })
      return { ...point, partner_currents_a: partners.map((each) => cell(`i${each.index}`)) }
    })
  const { diagnosis, reason } = diagnoseString(model, points)
  return diagnosis ?? `(${reason})`
}

test('labelled faults get their names', { skip }, (t) => {
  const text = readFileSync(new URL('scenarios.json', folder), 'utf8')
  const scenarios: Scenario[] = JSON.parse(text)
  const moduleOf = readModules()
  const confusion = new Confusion()
  for (const scenario of scenarios) {
    const module = moduleOf(scenario.module)
    for (const { index, connected, fault } of scenario.strings) {
      if (connected) confusion.add(fault, diagnose(scenario, module, index))
    }
  }
  confusion.print(t)
  for (const [fault, share_min, ...names] of [
    ['none', 0.98, 'normal'],
    ['open', 1, 'open'],
    ['soiling', 0.9, 'current_loss'],
    ['series_r', 0.9, 'series_resistance'],
    ['bypass', 0.8, 'voltage_loss'],
    ['shade_pm', 0.8, 'shading_or_mismatch'],
    ['stuck', 1, '(insufficient_data)'],
    ['missing', 0.9, 'normal', '(insufficient_data)'],
  ] as const) {
    const share = confusion.share(fault, ...names)
    assert.ok(share >= share_min, `${fault}: only ${share} are ${names.join(' or ')}`)
  }
})

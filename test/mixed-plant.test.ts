/** Strings that face several ways, which nobody described, beside each other. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { stringsOf } from '@heliograph/domain/site'
import {
  comparedInGroups,
  withMeasuredGroups,
} from '@heliograph/server/performance/diagnostics/measured-orientation'
import { judgeStrings } from '@heliograph/server/performance/diagnostics/string-health'
import {
  addSums,
  type StringSample,
  sumStrings,
} from '@heliograph/server/performance/diagnostics/string-sums'
import { layoutOf } from '@heliograph/server/performance/rollups/inverter-span'
import type { Fault } from '@heliograph/simulator/faults'
import {
  mixedSite,
  module_tolerance_sigma,
  undescribed,
} from '@heliograph/simulator/fixtures/mixed-site'
import { createSimulation } from '@heliograph/simulator/site'

const step_ms = 300_000
const days = 5
const first_ms = Date.UTC(2026, 5, 10)

const faults: Fault[] = [
  { kind: 'soiled_string', inverter_id: 1, string_index: 2, value: 0.08 },
  { kind: 'open_string', inverter_id: 2, string_index: 12 },
  { kind: 'bypassed_substring', inverter_id: 3, string_index: 17, value: 6 },
  { kind: 'shaded_string', inverter_id: 4, string_index: 4 },
  { kind: 'soiled_string', inverter_id: 5, string_index: 18, value: 0.08 },
  { kind: 'resistive_string', inverter_id: 6, string_index: 14, value: 15 },
]

const nameOf = (inverter_id: number, string_index: number) => `${inverter_id}/${string_index}`
const faulty = new Set(
  faults.map((fault) => {
    const { inverter_id, string_index } = fault as { inverter_id: number; string_index: number }
    return nameOf(inverter_id, string_index)
  }),
)

function judgePlant() {
  const simulation = createSimulation(mixedSite, 5, {
    faults,
    mismatch_sigma: module_tolerance_sigma,
  })
  const steps = (days * day_ms) / step_ms
  const snapshots = Array.from({ length: steps }, (_, nth) =>
    simulation.at(first_ms + nth * step_ms),
  )
  const inverters = undescribed(mixedSite).loggers.flatMap((logger) => logger.inverters)
  return inverters.flatMap((inverter, at) => {
    const strings = stringsOf(inverter)
    const layout = layoutOf(
      strings.map((string) => ({
        ...string,
        inverter_id: inverter.inverter_id,
        dc_capacity_kwp: string.module_count * 0.45484,
      })),
    )
    const samples = snapshots.map(({ time_ms, inverters: all }): StringSample => {
      const { string_current_a, mppt_voltage_v, state } = all[at]!
      return {
        time_ms,
        current_a: string_current_a,
        voltage_v: strings.map(({ mppt_index }) => mppt_voltage_v[mppt_index]!),
        expected_kw: null,
        poa_w_m2: null,
        is_limited: state !== 'mppt',
      }
    })
    const hours = Array.from({ length: days * 24 }, (_, nth) => {
      const start_ms = first_ms + nth * hour_ms
      const from = Math.max(0, nth * 12 - 2)
      const around = samples.slice(from, nth * 12 + 15)
      const sums = sumStrings(layout, around, { start_ms, end_ms: start_ms + hour_ms })
      return { hour_at: new Date(start_ms), sums }
    })
    const grouped = withMeasuredGroups(layout, hours)
    const groupedSums = (parts: typeof hours) =>
      comparedInGroups(grouped, addSums(parts.map(({ sums }) => sums)))
    const by = (key: (at: Date) => number, from: number) =>
      [...Map.groupBy(hours.slice(from), ({ hour_at }) => key(hour_at)).values()].map(groupedSums)
    const of_days = by((hour_at) => Math.floor(hour_at.getTime() / day_ms), 0)
    const verdicts = judgeStrings(grouped, addSums(of_days), {
      days: of_days,
      hours: by((hour_at) => hour_at.getUTCHours(), hours.length - 48),
    })
    return verdicts.map((verdict, nth) => ({
      ...verdict,
      name: nameOf(inverter.inverter_id, nth),
      group: grouped[nth]!.group,
    }))
  })
}

const judged = judgePlant()

test('strings that face the same way are found by when their energy comes', () => {
  const groups = Map.groupBy(judged, ({ group, name }) => `${name.split('/')[0]} ${group}`)
  const sizes = [...groups.values()].map(({ length }) => length)
  assert.deepEqual(
    sizes.toSorted((a, b) => a - b),
    [4, 6, 10].flatMap((size) => new Array<number>(7).fill(size)),
  )
})

test('every fault is found, and hardly any sound string is on watch', (t) => {
  const flagged = judged.filter(({ is_culprit }) => is_culprit)
  for (const { name, status, own_ratio, suspected_cause } of flagged) {
    t.diagnostic(`${name}: ${status}, ${own_ratio?.toFixed(3)}, ${suspected_cause}`)
  }
  const missed = [...faulty].filter((name) => !flagged.some((one) => one.name === name))
  assert.deepEqual(missed, [])
  const wrong = flagged.filter(({ name }) => !faulty.has(name))
  t.diagnostic(`${wrong.length} of ${judged.length - faulty.size} sound strings are flagged`)
  assert.ok(wrong.length <= 3, `${wrong.length}`)
  assert.ok(wrong.every(({ own_ratio }) => own_ratio! < 0.97))
})

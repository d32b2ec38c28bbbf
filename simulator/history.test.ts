import assert from 'node:assert/strict'
import test from 'node:test'
import type { Frame, Readings } from '@heliograph/domain/link'
import { initialCounters } from './counters.ts'
import { smallSite } from './fixtures/site.ts'
import { historyFrameCount, historyFrames } from './history.ts'
import { createSimulation } from './site.ts'

const simulation = createSimulation(smallSite, 5)
const end = Date.UTC(2026, 5, 21, 10, 30)
const counters = initialCounters(smallSite, end)
const frames = (): Frame[] => [...historyFrames(simulation, { counters, days: 2 })]

const inverterRows = (all: Frame[]) =>
  all
    .flatMap(({ payload }) => {
      const { columns, rows } = (payload as Readings).inverter!
      return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
    })
    .filter(({ inverter_id }) => inverter_id === 1)
    .sort((a, b) => (a.measured_at as number) - (b.measured_at as number))

test('history is one frame an hour, a reading a minute, newest day first', () => {
  const all = frames()
  assert.equal(all.length, historyFrameCount(2))
  const seqs = all.map(({ seq }) => seq)
  assert.deepEqual(
    [...seqs].sort((a, b) => a - b),
    seqs.map((_, nth) => nth + 1),
  )
  assert.ok(Math.max(...seqs.slice(0, 24)) === 24)
  const rows = inverterRows(all)
  assert.equal(rows.length, 2 * 1440)
  rows.forEach(({ measured_at }, minute) => {
    assert.equal(measured_at, end - (2 * 1440 - minute) * 60_000)
  })
})

test('its counters rise without a jump and meet those of the live plant', () => {
  const energies = inverterRows(frames()).map(({ energy_total_kwh }) => energy_total_kwh as number)
  energies.reduce((before, after) => {
    assert.ok(after >= before && after - before < 33 / 60 + 0.01, `${before} to ${after}`)
    return after
  })
  const left = counters.inverters[1]!.ac_kwh - energies.at(-1)!
  assert.ok(left >= 0 && left < 33 / 60 + 0.01, `${left} kWh to the live counter`)
  assert.ok(energies.at(-1)! - energies[0]! > 100)
})

test('made again, it is the same: an interrupted import can go on', () => {
  assert.deepEqual(frames(), frames())
})

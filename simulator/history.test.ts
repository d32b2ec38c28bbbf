import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { type Frame, frame_length_max, type Readings } from '@heliograph/domain/link'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { initialCounters } from './counters.ts'
import { standingFaults } from './demo/faults.ts'
import { misplacedFaults, parseFault } from './faults.ts'
import { smallBattery } from './fixtures/battery.ts'
import { smallSite } from './fixtures/site.ts'
import { historyFrameCount, historyFrames } from './history.ts'
import { createSimulation } from './site.ts'

const simulation = createSimulation(smallSite, 5)
const end = Date.UTC(2026, 5, 21, 10, 30)
const counters = initialCounters(smallSite, end)
const frames = (of = simulation): Frame[] => [...historyFrames(of, { counters, days: 2 })]

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
  assert.equal(all.length, historyFrameCount(smallSite, 2))
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

test('an hour of many inverters is several frames of limited length', () => {
  const [plant] = smallSite.loggers
  const [group] = plant!.inverters[0]!.string_groups
  const inverters = Array.from({ length: 17 }, (_, nth) => ({
    ...plant!.inverters[0]!,
    inverter_id: nth + 1,
    unit_id: nth + 1,
    string_groups: [{ ...group!, strings: 24, strings_per_mppt: 2 }],
  }))
  const site = { ...smallSite, loggers: [{ ...plant!, inverters }] }
  assert.equal(historyFrameCount(site, 2), 2 * 24 * 2)
  const half_hours: Frame[] = []
  const around = initialCounters(site, end)
  for (const frame of historyFrames(createSimulation(site, 5), { counters: around, days: 1 })) {
    half_hours.push(frame)
    if (half_hours.length === 2) break
  }
  assert.deepEqual(
    half_hours.map(({ seq }) => seq),
    [48, 47],
  )
  for (const { payload } of half_hours) {
    const { inverter } = payload as Readings
    assert.equal(inverter!.rows.length, 17 * 30)
    // Of a thousand rows, which is the most, it would not be too long either.
    const { length } = JSON.stringify(payload)
    assert.ok((length * 1000) / inverter!.rows.length < frame_length_max, `${length}`)
  }
  assert.equal(new Set(inverterRows(half_hours).map((row) => row['measured_at'])).size, 60)
})

test('counters rise without a jump and meet those of the live plant', () => {
  const energies = inverterRows(frames()).map(({ energy_total_kwh }) => energy_total_kwh as number)
  energies.reduce((before, after) => {
    assert.ok(after >= before && after - before < 33 / 60 + 0.01, `${before} to ${after}`)
    return after
  })
  const left = counters.inverters[1]!.ac_kwh - energies.at(-1)!
  assert.ok(left >= 0 && left < 33 / 60 + 0.01, `${left} kWh to the live counter`)
  assert.ok(energies.at(-1)! - energies[0]! > 100)
})

test('history is deterministic, so that an interrupted import can continue', () => {
  assert.deepEqual(frames(), frames())
})

test('permanent faults are in the history and in the live plant', () => {
  const faults = ['open_string:1/1', 'limit:1=30', 'soiled_string:1/3=0.2@2026-06-20'].map(
    parseFault,
  )
  const faulty = createSimulation(smallSite, 5, { faults })
  const rows = inverterRows(frames(faulty))
  for (const { power_limit_pct, ac_power_kw } of rows) {
    assert.equal(power_limit_pct, 30)
    assert.ok((ac_power_kw as number) <= 0.3 * 33 + 0.005)
  }
  const strings = frames(faulty).flatMap(({ payload }) => {
    const { columns, rows } = (payload as Readings).string!
    const [time, currents, id] = ['measured_at', 'current_a', 'inverter_id'].map((name) =>
      columns.indexOf(name),
    )
    return rows
      .filter((row) => row[id!] === 1)
      .map((row) => ({ at: row[time!] as number, currents: row[currents!] as number[] }))
  })
  assert.equal(strings.length, 2 * 1440)
  const soiled = (from: number) => {
    const part = strings.filter(
      ({ at, currents }) => at >= from && at < from + 4e7 && currents[2]! > 2,
    )
    return part.reduce((sum, { currents }) => sum + currents[3]! / currents[2]!, 0) / part.length
  }
  assert.ok(strings.every(({ currents }) => currents[1] === 0))
  assert.ok(soiled(Date.UTC(2026, 5, 20)) < soiled(Date.UTC(2026, 5, 19)) - 0.1)
})

test('the demo site has one permanent fault of each of four kinds', () => {
  const file = readFileSync(new URL('demo/site.yaml', import.meta.url), 'utf8')
  const parsed = parseSiteFile(file)
  assert.ok('site' in parsed)
  const { site } = parsed
  const faults = standingFaults(site)
  assert.deepEqual(misplacedFaults(site, faults), [])
  assert.deepEqual(faults.map(({ kind }) => kind).sort(), [
    'bypassed_substring',
    'open_string',
    'shaded_string',
    'soiled_string',
  ])
  const demo = createSimulation(site, 5)
  assert.deepEqual(demo.faults, faults)
  const noon = demo.at(Date.UTC(2026, 5, 20, 11))
  assert.equal(noon.inverters[9]!.string_current_a[7], 0)
  assert.deepEqual(standingFaults({ ...site, site_id: 'mine' }), [])
})

test('batteries are in the history, and in the meter', () => {
  const site = { ...smallSite, batteries: [smallBattery] }
  const rowsOf = (all: Frame[], kind: 'bess' | 'pcs' | 'meter') =>
    all
      .flatMap(({ payload }) => {
        const { columns, rows } = (payload as Readings)[kind]!
        return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
      })
      .sort((a, b) => (a.measured_at as number) - (b.measured_at as number))
  const withOne = frames(createSimulation(site, 5))
  const [bess, pcs] = [rowsOf(withOne, 'bess'), rowsOf(withOne, 'pcs')]
  assert.deepEqual([bess.length, pcs.length], [2 * 1440, 2 * 1440])
  assert.ok(pcs.every(({ frequency_hz }) => (frequency_hz as number) > 49))
  const [before, after] = [rowsOf(frames(), 'meter'), rowsOf(withOne, 'meter')]
  const strays = after.map(({ active_power_kw }, nth) => {
    const added_kw = (active_power_kw as number) - (before[nth]!.active_power_kw as number)
    return Math.abs(added_kw - (bess[nth]!.power_kw as number))
  })
  // Beside its own supply.
  assert.ok(Math.max(...strays) < 5, `${Math.max(...strays)} kW`)
  assert.ok(bess.some(({ power_kw }) => (power_kw as number) > 20))
})

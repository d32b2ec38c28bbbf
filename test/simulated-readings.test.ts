/** What the simulator says of the past, against what the edge reads from it over Modbus. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import { openBus } from '@heliograph/edge/bus/bus'
import { sunspec } from '@heliograph/edge/drivers/sunspec'
import { advance, initialCounters } from '@heliograph/simulator/counters'
import { parseFault } from '@heliograph/simulator/faults'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { serveModbus } from '@heliograph/simulator/modbus'
import { createPlant } from '@heliograph/simulator/plant'
import { readingsAt } from '@heliograph/simulator/readings'
import { createSimulation } from '@heliograph/simulator/site'
import { freePort } from './end-to-end/programs.ts'

const silent = { debug() {}, warn() {} }
/** Half a step of the coarsest register beside each quantity, as a share, plus half a unit. */
const tolerance = (value: number) => Math.abs(value) * 0.002 + 0.06

function assertAlike(read: object, made: object, where: string): void {
  for (const [name, expected] of Object.entries(made)) {
    const value = (read as Record<string, unknown>)[name]
    const at = `${where}.${name}`
    if (typeof expected === 'number') {
      assert.equal(typeof value, 'number', at)
      assert.ok(Math.abs((value as number) - expected) <= tolerance(expected), `${at}: ${value}`)
    } else if (Array.isArray(expected)) {
      assert.equal((value as unknown[])?.length, expected.length, at)
      assertAlike({ ...(value as unknown[]) }, { ...expected }, at)
    } else assert.equal(value, expected, at)
  }
}

const frame = ['measured_at', 'quality', 'inverter_id', 'station_id', 'meter_id']
const valuesOf = (reading: object) =>
  Object.fromEntries(Object.entries(reading).filter(([name]) => !frame.includes(name)))

for (const [when, time] of [
  ['by day', '2026-06-20T08:30:00Z'],
  ['at night', '2026-06-20T00:00:00Z'],
]) {
  test(`${when}, history and live readings are alike`, async (t) => {
    const now = new Date(time!)
    const field = { ...smallSite.connections[0]!, port: await freePort() } as Connection
    const site = { ...smallSite, connections: [field] }
    const counters = initialCounters(site, now.getTime() - 60_000)
    const faults = ['limit:1=30', 'bypassed_substring:1/1=6', 'soiled_string:1/2=0.2'].map(
      parseFault,
    )
    const simulation = createSimulation(site, 8, { faults })
    advance(counters, simulation.at(now.getTime()), now.getTime())
    const plant = createPlant(simulation, counters, { clock: { now: () => now } })
    const served = await serveModbus(plant, silent)
    const bus = openBus(field, { timers: systemTimers, random: () => 0.5 })
    t.after(async () => {
      await bus.close()
      await served.close()
    })
    const made = readingsAt(simulation, plant.snapshot(), counters)
    const [inverter] = site.loggers[0]!.inverters
    const answer = await (await sunspec.openInverter(bus, inverter!)).read()
    assert.deepEqual(answer.complaints, [])
    assertAlike(answer.values.inverter, valuesOf(made.inverter[0]!), 'inverter')
    assertAlike(answer.values.strings!, { current_a: made.string[0]!.current_a }, 'string')

    const [station] = site.loggers[0]!.stations!
    const weather = await (await sunspec.openStation(bus, station!)).read()
    assertAlike(weather.values, valuesOf(made.weather[0]!), 'weather')

    const meter = await (await sunspec.openMeter(bus, site.meters![0]!)).read()
    // A counter that stands at 0 counts as not implemented.
    const imported = { energy_import_kwh: made.meter[0]!.energy_import_kwh || null }
    assertAlike(meter.values, { ...valuesOf(made.meter[0]!), ...imported }, 'meter')
  })
}

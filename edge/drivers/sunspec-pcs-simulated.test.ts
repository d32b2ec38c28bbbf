/** A PCS that takes a limit for its setpoint, from socket to setpoint: simulated, and commanded. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import { initialCounters } from '../../simulator/counters.ts'
import { smallBattery } from '../../simulator/fixtures/battery.ts'
import { smallSite } from '../../simulator/fixtures/site.ts'
import { serveModbus } from '../../simulator/modbus.ts'
import { createPlant } from '../../simulator/plant.ts'
import { createSimulation } from '../../simulator/site.ts'
import { freePort } from '../../test/end-to-end/programs.ts'
import { ControlledUnit } from '../battery/controlled-unit.ts'
import { decideDispatch } from '../battery/decide-dispatch.ts'
import { openBus } from '../bus/bus.ts'
import { SourceBook } from '../control/source-book.ts'
import { sunspec } from './sunspec.ts'

const silent = { debug() {}, warn() {} }

/** The simulated battery behind a socket, and what the edge has of it. */
async function commanded(t: TestContext) {
  const connection = { ...smallSite.connections[0]!, port: await freePort() } as Connection
  const [converter] = smallBattery.pcs
  const battery = {
    ...smallBattery,
    model: 'Simulated 123',
    pcs: [{ ...converter!, wmaxlimpct_is_setpoint: true }],
  }
  const site = { ...smallSite, connections: [connection], batteries: [battery] }
  let now_ms = Date.parse('2026-06-20T11:00:00Z')
  const clock = { now: () => new Date(now_ms) }
  const simulation = createSimulation(site, 3)
  const plant = createPlant(simulation, initialCounters(site, now_ms), { clock })
  const served = await serveModbus(plant, silent)
  const open = () => openBus(connection, { timers: systemTimers, random: () => 0 })
  const [bus, foreign] = [open(), open()]
  t.after(async () => {
    await Promise.all([bus.close(), foreign.close()])
    await served.close()
  })
  const stopwatch = { elapsedMs: () => now_ms }
  const book = new SourceBook(0)
  const unit = new ControlledUnit(battery, { interval_s: 2, stopwatch }, book)
  book.describe(
    'pcs',
    unit.pcs.map(({ power }) => power.traits),
  )
  const pcs = await sunspec.openPcs!(bus, battery.pcs[0]!)
  const bms = await sunspec.openBattery!(bus, battery)
  return {
    unit,
    pcs,
    battery,
    foreign,
    /** Time passes, and both are read. */
    async pass(seconds: number) {
      for (let nth = 0; nth < seconds; nth += 2) {
        now_ms += 2000
        const stamp = { measured_at: now_ms, quality: 'good' } as const
        const read = { heartbeat_ok: null, stamp }
        const { values: answer } = await pcs.read()
        unit.onPcs(0, { ...read, control: pcs.control, answer })
        unit.onBattery({ ...read, device: bms, answer: (await bms.read()).values })
      }
      return (await pcs.read()).values
    },
    decide: (asked_w: number) =>
      decideDispatch({
        ...unit.now([]),
        asked_w,
        room: { discharge_w: Number.POSITIVE_INFINITY, tier: 'operator' },
        granted_w: Number.POSITIVE_INFINITY,
      }),
  }
}

const mayStill = () => true

test('by model 123 over a socket it discharges, is read back, and stops at 0 %', async (t) => {
  const { unit, pass } = await commanded(t)
  await pass(2)
  const [controlled] = unit.pcs
  await controlled!.carryOut({ power_w: controlled!.settable(37_450), mayStill })
  assert.ok(controlled!.power.isAt(37_400), `${controlled!.failure}`)
  assert.deepEqual(controlled!.complaints, [
    'model 123: no timer of the device ends its setpoint when the edge falls silent',
  ])
  const after = await pass(60)
  assert.ok(Math.abs(after.pcs.ac_power_kw! - 37.4) < 0.1, `${after.pcs.ac_power_kw} kW`)
  assert.equal(after.pcs.setpoint_kw, 37.4)
  assert.equal(controlled!.needs(37_400), false, 'it stays, without another write')
  await controlled!.carryOut({ power_w: 0, mayStill })
  assert.ok(controlled!.power.isAt(0), 'an enabled limit of 0 %, not none')
  const rest = await pass(20)
  assert.ok(Math.abs(rest.pcs.ac_power_kw!) < 1, `${rest.pcs.ac_power_kw} kW`)
})

test('it is never charged, and a schedule that asks for it is reported as impossible', async (t) => {
  const { unit, pcs, decide, pass } = await commanded(t)
  await pass(2)
  await unit.pcs[0]!.carryOut({ power_w: 0, mayStill })
  await pass(2)
  assert.equal((await pcs.read()).values.pcs.max_charge_power_kw, 0)
  assert.equal(unit.pcs[0]!.settable(-50_000), 0)
  const { setpoint_w, tier, overrode_tier, clamp_reason, code } = decide(-50_000)
  assert.deepEqual(
    { setpoint_w, tier, overrode_tier, clamp_reason, code },
    {
      setpoint_w: 0,
      tier: 'protection',
      overrode_tier: 'dispatch',
      clamp_reason: 'power_limit',
      code: 'pcs_limit',
    },
  )
  assert.equal(decide(50_000).code, 'schedule')
})

test('an external setpoint is detected by the next read, and replaced', async (t) => {
  const { unit, pcs, battery, foreign, pass } = await commanded(t)
  await pass(2)
  const [controlled] = unit.pcs
  await controlled!.carryOut({ power_w: 20_000, mayStill })
  await pass(2)
  assert.equal(controlled!.needs(20_000), false)
  const { unit_id } = battery.pcs[0]!
  const at = await addressOf123(foreign, unit_id)
  for (const [offset, word, setpoint_w] of [
    [5, 900, 90_000],
    [9, 0, null],
  ] as const) {
    await foreign.writeRegisters(unit_id, at + offset, [word])
    // The read next to a write of ours may have begun before it.
    await pass(4)
    assert.equal((await pcs.read()).values.power!.setpoint_w, setpoint_w)
    assert.equal(controlled!.needs(20_000), true)
    await controlled!.carryOut({ power_w: 20_000, mayStill })
    assert.ok(controlled!.power.isAt(20_000))
  }
  await foreign.writeRegisters(unit_id, at + 7, [20])
  await pass(2)
  const { revert } = (await pcs.read()).values.power!
  assert.deepEqual(revert, { in_ms: 0, to_w: 100_000 }, 'it counts with all that it can')
  await controlled!.carryOut({ power_w: 20_400, mayStill })
  assert.deepEqual([...(await foreign.readHoldingRegisters(unit_id, at + 7, 1))], [0])
  const later = await pass(60)
  assert.ok(Math.abs(later.pcs.ac_power_kw! - 20.4) < 0.1, `${later.pcs.ac_power_kw} kW`)
})

async function addressOf123(bus: ReturnType<typeof openBus>, unit_id: number): Promise<number> {
  for (let at = 40_002; ; ) {
    const [id, length] = await bus.readHoldingRegisters(unit_id, at, 2)
    if (id === 123) return at
    assert.notEqual(id, 0xffff, 'no model 123')
    at += length! + 2
  }
}

/** The registers of simulated batteries, read and written as a master would. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import { decode } from '@heliograph/domain/sunspec/codec'
import { type ModelId, models } from '@heliograph/domain/sunspec/models'
import {
  createBatteries,
  initialUnits,
  resumedUnits,
  type UnitStates,
} from '../batteries/batteries.ts'
import { cellsOf } from '../batteries/battery-snapshot.ts'
import { type Fault, parseFault } from '../faults.ts'
import { containerBattery, smallBattery } from '../fixtures/battery.ts'
import { smallSite } from '../fixtures/site.ts'
import { bmsUnits } from './sunspec-battery.ts'
import { pcsUnit } from './sunspec-pcs.ts'

const grid = () => ({ frequency_hz: 50.01, voltage_ratio: 1 })

/** A battery whose clock the test moves. */
function simulated(battery: Battery, faults: Fault[] = [], states?: UnitStates) {
  const site = { ...smallSite, batteries: [battery] }
  const start_ms = Date.parse('2026-06-20T11:00:00Z')
  let now_ms = start_ms
  const initial = initialUnits(site, { seed: 1, time_ms: now_ms })
  const saved = states === undefined ? initial : resumedUnits(initial, states)
  const { units } = createBatteries(site, saved, {
    seed: 1,
    now_ms: () => now_ms,
    faults: () => faults,
    ambient_c: () => 20,
  })
  const unit = units[0]!
  const bms = bmsUnits(unit)
  const pcs = battery.pcs.map((one) => pcsUnit(unit, one, grid))
  return {
    unit,
    bms,
    pcs,
    faults,
    states: saved,
    /** One poll each second, as time passes. */
    pass(seconds: number, poll: () => void = () => {}) {
      for (let nth = 0; nth < seconds; nth += 1) {
        now_ms += 1000
        poll()
        unit.snapshot()
      }
    },
    skip(seconds: number) {
      now_ms += seconds * 1000
    },
  }
}

type Readable = Pick<ReturnType<typeof bmsUnits>[number], 'read' | 'write'>

/** The models of a unit in their order, with where each begins. */
function chainOf(device: Readable, base = 40_000) {
  assert.deepEqual([...device.read(base, 2)], [0x5375, 0x6e53])
  const chain: { id: number; address: number; length: number }[] = []
  for (let address = base + 2; ; ) {
    const [id = 0, L = 0] = device.read(address, 2)
    if (id === 0xffff) return chain
    chain.push({ id, address, length: L + 2 })
    address += L + 2
  }
}

function read<Id extends ModelId>(device: Readable, id: Id, occurrence = 0) {
  const found = chainOf(device).filter((one) => one.id === id)[occurrence]
  assert.ok(found, `no model ${id}`)
  const parts: number[] = []
  for (let at = 0; at < found.length; at += 125) {
    parts.push(...device.read(found.address + at, Math.min(125, found.length - at)))
  }
  const decoded = decode<(typeof models)[Id]>(models[id], Uint16Array.from(parts))
  assert.deepEqual([decoded.broken, decoded.complaints], [null, []])
  return decoded
}

function write(device: Readable, id: ModelId, offset: number, ...words: number[]) {
  const { address } = chainOf(device).find((one) => one.id === id)!
  device.write(address + offset, words)
}

const words32 = (value: number) => [(value >> 16) & 0xffff, value & 0xffff]
/** Points WSetEna, WSetMod and WSet of model 704. */
const setPower = (device: Readable, power_w: number) =>
  write(device, 704, 22, 1, 1, ...words32(power_w))

const near = (actual: number | null, expected: number, tolerance: number, what: string) =>
  assert.ok(
    actual !== null && Math.abs(actual - expected) <= tolerance,
    `${what}: ${actual}, not ${expected}`,
  )

test('the chain of a battery has the bank, its strings, and a model for each module', () => {
  const { bms, pcs } = simulated(containerBattery)
  const ids = chainOf(bms[0]!).map(({ id }) => id)
  assert.deepEqual(ids.slice(0, 4), [1, 802, 713, 803])
  assert.equal(ids.filter((id) => id === 804).length, 7)
  assert.equal(ids.filter((id) => id === 805).length, 7 * 16)
  assert.deepEqual(
    chainOf(pcs[1]!).map(({ id }) => id),
    [1, 701, 702, 704, 714, 715],
  )
})

test('the registers equal the model, down to each cell', () => {
  const { unit, bms, pcs, pass } = simulated(smallBattery)
  setPower(pcs[0]!, 80_000)
  pass(600)
  const now = unit.snapshot()
  const bank = read(bms[0]!, 802).values
  near(bank.W, now.dc_power_kw * 1000, 10, 'W')
  near(bank.A, now.dc_current_a, 0.05, 'A')
  near(bank.V, now.dc_voltage_v, 0.05, 'V')
  near(bank.SoC, now.soc_pct, 0.005, 'SoC')
  near(bank.SoH, now.soh_pct, 0.005, 'SoH')
  near(bank.WHRtg, 200_000, 10, 'WHRtg')
  near(bank.ADisChaMax, now.dc_limits.discharge_a, 0.05, 'ADisChaMax')
  near(bank.AChaMax, now.dc_limits.charge_a, 0.05, 'AChaMax')
  assert.deepEqual([bank.State, bank.ChaSt, bank.LocRemCtl, bank.Evt1], [3, 3, 0, 0])
  near(read(bms[0]!, 713).values.WHAvail, now.available_energy_kwh * 1000, 10, 'WHAvail')

  const strings = read(bms[0]!, 803)
  assert.equal(strings.groups.length, 2)
  for (const [idx, cluster] of now.clusters.entries()) {
    near(strings.groups[idx]!.StrA, cluster.current_a, 0.05, 'StrA')
    const string = read(bms[0]!, 804, idx)
    assert.equal(string.values.Idx, idx + 1)
    near(string.values.V, cluster.voltage_v, 0.05, 'V of a string')
    near(string.values.CellVMin, cluster.cell_voltage_v.min, 0.0006, 'CellVMin')
    near(string.values.ModTmpMax, cluster.cell_temperature_c.max, 0.06, 'ModTmpMax')
    const cells = cellsOf(unit.model, unit.state.battery, idx)
    for (let module_idx = 0; module_idx < 4; module_idx += 1) {
      const module = read(bms[0]!, 805, idx * 4 + module_idx)
      assert.deepEqual([module.values.StrIdx, module.values.ModIdx], [idx + 1, module_idx + 1])
      assert.equal(module.groups.length, 13)
      for (const [cell, { CellV, CellTmp }] of module.groups.entries()) {
        near(CellV, cells.voltage_v[module_idx * 13 + cell]!, 0.0006, 'CellV')
        near(CellTmp, cells.temperature_c[module_idx * 13 + cell]!, 0.06, 'CellTmp')
      }
    }
    const lowest = Math.min(...cells.voltage_v)
    near(cluster.cell_voltage_v.min, lowest, 1e-9, 'the lowest of the cells')
    assert.equal(string.values.CellVMinMod, Math.floor(cells.voltage_v.indexOf(lowest) / 13) + 1)
  }

  const measured = read(pcs[0]!, 701).values
  near(measured.W, 80_000, 20, 'W of the PCS')
  near(measured.Hz, 50.01, 0.005, 'Hz')
  assert.equal(measured.InvSt, 3)
  near(read(pcs[0]!, 714).groups[0]!.DCW, now.dc_power_kw * 1000, 10, 'DCW')
  near(read(pcs[0]!, 702).values.WMax, 100_000, 10, 'WMax')
})

test('positive_current of the site file sets the sign of the registers', () => {
  const charging = { ...smallBattery.bms, positive_current: 'charge' } as const
  const { bms, pcs, pass } = simulated({ ...smallBattery, bms: charging })
  setPower(pcs[0]!, 50_000)
  pass(20)
  assert.ok(read(bms[0]!, 802).values.A! < -10)
  assert.ok(read(bms[0]!, 802).values.W! < -40_000)
  assert.ok(read(bms[0]!, 804).values.A! < -5)
})

test('clusters may have their own units', () => {
  const clusters = [1, 0].map((first_cluster_idx) => ({
    connection: 'field',
    unit_id: 50 + first_cluster_idx,
    first_cluster_idx,
  }))
  const { bms, unit } = simulated({ ...smallBattery, bms: { ...smallBattery.bms, clusters } })
  assert.deepEqual(
    bms.map(({ unit_id }) => unit_id),
    [31, 51, 50],
  )
  assert.deepEqual(
    chainOf(bms[0]!).map(({ id }) => id),
    [1, 802, 713],
  )
  assert.deepEqual(
    chainOf(bms[1]!).map(({ id }) => id),
    [1, 803, 804, 805, 805, 805, 805],
  )
  const second = read(bms[1]!, 804).values
  assert.equal(second.Idx, 1)
  near(second.V, unit.snapshot().clusters[1]!.voltage_v, 0.05, 'V')
})

test('an expired watchdog applies the fallback, and shows the time left', () => {
  const { pcs, pass } = simulated(smallBattery)
  write(pcs[0]!, 704, 30, 1, ...words32(20))
  setPower(pcs[0]!, -60_000)
  pass(15)
  near(read(pcs[0]!, 701).values.W, -60_000, 20, 'W')
  assert.equal(read(pcs[0]!, 704).values.WSetRvrtRem, 5)
  setPower(pcs[0]!, -60_000)
  pass(15)
  near(read(pcs[0]!, 701).values.W, -60_000, 20, 'W')
  pass(15)
  near(read(pcs[0]!, 701).values.W, 0, 2000, 'W after the watchdog')
  assert.equal(read(pcs[0]!, 704).values.WSet, 0)
})

test('a missing heartbeat stops the power', () => {
  const { bms, pcs, pass } = simulated(smallBattery)
  setPower(pcs[0]!, 40_000)
  let count = 0
  const beat = { pcs: true, bms: true }
  const beats = () => {
    count += 1
    if (beat.pcs) write(pcs[0]!, 715, 5, ...words32(count))
    if (beat.bms) write(bms[0]!, 802, 19, count)
  }
  for (const ended of ['pcs', 'bms'] as const) {
    beat[ended] = true
    pass(60, beats)
    near(read(pcs[0]!, 701).values.W, 40_000, 20, 'W with beats')
    beat[ended] = false
    pass(25, beats)
    near(read(pcs[0]!, 701).values.W, 40_000, 20, 'W while it waits')
    pass(25, beats)
    near(read(pcs[0]!, 701).values.W, 0, 1000, `W without beats of the ${ended}`)
    beat[ended] = true
  }
})

test('an invalid write is refused as a whole', () => {
  const { bms, pcs } = simulated(smallBattery)
  assert.throws(() => setPower(pcs[0]!, 100_001), /illegal data value/)
  assert.throws(() => write(pcs[0]!, 701, 10, 1), /illegal data address/)
  assert.throws(() => write(bms[0]!, 802, 11, 1), /illegal data address/)
  assert.throws(() => write(bms[0]!, 802, 50, 7), /illegal data value/)
  assert.throws(() => pcs[0]!.read(39_999, 1), /illegal data address/)
  assert.equal(read(pcs[0]!, 704).values.WSetEna, 0)
})

test('a disconnected battery opens its contactors and reconnects by way of the precharge', () => {
  const { bms, pass } = simulated(smallBattery)
  write(bms[0]!, 802, 50, 2)
  pass(3)
  assert.equal(read(bms[0]!, 802).values.State, 1)
  write(bms[0]!, 802, 50, 1)
  const seen = new Set<number | null>()
  pass(60, () => seen.add(read(bms[0]!, 802).values.State))
  assert.ok(seen.has(2), 'no precharge')
  assert.ok([3, 4].includes(read(bms[0]!, 802).values.State!))
})

test('each fault is visible to a master', () => {
  const faults: Fault[] = []
  const { bms, pcs, pass } = simulated(smallBattery, faults)
  setPower(pcs[0]!, 30_000)
  pass(10)
  const soc_pct = read(bms[0]!, 802).values.SoC!
  const is = (...texts: string[]) => {
    faults.length = 0
    faults.push(...texts.map(parseFault))
    pass(12)
  }
  is('bms_silent:1', 'pcs_silent:1/0')
  assert.deepEqual([bms[0]!.isAway(), pcs[0]!.isAway()], [true, true])
  is('local_control:1')
  assert.equal(read(bms[0]!, 802).values.LocRemCtl, 1)
  assert.equal(read(pcs[0]!, 715).values.LocRemCtl, 1)
  near(read(pcs[0]!, 701).values.W, 0, 1000, 'W under local control')
  is('soc_jump:1=20')
  near(read(bms[0]!, 802).values.SoC, soc_pct + 20, 0.2, 'SoC')
  is('pcs_fault:1/0')
  assert.equal(read(pcs[0]!, 701).values.InvSt, 6)
  is('contactor_open:1')
  assert.equal(read(bms[0]!, 802).values.State, 1)
  is('cell_over_temperature:1/1-2-3=70')
  near(read(bms[0]!, 805, 4 + 2).groups[3]!.CellTmp, 70, 0.06, 'CellTmp')
  assert.notEqual(read(bms[0]!, 804, 1).values.Evt1! & 2, 0)
  is('battery_heartbeat_frozen:1')
  const { Hb } = read(bms[0]!, 802).values
  pass(5)
  assert.equal(read(bms[0]!, 802).values.Hb, Hb)
  is()
  const alive = read(bms[0]!, 802).values.Hb!
  pass(5)
  assert.equal(read(bms[0]!, 802).values.Hb, alive + 5)
})

test('a battery with "124" in its model is of the older family', () => {
  const { pcs, pass } = simulated({ ...smallBattery, model: 'Hybrid 124' })
  assert.deepEqual(
    chainOf(pcs[0]!).map(({ id }) => id),
    [1, 103, 120, 124],
  )
  const hundredths = (percent: number) => (percent * 100) & 0xffff
  write(pcs[0]!, 124, 12, hundredths(-35), hundredths(35))
  write(pcs[0]!, 124, 5, 3)
  pass(15)
  near(read(pcs[0]!, 103).values.W, -35_000, 20, 'W')
  const { values } = read(pcs[0]!, 124)
  assert.deepEqual([values.StorCtl_Mod, values.OutWRte, values.InWRte], [3, -35, 35])
})

test('a battery with "123" in its model delivers its limit, and full power after its timer', () => {
  const { pcs, pass } = simulated({ ...smallBattery, model: 'Simulated 123' })
  assert.deepEqual(
    chainOf(pcs[0]!).map(({ id }) => id),
    [1, 103, 120, 121, 123],
  )
  const limit = () => {
    const { WMaxLim_Ena, WMaxLimPct, WMaxLimPct_RvrtTms } = read(pcs[0]!, 123).values
    return [WMaxLim_Ena, WMaxLimPct, WMaxLimPct_RvrtTms]
  }
  const power = () => read(pcs[0]!, 103).values.W
  write(pcs[0]!, 123, 5, 355)
  pass(15)
  near(power(), 0, 1000, 'W before it is enabled')
  write(pcs[0]!, 123, 9, 1)
  pass(15)
  near(power(), 35_500, 20, 'W')
  assert.deepEqual(limit(), [1, 35.5, 0])
  assert.throws(() => write(pcs[0]!, 123, 5, 1001), /illegal data value/)
  assert.throws(() => write(pcs[0]!, 121, 2, 1), /illegal data address/)
  write(pcs[0]!, 123, 7, 20)
  pass(15)
  near(power(), 35_500, 20, 'W with the timer')
  pass(15)
  near(power(), 100_000, 100, 'W after it ran out')
  assert.equal(limit()[0], 0)
  write(pcs[0]!, 123, 7, 0)
  write(pcs[0]!, 123, 5, 0)
  write(pcs[0]!, 123, 9, 1)
  pass(15)
  near(power(), 0, 1000, 'W at 0 %')
})

test('a restart continues; a long loss of power keeps the cells and loses commands', () => {
  const before = simulated(smallBattery)
  setPower(before.pcs[0]!, 90_000)
  before.pass(600)
  const saved = JSON.parse(JSON.stringify(before.states)) as UnitStates
  const after = simulated(smallBattery, [], saved)
  after.skip(600)
  assert.deepEqual(after.unit.snapshot(), before.unit.snapshot())
  after.skip(86_400)
  assert.equal(read(after.pcs[0]!, 704).values.WSetEna, 0)
  near(after.unit.snapshot().soc_pct, before.unit.snapshot().soc_pct, 0.01, 'SoC')
  const other = simulated({ ...smallBattery, cells_per_module: 12 }, [], saved)
  near(other.unit.snapshot().soc_pct, 50, 1, 'SoC of another battery')
})

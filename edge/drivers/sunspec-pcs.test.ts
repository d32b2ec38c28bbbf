import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { type BusError, exceptionError } from '../bus/bus-error.ts'
import { pcs } from './fixtures/batteries.ts'
import { measurements } from './fixtures/devices.ts'
import {
  access,
  capacity,
  immediate,
  measurement,
  ports,
  powerSystem,
  setpoint,
  storage,
} from './fixtures/power-systems.ts'
import { sunspec } from './sunspec.ts'

const openPcs = sunspec.openPcs!

test('a PCS of the newer models reports its AC and DC sides', async () => {
  const { bus } = powerSystem([measurement(), capacity(), setpoint(), ports, access()])
  const { values, complaints } = await (await openPcs(bus, pcs)).read()
  assert.deepEqual(complaints, [])
  const { pcs: read, ...rest } = values
  assert.deepEqual(rest, {
    alarm_table: 'sunspec-701',
    heartbeat: 77,
    power: {
      setpoint_w: null,
      discharge_max_w: 480_000,
      charge_max_w: 400_000,
      revert: null,
      is_remote: true,
    },
  })
  const told = Object.entries(read).filter(([, value]) => value !== null)
  assert.deepEqual(Object.fromEntries(told), {
    state: 'running',
    grid_mode: 'on_grid',
    ac_power_kw: -120.5,
    reactive_power_kvar: 1,
    apparent_power_kva: 120.6,
    power_factor: -0.999,
    frequency_hz: 50.012,
    voltage_l1_l2_v: 690.5,
    dc_voltage_v: 1331.2,
    dc_current_a: -90.5,
    dc_power_kw: -120.47,
    max_charge_power_kw: 450,
    max_discharge_power_kw: 500,
    energy_injected_total_kwh: 123_456,
    energy_absorbed_total_kwh: 140_000,
    heatsink_temperature_c: 55,
    igbt_temperature_c: 71.5,
    ac_breaker_closed: 1,
    throttle_pct: 80,
    throttle_source: 2,
    control_place: 'remote',
    alarm_1: 2,
  })
})

test('ratings of all models are plausible, even at many times the used power', async () => {
  const full = Object.fromEntries(
    models[702].points.flatMap(([name, , type, , scale]) =>
      type === 'uint16' ? [[name, scale === 'W_SF' ? 1_000_000 : 100]] : [],
    ),
  )
  const scales = { PF_SF: -2, VA_SF: 3, Var_SF: 3, V_SF: 0, A_SF: 0, S_SF: 0 }
  const { bus } = powerSystem([
    measurement(),
    capacity({ ...full, ...scales, W_SF: 4 }),
    setpoint(),
  ])
  const { values, complaints } = await (await openPcs(bus, { ...pcs, rated_power_kw: 200 })).read()
  assert.deepEqual(complaints, [])
  assert.equal(values.pcs.max_discharge_power_kw, 1000)
})

test('no reading contains the power allowed by a limit', async () => {
  const limit = { WMaxLimPctEna: 1, WMaxLimPct: 33.3 }
  const { bus } = powerSystem([
    measurement({ ThrotSrc: 0b11, ThrotPct: 33 }),
    capacity({ WMax: 123_400 }),
    setpoint(limit),
  ])
  const { values } = await (await openPcs(bus, pcs)).read()
  assert.equal(values.power?.discharge_max_w, Math.ceil(123_400 * 0.333))
  assert.deepEqual(
    [values.pcs.throttle_pct, values.pcs.max_discharge_power_kw, values.pcs.setpoint_kw],
    [null, 500, null],
  )
})

test('a PCS of the older models is read and controlled by model 124', async () => {
  const nameplate = encode(models[120], {
    values: { WRtg: 5000, WRtg_SF: 0, MaxChaRte: 4800, MaxChaRte_SF: 0 },
  })
  const system = powerSystem([measurements, nameplate, storage()])
  const device = await openPcs(system.bus, { ...pcs, rated_power_kw: 5000 })
  const { pcs: read, power, alarm_table } = (await device.read()).values
  assert.equal(alarm_table, 'sunspec-inverter')
  assert.deepEqual(
    [read.state, read.ac_power_kw, read.dc_voltage_v, read.max_charge_power_kw, read.alarm_1],
    ['throttled', 61.2, 612.3, 4.8, 2],
  )
  assert.deepEqual(power, {
    setpoint_w: null,
    discharge_max_w: 5000,
    charge_max_w: 5000,
    revert: null,
    is_remote: true,
  })
  const control = device.control!
  assert.equal(control.traits.stops_after_ms, null)
  await control.writePower(-1250)
  // At most -25 % of its power goes out, and at least 25 % comes in.
  assert.deepEqual(system.words(124, 12, 2), [0x1_0000 - 2500, 2500])
  assert.deepEqual(system.words(124, 5, 1), [3])
  assert.equal((await control.readPower()).setpoint_w, -1250)
})

test('a setpoint is written whole, after its fallback of 0 W', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint({ WSetRvrt: 9 }), access()])
  const device = await openPcs(system.bus, pcs)
  const control = device.control!
  // A ramp rate of 0 in the register was never filled in.
  assert.deepEqual(control.traits, { stops_after_ms: 30_000, applies_within_ms: 0, ramp_ms: null })
  await control.writePower(-70_001)
  const start = system.bus.written[2]!.address - 22
  assert.deepEqual(
    system.bus.written.map(({ address, values }) => [address - start, ...values]),
    [
      [26, 0, 0],
      [30, 1, 0, 30],
      [22, 1, 1, 0xfffe, 0x1_0000 - 70_001 + 0x1_0000],
    ],
  )
  assert.deepEqual([system.told_w(), system.reverts_w()], [-70_001, 0])
  const { power, pcs: read } = (await device.read()).values
  assert.deepEqual([power?.setpoint_w, read.setpoint_kw], [-70_001, -70.001])
  assert.deepEqual(power?.revert, { in_ms: 0, to_w: 0 })

  system.bus.written.splice(0)
  await control.writePower(0)
  assert.equal(system.bus.written.length, 2, 'what it falls back to stands already')
  assert.equal((await control.readPower()).revert, null, 'it is where it would go')
})

test('a setpoint is rounded towards zero to what registers and device can hold', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint({ WSet_SF: 3 })])
  const { settable } = (await openPcs(system.bus, pcs)).control!
  assert.deepEqual(
    [settable(12_999), settable(-12_999), settable(999), settable(-1), settable(0)],
    [12_000, -12_000, 0, 0, 0],
  )
  assert.deepEqual([settable(1e9), settable(-1e9)], [480_000, -400_000])
  const limited = powerSystem([measurement(), capacity({ WDisChaRteMax: null }), setpoint()])
  assert.equal((await openPcs(limited.bus, pcs)).control!.settable(1e9), 500_000)
})

test('a setpoint that is not settable, or overtaken, is not written', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint({ WSet_SF: 3 })])
  const control = (await openPcs(system.bus, pcs)).control!
  await assert.rejects(control.writePower(1500), /cannot be set: 1500 W/)
  await assert.rejects(control.writePower(1000.5), /no setpoint/)
  let asked = 0
  const once = () => {
    asked += 1
    return asked === 1
  }
  await assert.rejects(control.writePower(2000, once), ({ kind }: BusError) => kind === 'overtaken')
  assert.equal(system.told_w(), null)
})

test('32-bit values are not written in halves to a device of single registers', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint()], { only_singly: true })
  const control = (await openPcs(system.bus, pcs)).control!
  await assert.rejects(control.writePower(70_000), /704\.WSetEnaRvrt: exception 1/)
  assert.deepEqual(system.bus.written, [])
  assert.match((await control.arm())[0] ?? '', /is remote control allowed/)
})

test('arming sets the fallback, no setpoint, and reports problems', async () => {
  const right = powerSystem([measurement(), capacity(), setpoint({ WSetRvrt: 5000 }), access()])
  assert.deepEqual(await (await openPcs(right.bus, pcs)).control!.arm(), [])
  assert.deepEqual([right.told_w(), right.reverts_w()], [null, 0])

  const faultsOf = async (...parts: Uint16Array[]) => {
    const { bus } = powerSystem([measurement(), capacity(), ...parts])
    return (await openPcs(bus, pcs)).control!.arm()
  }
  assert.match((await faultsOf(setpoint(), access({ LocRemCtl: 1 }))).join(), /715.LocRemCtl/)
  assert.match((await faultsOf(setpoint({ WSetRvrtTms: null }))).join(), /no timer of the device/)
  const old = (values: Parameters<typeof storage>[0]) => faultsOf(storage(values))
  const endless = ['model 124: no timer of the device ends its setpoint when the edge falls silent']
  assert.deepEqual(await old({ InOutWRte_RvrtTms: 60 }), endless)
  assert.match((await old({ ChaGriSet: 0 })).join(), /may not charge from the grid/)
})

test('124 with its timer off counts by its setpoint; with a fixed timer, by its full power', async () => {
  const system = powerSystem([measurement(), capacity(), storage({ InOutWRte_RvrtTms: 60 })])
  const control = (await openPcs(system.bus, pcs)).control!
  await control.arm()
  await control.writePower(1000)
  const state = await control.readPower()
  assert.deepEqual([state.setpoint_w, state.revert, system.reverts_w()], [1000, null, null])

  const stuck = powerSystem([measurement(), capacity(), storage({ InOutWRte_RvrtTms: 60 })])
  const refusing = (await openPcs(stuck.bus, pcs)).control!
  stuck.bus.beforeWrite = () => {
    throw exceptionError(3)
  }
  const faults = await refusing.arm()
  assert.match(faults.join(), /InOutWRte_RvrtTms: exception 3.*timer of 60 s stays/)
})

const by_limit = { ...pcs, wmaxlimpct_is_setpoint: true }

test('123 is used only by setting of site.yaml, without 704 and 124', async () => {
  const parts = [measurement(), ...immediate()]
  const unsaid = powerSystem(parts)
  for (const wmaxlimpct_is_setpoint of [undefined, false]) {
    const said = wmaxlimpct_is_setpoint === undefined ? {} : { wmaxlimpct_is_setpoint }
    const device = await openPcs(unsaid.bus, { ...pcs, ...said })
    assert.equal(device.control, null)
    const { values } = await device.read()
    assert.deepEqual([values.power, values.pcs.max_charge_power_kw], [null, 450])
  }
  for (const [other, others] of [
    [704, [capacity(), setpoint()]],
    [124, [storage()]],
  ] as const) {
    const system = powerSystem([...parts, ...others])
    await (await openPcs(system.bus, by_limit)).control!.writePower(1000)
    assert.equal(system.told_w(), 1000, `by ${other}`)
    assert.deepEqual(system.words(123, 5, 5), [1000, 0xffff, 0, 0xffff, 0])
  }
})

test('123 only discharges, in percent of WMax, and stops at an enabled 0 %', async () => {
  const system = powerSystem([measurement(), ...immediate()])
  const device = await openPcs(system.bus, by_limit)
  const control = device.control!
  const { values, complaints } = await device.read()
  assert.deepEqual(complaints, [])
  const nothing = { setpoint_w: null, revert: null, is_remote: true }
  assert.deepEqual(values.power, { ...nothing, discharge_max_w: 400_000, charge_max_w: 0 })
  const { max_charge_power_kw, max_discharge_power_kw } = values.pcs
  assert.deepEqual([max_charge_power_kw, max_discharge_power_kw], [0, 500])
  assert.deepEqual(
    [123_456, 399, 1e9, 0, -1, -123_456].map((power_w) => control.settable(power_w)),
    [123_200, 0, 400_000, 0, 0, 0],
  )
  await control.writePower(123_200)
  assert.deepEqual([system.told_w(), system.words(123, 5, 1)], [123_200, [308]])
  assert.equal((await device.read()).values.pcs.setpoint_kw, 123.2)
  await assert.rejects(control.writePower(-400), /cannot be set: -400 W/)
  await control.writePower(0)
  assert.deepEqual([system.words(123, 5, 1), system.words(123, 9, 1)], [[0], [1]])
  assert.equal((await control.readPower()).setpoint_w, 0)
  // What it holds is told again: that it takes it is what is to be seen.
  system.bus.written.splice(0)
  await control.writePower(0)
  assert.deepEqual(
    system.bus.written.map(({ values: words }) => words),
    [[0], [1]],
  )
})

test('an external write to 123 is read as setpoint', async () => {
  const system = powerSystem([measurement(), ...immediate()])
  const device = await openPcs(system.bus, by_limit)
  await device.control!.writePower(100_000)
  const image = system.bus.units.get(pcs.unit_id)!.registers
  const at = image.findIndex((word, nth) => word === 123 && image[nth + 1] === 24)
  image[at + 5] = 900
  assert.equal((await device.read()).values.power?.setpoint_w, 360_000)
  image[at + 9] = 0
  assert.equal((await device.read()).values.power?.setpoint_w, null)
  image[at + 9] = 1
  image[at + 7] = 60
  const { revert } = (await device.read()).values.power!
  assert.deepEqual(revert, { in_ms: 0, to_w: 400_000 }, 'to no limit, at any moment')
})

test('123 is never fail-safe, even less with a fixed timer', async () => {
  const timed = immediate({ WMaxLimPct_RvrtTms: 60, WMaxLimPct_WinTms: 5 })
  const system = powerSystem([measurement(), ...timed])
  const control = (await openPcs(system.bus, by_limit)).control!
  const endless = ['model 123: no timer of the device ends its setpoint when the edge falls silent']
  assert.deepEqual(await control.arm(), endless)
  assert.deepEqual([system.words(123, 6, 2), system.told_w()], [[0, 0], null])

  const stuck = powerSystem([measurement(), ...timed])
  stuck.bus.beforeWrite = () => {
    throw exceptionError(3)
  }
  const faults = await (await openPcs(stuck.bus, by_limit)).control!.arm()
  assert.match(faults.join(), /WMaxLimPct_RvrtTms: exception 3.*123\..*timer of 60 s stays/)
})

test('without WMax percent are of the rating; without a rating there is no control', async () => {
  const rated = powerSystem([measurement(), ...immediate({}, null)])
  const { control } = await openPcs(rated.bus, by_limit)
  assert.equal(control!.settable(1e9), 500_000)
  const [, , limit] = immediate()
  for (const parts of [[limit!], immediate({ WMaxLimPct_SF: null, WMaxLimPct: null })]) {
    const { bus } = powerSystem([measurement(), ...parts])
    assert.equal((await openPcs(bus, by_limit)).control, null)
  }
})

test('a timer that cannot be made longer is reported', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint({ WSetRvrtTms: 5 })])
  system.bus.beforeWrite = () => {
    throw exceptionError(3)
  }
  const faults = await (await openPcs(system.bus, pcs)).control!.arm()
  assert.match(faults.join(), /704\.WSetEnaRvrt: exception 3.*timer of 5 s is too short/)
})

test('an external setpoint in percent is converted', async () => {
  const percent = { WSetEna: 1, WSetMod: 0, WSetPct: -50, WSetPct_SF: 0 }
  const { bus } = powerSystem([measurement(), capacity(), setpoint(percent)])
  const { power } = (await (await openPcs(bus, pcs)).read()).values
  assert.equal(power?.setpoint_w, -250_000)
})

test('without valid registers there is no control, and readings continue', async () => {
  const unscaled = setpoint({ WSet: null, WSetRvrt: null, WSet_SF: null })
  for (const parts of [[unscaled, capacity()], [setpoint()], [capacity()]]) {
    const { bus } = powerSystem([measurement(), ...parts])
    const device = await openPcs(bus, pcs)
    assert.equal(device.control, null)
    const { values } = await device.read()
    assert.deepEqual([values.power, values.pcs.ac_power_kw], [null, -120.5])
  }
  const { bus } = powerSystem([capacity(), setpoint()])
  await assert.rejects(openPcs(bus, pcs), /no power conversion system: it has models 1, 702, 704/)
})

test('registers that become invalid withdraw the control, not its traits', async () => {
  const system = powerSystem([measurement(), capacity(), setpoint()])
  const device = await openPcs(system.bus, pcs)
  const control = device.control!
  const image = system.bus.units.get(pcs.unit_id)!.registers
  const scale_at = image.findIndex((word, at) => word === 704 && image[at + 1] === 65) + 55
  image[scale_at] = 0x8000
  assert.equal((await device.read()).values.power, null)
  assert.equal(device.control, null)
  assert.equal(control.traits.stops_after_ms, 30_000)
  assert.throws(() => control.settable(1000), /its setpoint cannot be read/)
  await assert.rejects(control.writePower(1000), /704.WSet_SF is not valid/)
  assert.deepEqual(system.bus.written, [])
})

test('the heartbeat has 32 bits', async () => {
  const parts = [measurement(), capacity(), setpoint(), access({ ControllerHb: 0xffff })]
  const system = powerSystem(parts)
  const control = (await openPcs(system.bus, pcs)).control!
  await control.beat()
  assert.deepEqual(system.words(715, 5, 2), [1, 0])
  await control.beat()
  assert.deepEqual(system.words(715, 5, 2), [1, 1])
})

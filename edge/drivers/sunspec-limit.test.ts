import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inverter } from '@heliograph/domain/site'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { exceptionError } from '../bus/bus-error.ts'
import { busWith, identity, inverter } from './fixtures/devices.ts'
import { inverter123, inverter704, type LimitedInverter } from './fixtures/limited-inverter.ts'
import { sunspec } from './sunspec.ts'

const open = async (device: LimitedInverter, site: Partial<Inverter> = {}) => {
  const opened = await sunspec.openInverter(device.bus, { ...inverter, ...site })
  return { opened, control: opened.control! }
}

const sequences: [name: string, device: LimitedInverter, limit_w: number, writes: string[]][] = [
  [
    '123: the value before it is enabled',
    inverter123(),
    60_000,
    ['123.WMaxLimPct=600', '123.WMaxLim_Ena=1'],
  ],
  [
    '123: only the value where a limit is enabled',
    inverter123({ WMaxLimPct: 80, WMaxLim_Ena: 1 }),
    60_000,
    ['123.WMaxLimPct=600'],
  ],
  [
    '123: upwards alike',
    inverter123({ WMaxLimPct: 30, WMaxLim_Ena: 1 }),
    60_000,
    ['123.WMaxLimPct=600'],
  ],
  [
    '123: nothing where it stands already',
    inverter123({ WMaxLimPct: 60, WMaxLim_Ena: 1 }),
    60_000,
    [],
  ],
  [
    '123: the timer and the window of another master go first',
    inverter123({
      WMaxLimPct: 50,
      WMaxLim_Ena: 1,
      WMaxLimPct_RvrtTms: 300,
      WMaxLimPct_WinTms: 20,
    }),
    60_000,
    ['123.WMaxLimPct_RvrtTms=0', '123.WMaxLimPct_WinTms=0', '123.WMaxLimPct=600'],
  ],
  [
    '123: floored to the step',
    inverter123({ WMaxLimPct_SF: 0 }),
    60_999,
    ['123.WMaxLimPct=60', '123.WMaxLim_Ena=1'],
  ],
  [
    '123: one by one where function 16 is not known',
    inverter123({ WMaxLimPct_RvrtTms: 9 }, { only_singly: true }),
    60_000,
    ['123.WMaxLimPct_RvrtTms=0!', '123.WMaxLimPct=600!', '123.WMaxLim_Ena=1!'],
  ],
  [
    '123: enabled once more where the maker wants it',
    inverter123({ WMaxLimPct: 80, WMaxLim_Ena: 1 }, { maker: 'Fronius' }),
    60_000,
    ['123.WMaxLimPct=600', '123.WMaxLim_Ena=1'],
  ],
  [
    '123: zero is a limit',
    inverter123({ WMaxLimPct: 80, WMaxLim_Ena: 1 }),
    0,
    ['123.WMaxLimPct=0'],
  ],
  [
    '123: of the nameplate where there is no WMax',
    inverter123({}, { settings: { WMax: null } }),
    60_000,
    ['123.WMaxLimPct=600', '123.WMaxLim_Ena=1'],
  ],
  [
    '704: what the timer leads to, before the value and its enabling',
    inverter704(),
    60_000,
    [
      '704.WMaxLimPctRvrt=600',
      '704.WMaxLimPctEnaRvrt=1',
      '704.WMaxLimPct=600',
      '704.WMaxLimPctEna=1',
    ],
  ],
  [
    '704: downwards what the timer leads to comes first',
    inverter704({ WMaxLimPctEna: 1, WMaxLimPct: 80, WMaxLimPctEnaRvrt: 1, WMaxLimPctRvrt: 80 }),
    60_000,
    ['704.WMaxLimPctRvrt=600', '704.WMaxLimPct=600'],
  ],
  [
    '704: upwards what the timer leads to comes last',
    inverter704({ WMaxLimPctEna: 1, WMaxLimPct: 30, WMaxLimPctEnaRvrt: 1, WMaxLimPctRvrt: 30 }),
    60_000,
    ['704.WMaxLimPct=600', '704.WMaxLimPctRvrt=600'],
  ],
  [
    '704: without a value to lead to there is no timer, its low word first',
    inverter704(
      { WMaxLimPctRvrt: null, WMaxLimPctEnaRvrt: null, WMaxLimPctRvrtTms: 65_541 },
      { only_singly: true },
    ),
    60_000,
    [
      '704.WMaxLimPctRvrtTms+1=0!',
      '704.WMaxLimPctRvrtTms=0!',
      '704.WMaxLimPct=600!',
      '704.WMaxLimPctEna=1!',
    ],
  ],
]

for (const [name, device, limit_w, writes] of sequences) {
  test(name, async () => {
    const { control } = await open(device)
    await control.writeLimit(limit_w)
    assert.deepEqual(device.writes(), writes)
    assert.equal((await control.readLimit()).limit_w, control.settable(limit_w))
    await control.writeLimit(limit_w)
    assert.deepEqual(device.writes(), [], 'it stands')
  })
}

test('an overtaken write stops there, and no intermediate state allows more', async () => {
  const device = inverter704({ WMaxLimPctEna: 1, WMaxLimPct: 30 })
  const { control } = await open(device)
  const overtaken = { kind: 'overtaken' }
  await assert.rejects(
    control.writeLimit(60_000, () => false),
    overtaken,
  )
  assert.deepEqual(device.writes(), [])
  let asked = 0
  const once = () => {
    asked += 1
    return asked === 1
  }
  const lowered = inverter704({ WMaxLimPctEna: 0, WMaxLimPct: 30 })
  const { control: other } = await open(lowered)
  await assert.rejects(other.writeLimit(60_000, once), overtaken)
  assert.equal(lowered.writes().length, 1)
  assert.equal(asked, 2, 'before each')
})

test('the limit is read without additional requests', async () => {
  for (const [device, expected] of [
    [inverter123({ WMaxLimPct: 61.5, WMaxLim_Ena: 1 }, { settings: { WMax: 90_500 } }), 90_500],
    [inverter704({ WMaxLimPct: 61.5, WMaxLimPctEna: 1 }, { settings: { WMax: 90_500 } }), 90_500],
  ] as const) {
    const { opened } = await open(device)
    device.bus.asked.length = 0
    const { values, complaints } = await opened.read()
    const limit_w = Math.ceil(expected * 0.615)
    assert.deepEqual(values.limit, { limit_w, static_max_w: expected, revert: null })
    assert.equal(values.inverter.power_limit_pct, 61.5)
    assert.deepEqual(complaints, [])
    assert.equal(device.bus.asked.length, 2, JSON.stringify(device.bus.asked))
  }
})

test('models between the ceiling and the limit cost no request', async () => {
  const values = { WMaxRtg: 100_000, WMax: 90_000, W_SF: 1 }
  const limit = { WMaxLimPct: 50, WMaxLimPct_SF: -1, WMaxLimPctEna: 1, WMaxLimPctRvrtTms: 0 }
  const bus = busWith(
    identity(),
    encode(models[701], { values: { W: 40_000, W_SF: 1 } }),
    encode(models[702], { values }),
    Uint16Array.of(703, 17, ...Array(17).fill(0)),
    encode(models[704], { values: limit }),
  )
  const device = await sunspec.openInverter(bus, inverter)
  bus.asked.length = 0
  const { values: read, complaints } = await device.read()
  assert.deepEqual(read.limit, { limit_w: 45_000, static_max_w: 90_000, revert: null })
  assert.deepEqual(complaints, [])
  assert.equal(bus.asked.length, 2, JSON.stringify(bus.asked))
})

test('the fallback of a timer is reported', async () => {
  const of = async (device: LimitedInverter) => (await open(device)).control.readLimit()
  const timer_123 = inverter123({ WMaxLimPct: 40, WMaxLim_Ena: 1, WMaxLimPct_RvrtTms: 5 })
  const unlimited = { in_ms: 0, to_w: 100_000 }
  assert.deepEqual(await of(timer_123), {
    limit_w: 40_000,
    static_max_w: 100_000,
    revert: unlimited,
  })
  const timer = { WMaxLimPctEna: 1, WMaxLimPct: 40, WMaxLimPctRvrtTms: 60, WMaxLimPctRvrtRem: 9 }
  const to = (controls: Parameters<typeof inverter704>[0]) =>
    of(inverter704({ ...timer, ...controls })).then(({ revert }) => revert)
  assert.deepEqual(await to({}), { in_ms: 9000, to_w: 100_000 })
  const enabled = { WMaxLimPctEnaRvrt: 1, WMaxLimPctRvrt: 70 }
  assert.deepEqual(await to(enabled), { in_ms: 9000, to_w: 70_000 })
  assert.deepEqual(await to({ ...enabled, WMaxLimPctRvrtRem: null }), { in_ms: 0, to_w: 70_000 })
  assert.equal(await to({ ...enabled, WMaxLimPctRvrt: 40 }), null)
  assert.equal(await to({ ...enabled, WMaxLimPctRvrtTms: 0, WMaxLimPctRvrtRem: 0 }), null)
  assert.equal(await to({ WMaxLimPctEna: 0 }), null)
})

test('registers that are not valid give no control', async () => {
  const none: [string, LimitedInverter][] = [
    ['above 100 percent', inverter123({ WMaxLimPct: 110, WMaxLim_Ena: 1 })],
    ['enabled or not', inverter123({ WMaxLim_Ena: null })],
    ['enabled without a value', inverter123({ WMaxLimPct: null, WMaxLim_Ena: 1 })],
    ['no scale', inverter123({ WMaxLimPct: null, WMaxLimPct_SF: null })],
    ['no base', inverter704({}, { settings: { WMax: null, WMaxRtg: null } })],
    [
      'a base beyond every inverter',
      inverter704({}, { settings: { W_SF: 6, WMax: 2e9, WMaxRtg: 2e9 } }),
    ],
  ]
  for (const [name, device] of none) {
    const { opened } = await open(device)
    assert.equal(opened.control, null, name)
    assert.equal((await opened.read()).values.limit, null, name)
  }
})

test('a control is withdrawn while its registers are not valid', async () => {
  const device = inverter123({ WMaxLimPct: 50, WMaxLim_Ena: 1 })
  const { opened, control } = await open(device)
  const percent_at = device.bus.units.get(3)!.registers.indexOf(500)
  await device.bus.writeRegisters(3, 40_000 + percent_at, [1100])
  assert.equal((await opened.read()).values.limit, null)
  assert.equal(opened.control, null)
  await assert.rejects(control.writeLimit(10_000), /unit 3: 123.WMaxLimPct is above 100 percent/)
  await device.bus.writeRegisters(3, 40_000 + percent_at, [400])
  assert.equal((await opened.read()).values.limit?.limit_w, 40_000)
  assert.equal(opened.control, control)
})

test('the scale factor read before the write applies', async () => {
  const device = inverter123({ WMaxLimPct: 50, WMaxLim_Ena: 1 })
  const { control } = await open(device)
  const { registers } = device.bus.units.get(3)!
  registers[registers.length - 5] = 0x1_0000 - 2 // WMaxLimPct_SF: tenths have become hundredths
  await control.writeLimit(60_000)
  assert.deepEqual(device.writes(), ['123.WMaxLimPct=6000'])
})

test('a refusal names the register and the reason', async () => {
  const device = inverter123()
  const { control } = await open(device)
  device.bus.beforeWrite = () => {
    throw exceptionError(4)
  }
  await assert.rejects(control.writeLimit(60_000), {
    kind: 'exception',
    exception_code: 4,
    message: '123.WMaxLimPct: exception 4 (device failure)',
  })
  for (const limit_w of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    await assert.rejects(control.writeLimit(limit_w), RangeError)
  }
})

test('arming turns timers off, or leads them to a limit, and raises nothing', async () => {
  const armed = async (device: LimitedInverter, share_w = 70_000) => {
    const { control } = await open(device)
    const before = device.allowed()
    const complaints = await control.arm(share_w)
    assert.ok(device.allowed().now_w <= before.now_w)
    assert.ok(device.allowed().worst_w <= before.worst_w)
    return { complaints, writes: device.writes() }
  }
  assert.deepEqual(await armed(inverter123({ WMaxLimPct_RvrtTms: 30, WMaxLim_Ena: 1 })), {
    complaints: [],
    writes: ['123.WMaxLimPct_RvrtTms=0'],
  })
  assert.deepEqual((await armed(inverter704())).writes, [
    '704.WMaxLimPctRvrt=700',
    '704.WMaxLimPctEnaRvrt=1',
  ])
  const limited = { WMaxLimPctEna: 1, WMaxLimPct: 40, WMaxLimPctRvrtTms: 60 }
  assert.deepEqual((await armed(inverter704(limited))).writes, [
    '704.WMaxLimPctRvrt=400',
    '704.WMaxLimPctEnaRvrt=1',
  ])
  const lower = { ...limited, WMaxLimPctEnaRvrt: 1, WMaxLimPctRvrt: 20 }
  assert.deepEqual((await armed(inverter704(lower))).writes, ['704.WMaxLimPctRvrt=200'])
})

test('arming reports a device that is not under remote control', async () => {
  const local = inverter704({}, { local: 1 })
  assert.deepEqual(await (await open(local)).control.arm(1000), [
    '715.LocRemCtl: the device is set to local control',
  ])
  assert.deepEqual(await (await open(inverter704({}, { local: 0 }))).control.arm(1000), [])
  const locked = inverter123({ WMaxLimPct_RvrtTms: 30 })
  locked.bus.beforeWrite = () => {
    throw exceptionError(3)
  }
  assert.deepEqual(await (await open(locked)).control.arm(1000), [
    '123.WMaxLimPct_RvrtTms: exception 3 (illegal data value): is remote control allowed at the ' +
      'device?',
    'model 123: a timer ends its limit and leads to none',
  ])
})

test('the persistent ceiling is lowered to the rating, never raised', async () => {
  const arm = async (device: LimitedInverter, rated_kw: number, more: Partial<Inverter> = {}) => {
    const { control } = await open(device, { rated_ac_power_kw: rated_kw, ...more })
    return { complaints: await control.arm(1000), writes: device.writes() }
  }
  const timer = '123.WMaxLimPct_RvrtTms=0'
  assert.deepEqual((await arm(inverter123(), 95.556)).writes, ['121.WMax=9555', timer])
  assert.deepEqual((await arm(inverter123(), 100)).writes, [timer])
  assert.deepEqual((await arm(inverter123(), 120)).writes, [timer])
  assert.deepEqual((await arm(inverter123(), 90, { max_ac_power_kw: 100 })).writes, [timer])
  const [ceiling] = (await arm(inverter704(), 95.556)).writes
  assert.equal(ceiling, '702.WMax=9555')
  const under_limit = await arm(inverter123({ WMaxLimPct: 50, WMaxLim_Ena: 1 }), 95.556)
  assert.deepEqual(under_limit, {
    complaints: ['WMax stands above the rated power of the site file'],
    writes: [timer],
  })
  const nameplate_alone = await arm(inverter123({}, { settings: { WMax: null } }), 90)
  assert.deepEqual(nameplate_alone.writes, [timer])
})

test('the ramp time is that of the registers', async () => {
  const rampOf = async (device: LimitedInverter) => (await open(device)).control.traits.ramp_ms
  assert.equal(await rampOf(inverter123({ WMaxLimPct_RmpTms: 60 })), 60_000)
  const gradient = { settings: { WGra: 0.66, WGra_SF: -2 } }
  assert.equal(await rampOf(inverter123({ WMaxLimPct_RmpTms: 0 }, gradient)), 151_516)
  assert.equal(await rampOf(inverter123({ WMaxLimPct_RmpTms: 0 })), null, '0 was never filled in')
  assert.equal(await rampOf(inverter123()), null)
  assert.equal(await rampOf(inverter704({ WRmp: 5 })), 20_000)
  assert.equal(await rampOf(inverter704()), null)
})

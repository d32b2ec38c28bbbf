import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import type { LinkEvent } from '@heliograph/domain/link'
import { emptyReading, type ReadingKind } from '@heliograph/domain/readings'
import { defaultPollIntervals } from '@heliograph/domain/site'
import type { BatteryHooks, BatteryRead, PcsRead } from './battery-reads.ts'
import { Conditions } from './conditions.ts'
import type { BatteryAnswer, Driver, PcsAnswer } from './drivers/driver.ts'
import { battery as example, pcs } from './drivers/fixtures/batteries.ts'
import { fakeBus } from './fixtures/driver.ts'
import { siteOf } from './fixtures/sites.ts'
import { pollPlans } from './poll-plans.ts'

const battery: Battery = { ...example, pcs: [pcs, { ...pcs, pcs_idx: 1, unit_id: 3 }] }
const at = 1_780_308_000_000
const stampOf = (after_s: number) =>
  ({ measured_at: at + after_s * 1000, quality: 'good' }) as const

const identity = { manufacturer: null, model: null, serial_number: null, firmware_version: null }
const never = () => Promise.reject(new Error('not read by hand'))
const device = { identity, read: never, beat: async () => {}, control: null }
const driver: Driver = {
  openInverter: never,
  openCombiner: never,
  openStation: never,
  openMeter: never,
  openBattery: async () => ({ ...device }),
  openPcs: async () => ({ ...device }),
  openClusters: async () => ({ ...device }),
  openCells: async () => ({ ...device }),
  openSetup: async () => ({ ...device }),
}

const battered = (heartbeat: number | null, alarm_1 = 0): BatteryAnswer => ({
  battery: { ...emptyReading('bess'), soc_pct: 50, alarm_1 },
  alarm_table: 'sunspec-battery-802',
  heartbeat,
  is_remote: true,
})
const converted = (setpoint_kw: number | null, alarm_1 = 0): PcsAnswer => ({
  pcs: { ...emptyReading('pcs'), setpoint_kw, throttle_pct: 80, alarm_1 },
  alarm_table: 'sunspec-701',
  heartbeat: null,
  power: null,
})

async function plansOf(of: Battery, { driver: by = driver }: { driver?: Driver } = {}) {
  const readings: { kind: ReadingKind; reading: Record<string, unknown> }[] = []
  const told: [string, string, object][] = []
  const batteries: [number, BatteryRead][] = []
  const systems: [number, number, PcsRead][] = []
  const gone: [number, number | null][] = []
  const hooks: BatteryHooks = {
    onBattery: (bess_id, read) => batteries.push([bess_id, read]),
    onPcs: (bess_id, pcs_idx, read) => systems.push([bess_id, pcs_idx, read]),
    onGone: (bess_id, pcs_idx) => gone.push([bess_id, pcs_idx]),
  }
  const plans = pollPlans(siteOf([], { loggers: [], batteries: [of] }), {
    driverOf: () => by,
    recorder: {
      reading: (kind, reading) => readings.push({ kind, reading: { ...reading } }),
      tell: (...statement) => told.push(statement),
    },
    conditions: await Conditions.open('/nonexistent/conditions.json'),
    newest: { inverters: new Map(), stations: new Map() },
    intervals: defaultPollIntervals,
    batteries: hooks,
  })
  const planOf = (id: string) => plans.find((plan) => plan.id === id)!
  const read = (id: string, values: unknown, after_s = 0) =>
    planOf(id).onRead(values, stampOf(after_s))
  const last = () => readings.at(-1)!.reading
  return { plans, planOf, read, readings, told, batteries, systems, gone, last }
}

const builtFor = (max_discharge_power_kw: number): PcsAnswer => {
  const answer = converted(null)
  return { ...answer, pcs: { ...answer.pcs, max_discharge_power_kw } }
}

const codesOf = (events: readonly LinkEvent[]) =>
  events.map(({ source_kind, source_id, code, edge }) =>
    [source_kind, source_id, code, edge].join(' '),
  )

test('a battery is polled in parts, each at its pace and on its connection', async () => {
  const { plans } = await plansOf(battery)
  assert.deepEqual(
    plans.map(({ kind, id, interval_ms, connection_id }) => [kind, id, interval_ms, connection_id]),
    [
      ['pcs', '7.0', 2000, 'main'],
      ['pcs', '7.1', 2000, 'main'],
      ['bess', '7', 2000, 'main'],
      ['bess', '7.clusters', 10_000, 'main'],
      // Three clusters in a minute.
      ['bess', '7.cells', 20_000, 'main'],
      ['bess', '7.setup', 60_000, 'main'],
    ],
  )
  const clusters = [
    { connection: 'a', unit_id: 1, first_cluster_idx: 0 },
    { connection: 'b', unit_id: 1, first_cluster_idx: 1 },
    { connection: 'a', unit_id: 2, first_cluster_idx: 2 },
  ]
  const spread = await plansOf({ ...battery, bms: { ...battery.bms, clusters } })
  assert.deepEqual(
    spread.plans.slice(3, 7).map(({ id, connection_id }) => [id, connection_id]),
    [
      ['7.clusters.a', 'a'],
      ['7.cells.a', 'a'],
      ['7.clusters.b', 'b'],
      ['7.cells.b', 'b'],
    ],
  )
  const { plans: many } = await plansOf({ ...battery, cluster_count: 400 })
  assert.equal(many.find(({ id }) => id === '7.cells')?.interval_ms, 1000)
})

test('a reading of the battery has the setpoint of its PCS, and whether it lives', async () => {
  const { planOf, read, last, batteries, systems } = await plansOf(battery)
  for (const id of ['7', '7.0', '7.1']) await planOf(id).open(fakeBus)
  read('7', battered(5))
  assert.deepEqual([last().setpoint_kw, last().heartbeat_ok], [null, null])
  read('7.0', converted(40))
  read('7', battered(6), 2)
  assert.equal(last().setpoint_kw, null, 'that of the other PCS is not known')
  read('7.1', converted(-15))
  read('7', battered(7), 4)
  assert.deepEqual([last().bess_id, last().setpoint_kw, last().heartbeat_ok], [7, 25, 1])
  read('7', battered(7), 8)
  assert.equal(last().setpoint_kw, null, 'they have not been heard of for three polls')
  for (const after_s of [10, 12, 14, 16]) read('7', battered(7), after_s)
  assert.equal(last().heartbeat_ok, 0)
  assert.deepEqual(
    batteries.map(([bess_id, { heartbeat_ok }]) => [bess_id, heartbeat_ok]),
    [null, true, true, true, true, true, true, false].map((ok) => [7, ok]),
  )
  assert.deepEqual(
    systems.map(([bess_id, pcs_idx, { stamp }]) => [bess_id, pcs_idx, stamp.measured_at]),
    [
      [7, 0, at],
      [7, 1, at],
    ],
  )
})

test('a battery is measured at its connection, by its PCS, and else as it says itself', async () => {
  const { planOf, read, last } = await plansOf(battery)
  for (const id of ['7', '7.0', '7.1']) await planOf(id).open(fakeBus)
  const own = battered(5)
  const bank = { ...own, battery: { ...own.battery, power_kw: 61, charged_total_kwh: 900 } }
  const passed = (ac_power_kw: number, injected: number, absorbed: number): PcsAnswer => {
    const energies = { energy_injected_total_kwh: injected, energy_absorbed_total_kwh: absorbed }
    const answer = converted(null)
    return { ...answer, pcs: { ...answer.pcs, ac_power_kw, ...energies } }
  }
  const measured = () => {
    const { power_kw, charged_total_kwh, discharged_total_kwh } = last()
    return [power_kw, charged_total_kwh, discharged_total_kwh]
  }
  read('7.0', passed(40, 100, 110))
  read('7', bank)
  assert.deepEqual(measured(), [61, 900, null], 'of one PCS alone it does not follow')
  read('7.1', passed(19, 5, 6))
  read('7', bank)
  assert.deepEqual(measured(), [59, 900, 105])
  read('7', own)
  assert.deepEqual(measured(), [59, 116, 105])
  read('7', bank, 60)
  assert.deepEqual(measured(), [61, 900, null], 'what was told long ago does not count')
})

test('what does not answer any more is told of, the PCS by its number', async () => {
  const { planOf, gone } = await plansOf(battery)
  planOf('7').onGone?.()
  planOf('7.1').onGone?.()
  planOf('7.clusters').onGone?.()
  assert.deepEqual(gone, [
    [7, null],
    [7, 1],
  ])
})

test('alarms of a battery, of its PCS and of each cluster are conditions of their own', async () => {
  const { planOf, read, readings } = await plansOf(battery)
  const cluster = (cluster_idx: number, alarm_1: number) => ({
    ...emptyReading('cluster'),
    cluster_idx,
    alarm_1,
  })
  const clusters = {
    clusters: [cluster(0, 0), cluster(2, 1 << 22)],
    alarm_table: 'sunspec-string-804',
  }
  const first = [
    read('7', battered(null, 2)),
    read('7.1', converted(null, 1)),
    read('7.clusters', clusters),
  ]
  assert.deepEqual(first, [[], [], []], 'one poll is none')
  const events = [
    ...read('7', battered(null, 2)),
    ...read('7.1', converted(null, 1)),
    ...read('7.clusters', clusters),
  ]
  assert.deepEqual(codesOf(events), [
    'bess 7 alarm:sunspec-battery-802:1:1 rising',
    'pcs 7.1 alarm:sunspec-701:1:0 rising',
    'bess 7.cluster.2 alarm:sunspec-string-804:1:22 rising',
  ])
  assert.deepEqual(
    events.map(({ severity }) => severity),
    ['critical', 'critical', 'critical'],
  )
  assert.deepEqual(planOf('7.clusters').tells_of, ['7.cluster.0', '7.cluster.1', '7.cluster.2'])
  const recorded = readings.filter(({ kind }) => kind === 'cluster')
  assert.deepEqual(
    recorded.map(({ reading }) => [reading.bess_id, reading.cluster_idx]),
    [
      [7, 0],
      [7, 2],
      [7, 0],
      [7, 2],
    ],
  )
})

test('a heartbeat that stands still begins and ends, of the battery and of each PCS', async () => {
  const { planOf, read } = await plansOf(battery)
  for (const id of ['7', '7.1']) await planOf(id).open(fakeBus)
  const polls = (counts: readonly (number | null)[], from_s: number) =>
    counts.flatMap((count, nth) => [
      ...read('7', battered(count), from_s + 2 * nth),
      ...read('7.1', { ...converted(null), heartbeat: count }, from_s + 2 * nth),
    ])
  assert.deepEqual(polls([5, 6, 6, 6, 6, 6], 0), [], 'not before ten seconds')
  const lost = polls([6, 6], 12)
  assert.deepEqual(codesOf(lost), ['bess 7 heartbeat_lost rising', 'pcs 7.1 heartbeat_lost rising'])
  assert.deepEqual(
    lost.map(({ at: told_at, severity, details }) => [told_at - at, severity, details]),
    [1, 2].map(() => [12_000, 'major', { name: 'The heartbeat stands still' }]),
  )
  assert.deepEqual(codesOf(polls([7, 8], 16)), [
    'bess 7 heartbeat_lost falling',
    'pcs 7.1 heartbeat_lost falling',
  ])
  polls([8, 8, 8, 8, 8], 20)
  await planOf('7').open(fakeBus)
  assert.deepEqual(read('7', battered(8), 30), [], 'of a new contact nothing is known yet')
  assert.deepEqual(codesOf(read('7', battered(null), 32)), ['bess 7 heartbeat_lost falling'])
})

test('the fire alarm system is told of once two polls agree, and until it says otherwise', async () => {
  const { read } = await plansOf(battery)
  const poll = (
    fire_system_state: 'normal' | 'warning' | 'alarm' | 'fault' | null,
    nth: number,
  ) => {
    const answer = battered(null)
    const values = { ...answer.battery, fire_system_state }
    const events = read('7', { ...answer, battery: values }, 2 * nth)
    return events.map(({ code, edge, severity, at: told_at }) =>
      [code, edge, severity, (told_at - at) / 2000].join(' '),
    )
  }
  const states = ['normal', 'alarm', 'warning', 'warning', null, 'alarm', 'alarm'] as const
  assert.deepEqual(states.flatMap(poll), [
    'fire_system_warning rising warning 3',
    'fire_system_warning falling warning 6',
    'fire_system_alarm rising critical 6',
  ])
  assert.deepEqual([poll(null, 7), poll(null, 8)], [[], []], 'silence ends no fire')
  assert.deepEqual([poll('fault', 9), poll('fault', 10)].flat(), [
    'fire_system_fault rising major 10',
    'fire_system_alarm falling critical 10',
  ])
  assert.deepEqual([poll('normal', 11), poll('normal', 12)].flat(), [
    'fire_system_fault falling major 12',
  ])
})

test('cells are readings of one cluster', async () => {
  const { read, last, readings } = await plansOf(battery)
  read('7.cells', { ...emptyReading('cells'), cluster_idx: 2, cell_voltage_mv: [3300, null] })
  assert.equal(readings[0]?.kind, 'cells')
  assert.deepEqual(
    [last().bess_id, last().cluster_idx, last().cell_voltage_mv, last().measured_at],
    [7, 2, [3300, null], at],
  )
})

test('a setup is told whole at first and when it is another, else that it was read', async () => {
  const { read, told } = await plansOf(battery)
  const setup = { soc_min_pct: 5, protection: [], raw_registers: [] }
  read('7.setup', setup)
  read('7.setup', { ...setup }, 60)
  read('7.setup', { ...setup, soc_min_pct: 8 }, 120)
  assert.deepEqual(told, [
    ['battery_setup', '7', { ...setup, bess_id: 7, read_at: at }],
    ['battery_setup', '7.reread', { bess_id: 7, read_at: at + 60_000, told_at: at }],
    ['battery_setup', '7', { ...setup, soc_min_pct: 8, bess_id: 7, read_at: at + 120_000 }],
  ])
  read('7.setup', { ...setup, soc_min_pct: 8 }, 90)
  const back = { ...setup, soc_min_pct: 8, bess_id: 7, read_at: at + 90_000 }
  assert.deepEqual(told.at(-1), ['battery_setup', '7', back], 'by a clock that was put back')
})

test('a driver without batteries is said so', async () => {
  const { openCells: _none, ...without } = driver
  const { planOf } = await plansOf(battery, { driver: without })
  assert.throws(() => planOf('7.cells').open(fakeBus), /the driver sunspec reads no Cells/)
})

test('a PCS that is not built for what site.yaml says is told of, once, until it is', async () => {
  const { read } = await plansOf(battery)
  const rated_kw = battery.pcs[0]!.rated_power_kw
  const codes = (built_kw: number) => codesOf(read('7.0', builtFor(built_kw)))
  assert.deepEqual(codes(rated_kw), [])
  assert.deepEqual(codes(rated_kw / 10), ['pcs 7.0 rating_differs rising'])
  assert.deepEqual(codes(rated_kw / 10), [])
  assert.deepEqual(codes(rated_kw), ['pcs 7.0 rating_differs falling'])
})

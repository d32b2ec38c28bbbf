import assert from 'node:assert/strict'
import test from 'node:test'
import type { Profile } from '@heliograph/domain/profile'
import { emptyReading, type InverterReading, type Limiter } from '@heliograph/domain/readings'
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import { Conditions } from './conditions.ts'
import type { DeviceRead } from './control/controlled-device.ts'
import type { Driver } from './drivers/driver.ts'
import { profileOf } from './drivers/fixtures/profiles.ts'
import type { LimitControl } from './drivers/limit-control.ts'
import { fakeBus, promptTraits } from './fixtures/driver.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'
import { pollPlans } from './poll-plans.ts'

const stamp = { measured_at: 1_780_308_000_000, quality: 'good' } as const
const limit = { limit_w: 40_000, static_max_w: 100_000, revert: null }
const control: LimitControl = {
  traits: promptTraits,
  settable: (limit_w) => limit_w,
  readLimit: async () => limit,
  writeLimit: async () => {},
  arm: async () => [],
}
const identity = { manufacturer: null, model: null, serial_number: null, firmware_version: null }
const never = () => Promise.reject(new Error('not read by hand'))
const driver: Driver = {
  openInverter: async () => ({ identity, control, read: never }),
  openController: async () => ({ identity, control, read: never }),
  openCombiner: never,
  openStation: never,
  openMeter: never,
}

async function plansOf(site: Site, limited_by: Limiter, profile?: Profile) {
  const readings: InverterReading[] = []
  const reads = new Map<number, DeviceRead>()
  const meters = new Map<number, number | null>()
  const gone: number[] = []
  const plans = pollPlans(site, {
    driverOf: () => (profile ? { ...driver, profile } : driver),
    recorder: {
      reading: (_kind, reading) => readings.push(reading as InverterReading),
      tell: () => {},
    },
    conditions: await Conditions.open('/nonexistent/conditions.json'),
    newest: { inverters: new Map(), stations: new Map() },
    intervals: defaultPollIntervals,
    control: {
      onRead: (id, read) => reads.set(id, read),
      onGone: (id) => gone.push(id),
      onMeter: (id, power_w) => meters.set(id, power_w),
      limitedBy: () => limited_by,
    },
  })
  return { plans, readings, reads, meters, gone }
}

const answer = {
  inverter: { ...emptyReading('inverter'), ac_power_kw: 39.5, power_limit_pct: 40 },
  strings: null,
  alarm_table: null,
  ratings: null,
  limit,
}

test('control hears of each poll, and of an inverter that is gone', async () => {
  const { plans, reads, gone } = await plansOf(siteOf([inverterOf(1)]), 'curtailment')
  const [plan] = plans
  await plan!.open(fakeBus)
  plan!.onRead(answer, stamp, { round_at: 5000, took_ms: 300 })
  assert.deepEqual(reads.get(1), {
    control,
    limit,
    power_w: 39_500,
    poll: { round_at: 5000, took_ms: 300 },
  })
  plan!.onGone?.()
  assert.deepEqual(gone, [1])
})

test('power that one source alone documents is recorded, and unknown to control', async () => {
  const meter = { meter_id: 3, name: 'M', role: 'plant', connection: 'a', unit_id: 9 } as const
  const drivers = ['goodwe_dt', 'sungrow_logger_plant', 'janitza_umg'] as const
  const heard = []
  for (const name of drivers) {
    const site = siteOf([inverterOf(1)], { meters: [{ ...meter, driver: name }] })
    const { plans, readings, reads, meters } = await plansOf(site, 'none', profileOf(name))
    for (const plan of plans) {
      const is_meter = plan.kind === 'meter'
      plan.onRead(is_meter ? { ...emptyReading('meter'), active_power_kw: 39.5 } : answer, stamp)
    }
    assert.equal(readings[0]?.ac_power_kw, 39.5)
    heard.push([name, reads.get(1)!.power_w, meters.get(3)])
  }
  assert.deepEqual(heard, [
    ['goodwe_dt', null, 39_500],
    ['sungrow_logger_plant', 39_500, null],
    ['janitza_umg', 39_500, 39_500],
  ])
})

test('a reading has the limit that was read, and what set it', async () => {
  for (const limited_by of ['curtailment', 'external', 'permit', 'unknown'] as const) {
    const { plans, readings } = await plansOf(siteOf([inverterOf(1)]), limited_by)
    await plans[0]!.open(fakeBus)
    plans[0]!.onRead(answer, stamp)
    assert.equal(readings[0]?.limited_by, limited_by)
    assert.equal(readings[0]?.power_limit_pct, 40)
  }
})

test('the controller of a plant is polled, and is none while it obeys someone else', async () => {
  const controller = { connection: 'a', unit_id: 0, driver: 'huawei_smartlogger' } as const
  const inverters = [inverterOf(1)]
  const loggers = [{ logger_id: 7, name: 'L', rated_power_kw: 100, controller, inverters }]
  const { plans, reads, gone } = await plansOf(siteOf(inverters, { loggers }), 'none')
  const plan = plans.find(({ kind }) => kind === 'logger')!
  await plan.open(fakeBus)
  const events = ['export limitation', null].map((foreign_control) => {
    const answer = { limit, active_power_kw: 39.5, foreign_control, alarms: null }
    const [event] = plan.onRead(answer, stamp)
    return { control: reads.get(-7)?.control ?? null, event }
  })
  assert.deepEqual(
    events.map(({ control: has, event }) => [has !== null, event?.code, event?.edge]),
    [
      [false, 'foreign_control', 'rising'],
      [true, 'foreign_control', 'falling'],
    ],
  )
  assert.equal(reads.get(-7)?.power_w, 39_500)
  plan.onGone?.()
  assert.deepEqual(gone, [-7])
})

test('alarms of the controller of a plant are events of the plant', async () => {
  const controller = { connection: 'a', unit_id: 0, driver: 'huawei_smartlogger' } as const
  const inverters = [inverterOf(1)]
  const loggers = [{ logger_id: 7, name: 'L', rated_power_kw: 100, controller, inverters }]
  const { plans } = await plansOf(siteOf(inverters, { loggers }), 'none')
  const plan = plans.find(({ kind }) => kind === 'logger')!
  await plan.open(fakeBus)
  const eventsOf = (alarm_1: number | null) => {
    const alarms = { table: 'huawei-smartlogger', words: { alarm_1, alarm_2: null } }
    const answer = { limit, active_power_kw: 39.5, foreign_control: null, alarms }
    return plan
      .onRead(answer, stamp)
      .map(({ source_kind, source_id, code, edge, message }) =>
        [source_kind, source_id, code, edge, message].join(' '),
      )
  }
  const name = 'Miniature circuit breaker open'
  const told = 'logger 7 alarm:huawei-smartlogger:1:17'
  assert.deepEqual(
    [2 ** 17, 2 ** 17, null, 0, 0].flatMap((word) => eventsOf(word)),
    [`${told} rising ${name}`, `${told} falling ${name}: over`],
  )
})

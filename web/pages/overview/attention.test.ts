import assert from 'node:assert/strict'
import test from 'node:test'
import type { Alert, BatteryDeviation, Overview, StringHealth, WorkOrder } from '@heliograph/sdk'
import {
  alertItem,
  deviationItem,
  healthItems,
  type Item,
  ranked,
  stringItems,
  workItems,
} from './attention.ts'

const alert = {
  alert_id: 1,
  severity: 'major',
  status: 'acknowledged',
  title: 'A string delivers no current',
  started_at: '2026-06-21T08:10:00Z',
  lost_amount: 0.73,
  currency: 'EUR',
  logger_id: 2,
  inverter_id: 7,
  string_index: 3,
} as Alert

test('the most severe is first, then what costs the most', () => {
  const item = (key: string, severity: Item['severity'], lost_amount: number | null) =>
    ({ key, severity, lost_amount }) as Item
  const items = [
    item('dear warning', 'warning', 90),
    item('unknown', 'major', null),
    item('cheap', 'major', 1),
    item('dear', 'major', 2),
    item('critical', 'critical', null),
  ]
  assert.deepEqual(
    ranked(items).map(({ key }) => key),
    ['critical', 'dear', 'cheap', 'unknown', 'dear warning'],
  )
})

test('an alert names its device, its start and the lost money', () => {
  const { title, since, note, lost_amount, to } = alertItem(alert, 'E-3 › String 3')
  assert.equal(title, 'E-3 › String 3: A string delivers no current')
  assert.deepEqual([since, note, lost_amount], [alert.started_at, 'Acknowledged', 0.73])
  assert.equal(to, '/alerts?alert_id=1')
})

test('a health reason is left out when an alert of its device is open', () => {
  const overview = {
    status: {
      health_reasons: [
        'inverter_fault:7',
        'logger_disconnected:2',
        'logger_offline:2',
        'critical_alerts:1',
      ],
    },
    loggers: [{ logger_id: 2, name: 'East plant' }],
    inverters: [{ inverter_id: 7, name: 'E-3' }],
  } as unknown as Overview
  assert.deepEqual(
    healthItems(overview, []).map(({ severity, title, to }) => [severity, title, to]),
    [
      ['major', 'Inverter E-3 is in fault', '/inverters/7'],
      ['critical', 'Plant East plant is offline: communication lost', '/plants/2'],
    ],
  )
  assert.deepEqual(healthItems(overview, [alert]), [])
})

test('weak strings are one item with their loss', () => {
  const string = (status: StringHealth['status'], estimated_loss_kwh: number) =>
    ({ status, estimated_loss_kwh }) as StringHealth
  const strings = [string('watch', 2), string('dead', 48), string('healthy', 0)]
  const [item] = stringItems(strings, { per_mwh: 80, currency: 'EUR' })
  assert.equal(item?.title, '2 strings are unhealthy over 7 days: 1 dead, 1 watch')
  assert.deepEqual([item?.severity, item?.lost_amount, item?.currency], ['major', 4, 'EUR'])
  const [watch] = stringItems(strings.slice(0, 1), null)
  assert.deepEqual([watch?.severity, watch?.lost_amount], ['warning', null])
  assert.deepEqual(stringItems(strings.slice(2), null), [])
})

test('each overdue work order is an item, the others are counted', () => {
  const order = (wo_id: number, due_at: string | null, assigned_to: string | null) =>
    ({ wo_id, number: `WO-${wo_id}`, title: 'Fuse', due_at, assigned_to }) as WorkOrder
  const orders = [
    order(1, '2026-06-20T12:00:00Z', null),
    order(2, '2026-06-22T12:00:00Z', null),
    order(3, null, 'ada@example.com'),
  ]
  assert.deepEqual(
    workItems(orders, Date.parse('2026-06-21T12:00:00Z')).map(({ title, note }) => [title, note]),
    [
      ['WO-1 is overdue: Fuse', 'Not assigned'],
      ['2 open work orders', '1 not assigned'],
    ],
  )
  assert.deepEqual(workItems([], 0), [])
})

test('a deviation is an item only while it costs money', () => {
  const unit = { bess_id: 1, name: 'Battery South' }
  const hour = (cost_amount: number | null, within_tolerance = false) =>
    ({
      planned_soc_end_pct: 50,
      within_tolerance,
      cost_amount,
      currency: 'EUR',
    }) as BatteryDeviation
  const [item] = deviationItem(unit, [hour(3), hour(-1), hour(0, true)])
  assert.equal(item?.title, 'Battery South: 2 of 3 planned hours deviated today')
  assert.equal(item?.lost_amount, 2)
  assert.equal(deviationItem(unit, [hour(null)])[0]?.lost_amount, null)
  assert.deepEqual(deviationItem(unit, [hour(-3)]), [])
  assert.deepEqual(deviationItem(unit, [hour(0, true)]), [])
})

test('while the edge is offline its inverters are no items of their own', () => {
  const overview = {
    status: { health_reasons: ['edge_offline', 'inverter_disconnected:7'] },
    loggers: [],
    inverters: [{ inverter_id: 7, name: 'E-3' }],
  } as unknown as Overview
  assert.deepEqual(
    healthItems(overview, []).map(({ title }) => title),
    ['Site offline: communication lost'],
  )
})

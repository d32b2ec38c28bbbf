import assert from 'node:assert/strict'
import test from 'node:test'
import { alertSources, readSuppression } from '@heliograph/server/alerts/alert-sources'
import { evaluateSite } from '@heliograph/server/alerts/evaluate'
import {
  buildPlant,
  curtail,
  type FaultSpan,
  instant,
  looks,
  planWork,
  step_ms,
  type Time,
  tell,
} from './alert-week-plant.ts'
import { silent, testDatabase } from './postgres.ts'

const faults: FaultSpan[] = [
  { is: 'plant_silent', logger_id: 3, from: 'mon 09:00', to: 'mon 12:00' },
  { is: 'inverter_fault', inverter_id: 7, from: 'mon 14:00', to: 'mon 16:00' },
  { is: 'door_open', from: 'tue 06:30', to: 'tue 07:00' },
  { is: 'string_dead', inverter_id: 7, string_index: 3, from: 'tue 08:00', to: 'tue 12:00' },
  { is: 'fan_stands', from: 'tue 13:00', to: 'tue 15:00' },
  { is: 'door_open', from: 'wed 09:00', to: 'wed 10:00' },
  { is: 'edge_lost', from: 'wed 12:00', to: 'wed 14:00' },
  { is: 'battery_alarm', from: 'thu 13:00', to: 'thu 14:30' },
  { is: 'negative_price', from: 'fri 11:00', to: 'fri 13:00' },
  { is: 'inverter_silent', inverter_id: 8, from: 'sat 08:30', to: 'sat 11:30' },
  { is: 'prices_late', from: 'sat 10:00', to: 'sat 16:00' },
  { is: 'inverter_silent', inverter_id: 10, from: 'sun 08:30', to: 'sun 10:00' },
]

type Expected = [code: string, source: string, from: Time, to: Time, suppressed: string | null]
const expected: Expected[] = [
  ['logger_offline', 'logger 3', 'mon 09:00', 'mon 12:00', null],
  ['inverter_fault', 'inverter 7', 'mon 14:00', 'mon 16:00', null],
  ['string_zero_current', 'string 7.3', 'tue 08:00', 'tue 12:00', null],
  ['fan_failure', 'node ts-1', 'tue 13:00', 'tue 15:00', null],
  ['door_open', 'node ts-1', 'wed 09:00', 'wed 10:00', null],
  ['edge_offline', 'edge 00000000000a', 'wed 12:00', 'wed 14:00', null],
  // It never was applied, which is told for a day after its end.
  ['curtailment_not_applied', 'logger 2', 'thu 10:00', 'fri 11:00', null],
  ['battery_alarm', 'bess 1', 'thu 13:00', 'thu 14:30', null],
  ['price_negative', 'market XX', 'fri 11:00', 'fri 13:00', null],
  ['inverter_offline', 'inverter 8', 'sat 08:30', 'sat 11:30', 'maintenance'],
  ['prices_missing', 'market XX', 'sat 13:57', 'sat 16:00', null],
  // Longer than it was planned.
  ['inverter_offline', 'inverter 10', 'sun 08:30', 'sun 10:00', null],
]
/** What happens between two looks is seen at the next. */
const tolerance_ms = step_ms + 60_000

interface Row {
  code: string
  source: string
  started_at: Date
  ended_at: Date | null
  status: string
  suppressed_reason: string | null
  occurrence_count: number
}

test('in a week with faults exactly these are alerts, each of its device and its time', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await buildPlant(db, faults)
  await curtail(db, { from: 'thu 10:00', to: 'thu 11:00', is_applied: false })
  await curtail(db, { from: 'fri 14:00', to: 'fri 15:00', is_applied: true })
  await planWork(db, { inverter_id: 8, from: 'sat 08:00', to: 'sat 12:00' })
  await planWork(db, { inverter_id: 10, from: 'sun 08:00', to: 'sun 09:00' })
  const failures: unknown[] = []
  const log = { ...silent, error: (fields: unknown) => void failures.push(fields) }
  const parts = { db, log, sources: alertSources, listeners: [], readSuppression }
  const unsuppressed: unknown[] = []
  for (const now_ms of looks()) {
    await tell(db, faults, now_ms)
    const changes = (await evaluateSite(parts, 'demo', new Date(now_ms))) ?? []
    for (const { kind, alert } of changes) {
      if (kind === 'unsuppressed') unsuppressed.push([alert.source_id, new Date(now_ms)])
    }
  }
  assert.deepEqual(failures, [])
  const alerts = await db.query<Row>(
    `select code, source_type || ' ' || source_id as source, started_at, ended_at, status,
       suppressed_reason, occurrence_count
     from alerts order by started_at, code`,
  )
  assert.deepEqual(
    alerts.map((alert) => `${alert.code} ${alert.source}`),
    expected.map(([code, source]) => `${code} ${source}`),
    JSON.stringify(alerts, null, 1),
  )
  for (const [nth, [code, source, from, to, suppressed]] of expected.entries()) {
    const alert = alerts[nth]!
    const name = `${code} ${source}: ${JSON.stringify(alert)}`
    const isNear = (at: Date | null, time: Time) =>
      at !== null && Math.abs(at.getTime() - instant(time).getTime()) <= tolerance_ms
    assert.ok(isNear(alert.started_at, from), name)
    assert.ok(isNear(alert.ended_at, to), name)
    assert.equal(alert.suppressed_reason, suppressed, name)
    assert.deepEqual([alert.status, alert.occurrence_count], ['resolved', 1], name)
  }
  assert.deepEqual(unsuppressed, [['10', instant('sun 09:00')]])
})

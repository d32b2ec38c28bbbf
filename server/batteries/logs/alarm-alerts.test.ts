import assert from 'node:assert/strict'
import test from 'node:test'
import { dedupKey } from '../../alerts/finding.ts'
import { settingsInForce } from '../../alerts/settings.ts'
import { findBatteries } from '../../alerts/sources/batteries.ts'
import { addReading, noon, servedSite } from '../../fixtures/served-site.ts'
import type { Database } from '../../storage/database.ts'
import { addBatteries, bessValues, pcsValues } from '../fixtures/battery-site.ts'

type Row = Record<string, unknown>

test('an alarm has its alert, and counts until that is acknowledged', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addBatteries(db)
  await addAlarms(db)
  const { findings } = await findBatteries({
    db,
    now: noon,
    settings: settingsInForce({}),
    site: { site_id: 'demo', timezone: 'UTC', latitude: 48, longitude: 12, currency: 'EUR' },
  })
  const keys = findings
    .filter(({ code, bess_id }) => bess_id === 1 && code !== 'soc_low')
    .map(dedupKey)
  const resolved = 'battery_alarm:bess:1:OVER_TEMP_WARNING'
  assert.ok(keys.includes(resolved))
  // Of the unit, not of its clusters; it is over, and the alert not yet resolved.
  const over = 'battery_alarm:bess:1:GROUND_FAULT'
  await addAlerts(db, [...keys, over, 'bess_offline:pcs:1.1', 'battery_alarm:bess:2:OTHER'])
  await db.execute(
    `update alerts set status = 'resolved', resolved_at = now(), resolution = 'manual'
     where dedup_key = $1`,
    [resolved],
  )
  const { body } = await get('/bess/1/alarms/states')
  const alerts = await db.query<{ alert_id: number; dedup_key: string }>(
    'select alert_id, dedup_key from alerts',
  )
  const keyOf = new Map(alerts.map(({ alert_id, dedup_key }) => [alert_id, dedup_key]))
  const told = body.data.flatMap(({ alert_id, source, code }: Row) =>
    alert_id === null ? [] : `${source} ${code} ${keyOf.get(Number(alert_id))}`,
  )
  assert.deepEqual(told, [
    `bms GROUND_FAULT ${over}`,
    'bms alarm_1_bit_27 battery_alarm:bess:1:alarm_1_bit_27',
    'pcs OVER_TEMP battery_alarm:pcs:1.0:OVER_TEMP',
    'pcs alarm_1_bit_23 battery_alarm:pcs:1.0:alarm_1_bit_23',
    'cluster OVER_TEMP_WARNING battery_alarm:bess:1:OVER_TEMP_WARNING.cluster.1',
    'cluster FAN_ERROR battery_alarm:bess:1:FAN_ERROR.cluster.1',
    'communication heartbeat_lost heartbeat_lost:bess:1:heartbeat_lost',
    'communication device_offline bess_offline:pcs:1.1',
  ])
  const unacknowledged = async () => (await get('/bess/1/alarms/counts')).body.unacknowledged
  assert.equal(await unacknowledged(), 8)
  await db.execute(
    "update alerts set status = 'acknowledged' where dedup_key like '%FAN_ERROR%' or code = 'heartbeat_lost'",
  )
  assert.equal(await unacknowledged(), 6)
  const { alarms_summary } = (await get('/bess/1/dashboard')).body
  assert.equal(alarms_summary.unacknowledged, 6)
})

/** Of unit 1: two alarms of the whole, two of PCS 0, two of cluster 1, and PCS 1 that is silent. */
async function addAlarms(db: Database) {
  await addReading(db, 'bess', {
    bess_id: 1,
    measured_at: '2026-06-21T09:59:58Z',
    ...bessValues({ alarm_1: 2 ** 2 + 2 ** 27, alarm_2: 0, alarm_3: 0, alarm_4: 0 }),
    heartbeat_ok: 0,
    fire_system_state: 'normal',
  })
  await addReading(db, 'pcs', {
    bess_id: 1,
    measured_at: '2026-06-21T09:59:50Z',
    ...pcsValues({ pcs_idx: 0, alarm_1: 2 ** 7 + 2 ** 23 }),
  })
  await addReading(db, 'cluster', {
    bess_id: 1,
    cluster_idx: 1,
    measured_at: '2026-06-21T09:59:55Z',
    alarm_1: 2 ** 21 + 2 ** 2,
  })
  await db.execute(
    `insert into events (site_id, source_kind, source_id, code, edge, severity, message, details,
       at, received_at)
     values ('demo', 'pcs', '1.1', 'device_offline', 'rising', 'major', 'timeout', '{}', $1, $1)`,
    [noon],
  )
}

/** Open alerts by their keys, of the units that these name. */
const addAlerts = (db: Database, keys: readonly string[]) =>
  db.execute(
    `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
       source_type, source_id, bess_id, started_at, detected_at, last_seen_at, created_at,
       updated_at)
     select 'demo', key, split_part(key, ':', 1), 'T', 'M.', 'battery', 'major', 'active',
       split_part(key, ':', 2), split_part(key, ':', 3),
       split_part(split_part(key, ':', 3), '.', 1)::int, now(), now(), now(), now(), now()
     from unnest($1::text[]) as k (key)`,
    [keys],
  )

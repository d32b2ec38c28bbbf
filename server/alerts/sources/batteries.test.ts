import assert from 'node:assert/strict'
import test from 'node:test'
import { addBatteries, bessValues } from '../../batteries/fixtures/battery-site.ts'
import { after, contextOf, noon, openAlert, useSourceSite } from '../fixtures/source-site.ts'
import { findBatteries } from './batteries.ts'
import { findEdgeConditions } from './edge-conditions.ts'

const sourceSite = useSourceSite()

async function units() {
  const db = await sourceSite()
  await addBatteries(db)
  const measure = async (bess_id: number, values: ReturnType<typeof bessValues>, minute = 0) => {
    const reading = { site_id: 'demo', bess_id, measured_at: after(minute), ...bessValues(values) }
    const row = [JSON.stringify(reading), after(minute)]
    await db.execute('delete from bess_readings where bess_id = $1 and measured_at = $2', [
      bess_id,
      after(minute),
    ])
    await db.execute(
      `insert into bess_readings select r.* from jsonb_populate_record(null::bess_readings, $1) r`,
      row.slice(0, 1),
    )
    await db.execute('delete from bess_latest where bess_id = $1', [bess_id])
    await db.execute(
      `insert into bess_latest select r.* from jsonb_populate_record(null::bess_latest,
         $1::jsonb || jsonb_build_object('received_at', $2::timestamptz)) r`,
      row,
    )
  }
  await measure(1, {})
  await measure(2, {})
  const scan = (minute = 0) => findBatteries(contextOf(db, after(minute)))
  const told = async (minute = 0) =>
    (await scan(minute)).findings.map(({ code, source_id, part, severity }) =>
      [code, source_id, part, severity].filter(Boolean).join(' '),
    )
  const event = (id: string, code: string, edge: string, minute: number) =>
    db.execute(
      `insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
         message) values ('demo', $1, $1, 'bess', $2, $3, $4, 'major', 'm')`,
      [after(minute), id, code, edge],
    )
  return { db, measure, scan, told, event }
}

test('units that are well have no alerts', async () => {
  const { told } = await units()
  assert.deepEqual(await told(), [])
})

test('alarms are those of the words, each with the severity and the code of its table', async () => {
  const { measure, told, scan, event } = await units()
  // SunSpec 802 Evt1: bit 1 is over temperature, bit 2 its warning.
  await measure(1, { alarm_1: 0b110 })
  await event('1', 'alarm:sunspec-battery-802:1:1', 'rising', -30)
  await event('1', 'setpoint_not_taken', 'rising', -30)
  const all = await told()
  assert.equal(all.length, 2, all.join())
  const { findings } = await scan()
  const ranks = findings.map(({ severity }) => severity)
  assert.equal(new Set(ranks).size, 2, 'an alarm is worse than its warning')
  const alarm = findings.find(({ since }) => since.getTime() === after(-30).getTime())
  assert.deepEqual(alarm?.vendor_codes, [alarm?.part])
  assert.equal(alarm?.bess_id, 1)
  assert.match(alarm?.message ?? '', /^Battery South: /)
})

test('fire and heartbeat are alerts of their own', async () => {
  const { measure, told } = await units()
  await measure(1, { fire_system_state: 'alarm' })
  await measure(2, { heartbeat_ok: 0, fire_system_state: 'warning' })
  assert.deepEqual((await told()).toSorted(), [
    'battery_fire 1 fire_system_alarm critical',
    'battery_fire 2 fire_system_warning warning',
    'heartbeat_lost 2 heartbeat_lost major',
  ])
})

test('a charge below what is to be kept, since when', async () => {
  const { measure, scan, told } = await units()
  await measure(2, { soc_pct: 9.5 }, -30)
  await measure(2, { soc_pct: 9 }, -20)
  assert.deepEqual(await told(-20), [])
  await measure(2, { soc_pct: 8.5 }, -10)
  await measure(2, { soc_pct: 8 }, 0.1)
  const { findings } = await scan(0.1)
  assert.deepEqual(
    findings.map(({ code, since, value, threshold }) => [code, since, value, threshold]),
    [['soc_low', noon, 8, 9]],
    'at noon it was well',
  )
})

test('a unit that does not answer is told, and what it said last neither ends nor is forgotten', async () => {
  const { measure, scan, told } = await units()
  await measure(1, { fire_system_state: 'alarm', soc_pct: 1 })
  assert.deepEqual(await told(0.9), [
    'battery_fire 1 fire_system_alarm critical',
    'bess_offline 1',
    'bess_offline 2',
  ])
  const { isUnknown } = await scan(0.9)
  const open = (code: 'soc_low' | 'bess_offline', bess_id: number) =>
    isUnknown(openAlert(code, { bess_id }))
  assert.deepEqual(
    [open('soc_low', 1), open('bess_offline', 1), open('soc_low', 9)],
    [true, false, false],
  )
  const silent = await scan(5)
  assert.deepEqual(
    silent.findings.map(({ code }) => code),
    ['battery_fire'],
  )
  assert.equal(silent.isUnknown(openAlert('bess_offline', { bess_id: 1 })), true)
})

test('the last word of the edge says whether it holds a unit for want of data', async () => {
  const { db, told } = await units()
  const note = (minute: number, reason_code: string) =>
    db.execute(
      `insert into battery_control_notes (site_id, bess_id, at, nth, tier, actor, action,
         reason_code, message, success)
       values ('demo', 1, $1, 0, 'protection', 'edge', 'watchdog', $2, 'm', true)`,
      [after(minute), reason_code],
    )
  await note(-10, 'battery_stale')
  assert.deepEqual(await told(), ['battery_stale 1'])
  await note(-5, 'schedule')
  assert.deepEqual(await told(), [])
})

async function unitsWithPcs() {
  const parts = await units()
  const { db } = parts
  const status = (kind: 'bess' | 'pcs', id: string, comm_state: string, minute: number) =>
    db.execute(
      `insert into device_status (site_id, kind, id, comm_state, since_at, updated_at)
       values ('demo', $1, $2, $3, $4, $4)
       on conflict (site_id, kind, id) do update set comm_state = $3, since_at = $4`,
      [kind, id, comm_state, after(minute)],
    )
  const note = (minute: number, reason_code: string) =>
    db.execute(
      `insert into battery_control_notes (site_id, bess_id, at, nth, tier, actor, action,
         reason_code, message, success)
       values ('demo', 1, $1, 0, 'protection', 'edge', 'watchdog', $2, 'm', true)`,
      [after(minute), reason_code],
    )
  const complain = async (minute: number) => {
    for (const code of ['setpoint_not_taken', 'pcs_counts_in_full']) {
      await db.execute(
        `insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
           message) values ('demo', $1, $1, 'pcs', '1.0', $2, 'rising', 'major', 'm')`,
        [after(minute), code],
      )
    }
  }
  const all = async (minute: number) => {
    const context = contextOf(db, after(minute))
    const scans = await Promise.all([findBatteries(context), findEdgeConditions(context)])
    return scans.flatMap(({ findings }) =>
      findings.map(
        ({ code, source_type, source_id, since }) =>
          `${code} ${source_type} ${source_id} ${(since.getTime() - noon.getTime()) / 60_000}`,
      ),
    )
  }
  await status('bess', '1', 'connected', -600)
  await status('pcs', '1.0', 'connected', -600)
  return { ...parts, status, note, complain, all }
}

test('a unit that does not answer is one alert, with all that follows of it', async () => {
  const { measure, status, note, complain, all } = await unitsWithPcs()
  await measure(1, {}, -20)
  await status('bess', '1', 'disconnected', -19.8)
  await status('pcs', '1.0', 'disconnected', -19.8)
  await note(-19.7, 'battery_stale')
  await complain(-19.5)
  assert.deepEqual(await all(0), ['bess_offline bess 1 -20'])
})

test('a PCS that does not answer is one alert, also where its unit does', async () => {
  const { status, note, complain, all } = await unitsWithPcs()
  await status('pcs', '1.0', 'disconnected', -10)
  await note(-9.8, 'pcs_stale')
  await complain(-9.5)
  assert.deepEqual(await all(0), ['bess_offline pcs 1.0 -10'])
})

test('what is back has the time to settle before anything is told of it', async () => {
  const { status, note, complain, all, scan } = await unitsWithPcs()
  await status('bess', '1', 'connected', -1)
  await status('pcs', '1.0', 'disconnected', -20)
  await note(-19.7, 'battery_stale')
  await complain(-19.5)
  // With the edge's last word, since the unit and its PCS last changed.
  assert.deepEqual(await all(0), ['battery_stale bess 1 -1'])
  const offline = { source_type: 'pcs', source_id: '1.0', bess_id: 1 } as const
  assert.equal((await scan()).isUnknown(openAlert('bess_offline', offline)), true)
  await status('pcs', '1.0', 'connected', -0.5)
  assert.deepEqual((await all(0)).toSorted(), [
    'battery_stale bess 1 -0.5',
    'edge_condition pcs 1.0 -0.5',
    'setpoint_not_taken pcs 1.0 -0.5',
  ])
  assert.equal((await scan()).isUnknown(openAlert('bess_offline', offline)), false)
})

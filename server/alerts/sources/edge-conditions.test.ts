import assert from 'node:assert/strict'
import test from 'node:test'
import { after, contextOf, noon, useSourceSite } from '../fixtures/source-site.ts'
import { findEdgeConditions } from './edge-conditions.ts'

const sourceSite = useSourceSite()

const insert = `
  insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity, message)
  select 'demo', at, coalesce(received_at, at), kind, id, code, edge, 'major', code || ' of ' || id
  from jsonb_to_recordset($1) as e
    (at timestamptz, received_at timestamptz, kind text, id text, code text, edge text)`

interface Told {
  at: number
  received_at?: number
  kind?: string
  id?: string
  code: string
  edge: 'rising' | 'falling' | 'once'
}

async function told(events: Told[]) {
  const db = await sourceSite()
  const rows = events.map(({ at, received_at, ...event }) => ({
    kind: 'inverter',
    id: '7',
    at: after(at),
    ...event,
    ...(received_at !== undefined && { received_at: after(received_at) }),
  }))
  await db.execute(insert, [JSON.stringify(rows)])
  return {
    db,
    async found(now = noon) {
      const { findings } = await findEdgeConditions(contextOf(db, now))
      return findings.map(({ code, source_type, source_id, part }) =>
        [code, source_type, source_id, ...(part ? [part] : [])].join(' '),
      )
    },
  }
}

test('what rose and did not fall holds, by the newest event of its code and source', async () => {
  const { db, found } = await told([
    { at: -90, code: 'limit_not_armed', edge: 'rising' },
    { at: -80, code: 'rating_differs', edge: 'rising' },
    { at: -70, code: 'rating_differs', edge: 'falling' },
    { at: -60, id: '8', code: 'rating_differs', edge: 'rising' },
    { at: -50, kind: 'edge', id: 'demo', code: 'site_file_rejected', edge: 'rising' },
    { at: -45, kind: 'logger', id: '2', code: 'permit_missing', edge: 'rising' },
    { at: -40, kind: 'logger', id: '2', code: 'foreign_control', edge: 'rising' },
    { at: -30, kind: 'pcs', id: '1.0', code: 'setpoint_not_taken', edge: 'rising' },
    { at: -20, kind: 'bess', id: '1', code: 'alarm:sunspec-battery-802:1:3', edge: 'rising' },
    { at: -10, code: 'device_offline', edge: 'rising' },
    // The edge tells late of a time before.
    { at: -75, code: 'limit_not_armed', edge: 'falling' },
    { at: -74, code: 'limit_not_armed', edge: 'rising' },
  ])
  assert.deepEqual((await found()).toSorted(), [
    'control_contention logger 2 foreign_control',
    'edge_condition edge demo site_file_rejected',
    'edge_condition inverter 8 rating_differs',
    'limit_not_armed inverter 7',
    'permit_missing logger 2',
    'setpoint_not_taken pcs 1.0',
  ])
  const { findings } = await findEdgeConditions(contextOf(db))
  const armed = findings.find(({ code }) => code === 'limit_not_armed')
  assert.deepEqual(armed?.since, after(-74))
  assert.equal(armed?.inverter_id, 7)
  assert.equal(findings.find(({ code }) => code === 'permit_missing')?.logger_id, 2)
  assert.equal(findings.find(({ code }) => code === 'setpoint_not_taken')?.bess_id, 1)
})

test('of a device that is not there any more nothing holds', async () => {
  const { found } = await told([
    { at: -90, code: 'rating_differs', edge: 'rising' },
    { at: -80, code: 'device_retired', edge: 'rising' },
  ])
  assert.deepEqual(await found(), [])
})

test('what happened once holds for a day from when it came, or until a person resolved it', async () => {
  const { db, found } = await told([
    { at: -3 * 1440, received_at: -10, kind: 'edge', code: 'journal_cut', edge: 'once' },
    { at: -8 * 1440, received_at: -10, kind: 'edge', code: 'journal_dropped', edge: 'once' },
    { at: -10, kind: 'edge', code: 'agent_started', edge: 'once' },
  ])
  assert.deepEqual(await found(), ['journal_overflow edge 7 journal_cut'])
  assert.deepEqual(await found(after(1429)), ['journal_overflow edge 7 journal_cut'])
  assert.deepEqual(await found(after(1431)), [])
  const resolve = (key: string, at: Date) =>
    db.execute(
      `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
         source_type, source_id, started_at, detected_at, last_seen_at, resolved_at, resolution,
         created_at, updated_at)
       values ('demo', $1, 'journal_overflow', 't', 'm', 'c', 'major', 'resolved', 'edge', '7',
         $2, $2, $2, $2, 'manual', $2, $2)`,
      [key, at],
    )
  await resolve('journal_overflow:edge:7:journal_cut', after(-11))
  await resolve('journal_overflow:edge:8:journal_cut', after(-1))
  assert.equal((await found()).length, 1, 'another, and one from before')
  await resolve('journal_overflow:edge:7:journal_cut', after(-1))
  assert.deepEqual(await found(), [])
})

test('a device was exchanged until the question is answered, and its event is no second alert', async () => {
  const { db, found } = await told([
    { at: -10, code: 'device_identity_changed', edge: 'once' },
    // Its firmware alone changed.
    { at: -20, id: '8', code: 'device_identity_changed', edge: 'once' },
  ])
  await db.execute(
    `insert into device_exchanges (site_id, kind, device_id, changed_at, received_at,
       old_serial_number, serial_number)
     values ('demo', 'inverter', '7', $1, $1, 'A', 'B'), ('demo', 'inverter', '9', $1, $1, 'C', 'D')`,
    [after(-10)],
  )
  const firmware = 'edge_condition inverter 8 device_identity_changed'
  assert.deepEqual(await found(), [firmware, 'device_exchanged inverter 7'])
  assert.deepEqual(await found(after(8 * 1440)), ['device_exchanged inverter 7'])
  const { findings } = await findEdgeConditions(contextOf(db))
  const exchanged = findings.find(({ code }) => code === 'device_exchanged')
  assert.deepEqual(exchanged, {
    code: 'device_exchanged',
    since: after(-10),
    message: 'Serial number B answers at inverter 7 in place of A.',
    source_type: 'inverter',
    source_id: '7',
    inverter_id: 7,
  })
  await db.execute("update device_exchanges set answer = 'same_place'")
  assert.deepEqual(await found(), [firmware])
})

test('a clock that is off is told with the figure, while its edge is heard of', async () => {
  const { db, found } = await told([])
  const offset = (ms: number) => db.execute('update edges set clock_offset_ms = $1', [ms])
  await offset(29_000)
  assert.deepEqual(await found(), [])
  await offset(-31_500)
  const { findings } = await findEdgeConditions(contextOf(db))
  assert.equal(findings[0]?.message, "The clock of edge Edge is 31.5 s behind the server's.")
  assert.deepEqual([findings[0]?.value, findings[0]?.threshold], [31.5, 30])
  assert.deepEqual(await found(after(2)), [])
})

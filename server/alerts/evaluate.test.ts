import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { silent, testDatabase } from '../../test/postgres.ts'
import type { Database } from '../storage/database.ts'
import { alertSources } from './alert-sources.ts'
import { evaluateAlerts, evaluateSite, type RoundParts } from './evaluate.ts'
import type { Finding, OpenAlert, ReadSuppression, Scan } from './finding.ts'
import type { AlertChange, FinishedRound } from './listener.ts'
import type { AlertCode } from './rules.ts'
import { storeSettings } from './settings-store.ts'

const began = new Date('2026-06-21T10:00:00Z')
const minutes = (count: number) => new Date(began.getTime() + 60_000 * count)

async function site(t: TestContext) {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await db.query(`
    insert into clients (name, modules) values ('Owner', '{basic_scada}');
    insert into sites (site_id, client_id, name, inventory)
    select site_id, 1, 'Park ' || site_id,
      '{"timezone":"Europe/Berlin","latitude":48.6,"longitude":12.2,"currency":"EUR"}'
    from unnest('{demo,other}'::text[]) as s (site_id);
    insert into sites (site_id, client_id, name) values ('empty', 1, 'Not announced');
    insert into locations (site_id, location_id, type, name, created_at, updated_at)
    values ('demo', 4, 'plot', 'South', now(), now());
    insert into loggers (site_id, logger_id, name, location_id, rated_power_kw, dc_capacity_kwp,
      created_at, updated_at) values ('demo', 2, 'South', 4, 200, 80, now(), now());
    insert into inverters (site_id, inverter_id, logger_id, name, rated_ac_power_kw, phase_count,
      mppt_count, string_count, dc_capacity_kwp, driver, modbus_unit_id, created_at, updated_at)
    values ('demo', 7, 2, 'I-7', 100, 3, 2, 4, 40, 'sunspec', 7, now(), now());
  `)
  return db
}

const fault = (changes: Partial<Finding> = {}): Finding => ({
  code: 'inverter_fault',
  source_type: 'inverter',
  source_id: '7',
  inverter_id: 7,
  since: began,
  message: 'Inverter 7 is in fault.',
  affected_power_kw: 60,
  ...changes,
})
const fire = (): Finding => ({
  code: 'battery_fire',
  source_type: 'bess',
  source_id: '1',
  bess_id: 1,
  since: began,
  message: 'The fire alarm system tells: alarm.',
})

/** The fields of an error in the log. */
type Told = Record<string, unknown>

/** Sources whose findings a test sets, and what is logged and heard. */
function rounds(db: Database) {
  const findings: { inverters: Finding[] | Error; batteries: Finding[] | Error } = {
    inverters: [],
    batteries: [],
  }
  const told: Told[] = []
  const heard: FinishedRound[] = []
  const source = (name: keyof typeof findings, codes: AlertCode[]) => ({
    name,
    codes,
    async scan(): Promise<Scan> {
      const found = findings[name]
      if (found instanceof Error) throw found
      return { findings: found, isUnknown: () => false }
    },
  })
  const parts: RoundParts = {
    db,
    log: { ...silent, error: (fields: unknown) => void told.push(fields as Told) },
    sources: [
      source('inverters', ['inverter_fault', 'inverter_alarm']),
      source('batteries', ['battery_fire']),
    ],
    listeners: [{ name: 'test', handle: async (_, round) => void heard.push(round) }],
    readSuppression: async () => () => null,
  }
  return { parts, findings, told, heard }
}

const kinds = (changes: AlertChange[] | null) =>
  changes?.map(({ kind, alert }) => `${kind} ${alert.code}`)

const stored = (db: Database, columns: string) =>
  db.query(`select ${columns} from alerts order by alert_id`)

test('a round stores what it found, with plant and place of the device, and every transition', async (t) => {
  const db = await site(t)
  const { parts, findings, heard } = rounds(db)
  findings.inverters = [fault()]
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(0))), [])
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(1))), ['raised inverter_fault'])
  assert.deepEqual(await stored(db, 'logger_id, location_id, status, title, category'), [
    {
      logger_id: 2,
      location_id: 4,
      status: 'active',
      title: 'An inverter is in fault',
      category: 'equipment',
    },
  ])
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(2))), [])
  assert.deepEqual(await stored(db, 'lost_energy_kwh, last_seen_at, updated_at'), [
    { lost_energy_kwh: 1, last_seen_at: minutes(2), updated_at: minutes(2) },
  ])
  findings.inverters = []
  await evaluateSite(parts, 'demo', minutes(3))
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(8))), [
    'resolved inverter_fault',
  ])
  findings.inverters = [fault({ since: minutes(9) })]
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(10))), [
    'reopened inverter_fault',
  ])
  const transitions = await db.query(
    'select at, from_status, to_status, changed_by from alert_transitions order by transition_id',
  )
  const by = { changed_by: 'system' }
  assert.deepEqual(transitions, [
    { at: minutes(1), from_status: null, to_status: 'active', ...by },
    { at: minutes(8), from_status: 'active', to_status: 'resolved', ...by },
    { at: minutes(10), from_status: 'resolved', to_status: 'active', ...by },
  ])
  assert.equal(heard.length, 6, 'also of rounds in which nothing changed')
  assert.deepEqual(
    heard.map(({ open }) => open.length),
    [0, 1, 1, 1, 0, 1],
  )
  assert.equal(heard[1]?.site.name, 'Park demo')
  assert.equal(heard[5]?.open[0]?.occurrence_count, 2)
})

test('what a person resolved days ago is remembered: what comes up anew begins after it', async (t) => {
  const db = await site(t)
  const { parts, findings } = rounds(db)
  findings.inverters = [fault()]
  await evaluateSite(parts, 'demo', minutes(1))
  await db.execute(
    `update alerts set status = 'resolved', resolution = 'manual', resolved_by = 'anna',
       resolved_at = $1, awaits_end = true`,
    [minutes(30)],
  )
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(31))), [])
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(3000))), [
    'raised inverter_fault',
  ])
  assert.deepEqual(await stored(db, 'started_at, last_seen_at'), [
    { started_at: minutes(0), last_seen_at: minutes(31) },
    { started_at: minutes(30), last_seen_at: minutes(3000) },
  ])
})

test('a source that fails is told, clears nothing of its own, and stops no other', async (t) => {
  const db = await site(t)
  const { parts, findings, told } = rounds(db)
  findings.inverters = [fault()]
  await evaluateSite(parts, 'demo', minutes(1))
  findings.inverters = new Error('the sun fell down')
  findings.batteries = [fire()]
  assert.deepEqual(kinds(await evaluateSite(parts, 'demo', minutes(2))), ['raised battery_fire'])
  for (const minute of [10, 30, 300]) await evaluateSite(parts, 'demo', minutes(minute))
  assert.deepEqual(await stored(db, 'code, status, ended_at'), [
    { code: 'inverter_fault', status: 'active', ended_at: null },
    { code: 'battery_fire', status: 'active', ended_at: null },
  ])
  assert.equal(told.length, 4)
  assert.equal(told[0]?.['source'], 'inverters')
  findings.inverters = []
  findings.batteries = []
  await evaluateSite(parts, 'demo', minutes(301))
  assert.equal((await evaluateSite(parts, 'demo', minutes(306)))?.length, 2)
})

test('a source that finds nonsense counts as failed', async (t) => {
  const db = await site(t)
  const { parts, findings, told } = rounds(db)
  findings.inverters = [fault({ since: new Date(Number.NaN) })]
  findings.batteries = [fault()]
  assert.deepEqual(await evaluateSite(parts, 'demo', minutes(5)), [])
  assert.deepEqual(
    told.map((fields) => String(fields['err'])),
    [
      'Error: found inverter_fault of inverter 7 with an invalid time',
      'Error: found inverter_fault, which is not among the codes of the source',
    ],
  )
})

test('an alert of a code that no source finds any more is kept, not cleared', async (t) => {
  const db = await site(t)
  const { parts, findings } = rounds(db)
  findings.inverters = [fault()]
  await evaluateSite(parts, 'demo', minutes(1))
  const none = { ...parts, sources: [] }
  for (const minute of [2, 20, 200]) {
    assert.deepEqual(await evaluateSite(none, 'demo', minutes(minute)), [])
  }
})

test('a listener that fails is rolled back alone, told, and asked again', async (t) => {
  const db = await site(t)
  const { parts, findings, told } = rounds(db)
  findings.batteries = [fire()]
  const failing: RoundParts = {
    ...parts,
    listeners: [
      {
        name: 'broken',
        async handle(tx) {
          await tx.execute("update sites set name = 'lost' where site_id = 'demo'")
          await tx.execute('select 1 / 0')
        },
      },
      {
        name: 'working',
        async handle(tx, { open }) {
          await tx.execute('update sites set name = $1 where site_id = $2', [
            `Park of ${open.length}`,
            'demo',
          ])
        },
      },
    ],
  }
  await evaluateSite(failing, 'demo', minutes(0))
  assert.deepEqual(
    told.map((fields) => String(fields['listener'])),
    ['broken'],
  )
  assert.deepEqual(await db.query("select name from sites where site_id = 'demo'"), [
    { name: 'Park of 1' },
  ])
  assert.equal((await stored(db, 'alert_id')).length, 1)
})

test('while it is not known what explains alerts, those that were suppressed stay so', async (t) => {
  const db = await site(t)
  const { parts, findings, told } = rounds(db)
  findings.inverters = [fault()]
  const planned: ReadSuppression = async () => () => 'maintenance'
  await evaluateSite({ ...parts, readSuppression: planned }, 'demo', minutes(1))
  const broken: ReadSuppression = async () => {
    throw new Error('no work orders')
  }
  findings.inverters = [fault(), fault({ source_id: '8', inverter_id: 8 })]
  await evaluateSite({ ...parts, readSuppression: broken }, 'demo', minutes(2))
  assert.deepEqual(await stored(db, 'source_id, suppressed_reason'), [
    { source_id: '7', suppressed_reason: 'maintenance' },
    { source_id: '8', suppressed_reason: null },
  ])
  assert.deepEqual(
    told.map((fields) => String(fields['part'])),
    ['suppression'],
  )
  const changes = await evaluateSite(parts, 'demo', minutes(3))
  assert.deepEqual(kinds(changes), ['unsuppressed inverter_fault'])
})

test('a site that fails does not keep the others from their round, and is told in the end', async (t) => {
  const db = await site(t)
  const { parts, findings, told, heard } = rounds(db)
  findings.batteries = [fire()]
  await db.execute(
    `insert into site_alerting values ('demo', '{"rules": {"battery_fire": 7}}', now(), 'test')`,
  )
  await db.execute(`update sites set inventory = inventory || '{"latitude": "north"}'
    where site_id = 'demo'`)
  await assert.rejects(evaluateAlerts(parts, { now: () => minutes(1) }), /1 of 2 sites/)
  assert.deepEqual(
    heard.map(({ site: { site_id } }) => site_id),
    ['other'],
  )
  assert.equal(told[0]?.['site_id'], 'demo')
  assert.equal(await evaluateSite(parts, 'empty', minutes(1)), null)
})

test('two servers at once raise an alert once', async (t) => {
  const db = await site(t)
  const { parts, findings } = rounds(db)
  findings.batteries = [fire()]
  findings.inverters = [fault()]
  const several = await Promise.all(
    Array.from({ length: 4 }, () => evaluateSite(parts, 'demo', minutes(1))),
  )
  const raised = several.flatMap((changes) => changes ?? [])
  assert.equal(raised.length, 2)
  assert.equal((await stored(db, 'alert_id')).length, 2)
})

test('rules of the site are those of the round', async (t) => {
  const db = await site(t)
  const { parts, findings } = rounds(db)
  findings.batteries = [fire()]
  findings.inverters = [fault()]
  const settings = {
    rules: { battery_fire: { enabled: false }, inverter_fault: { raise_delay_s: 0 } },
  }
  await storeSettings(db, 'demo', { settings, set_at: began, set_by: 'test' })
  const changes = await evaluateSite(parts, 'demo', minutes(0))
  assert.deepEqual(kinds(changes), ['raised inverter_fault'])
})

test('what was lost is worth what the contract of the plant pays', async (t) => {
  const db = await site(t)
  await db.query(`
    insert into markets (market_code, name, currency, timezone, resolution_minutes)
    values ('XX', 'Test', 'EUR', 'Europe/Berlin', 15);
    insert into market_assignments (site_id, logger_id, market_code, contract_type, currency,
      fixed_price, pays_at_negative_price, valid_from)
    values ('demo', 2, 'XX', 'feed_in_tariff', 'EUR', 90, true, '2026-01-01');
  `)
  const { parts, findings } = rounds(db)
  findings.inverters = [fault()]
  for (const minute of [1, 2, 3]) await evaluateSite(parts, 'demo', minutes(minute))
  assert.deepEqual(await stored(db, 'lost_energy_kwh, lost_amount, currency'), [
    { lost_energy_kwh: 2, lost_amount: 0.18, currency: 'EUR' },
  ])
})

test('what a person does between two rounds is what the next one goes by', async (t) => {
  const db = await site(t)
  const { parts, findings } = rounds(db)
  findings.inverters = [fault()]
  await evaluateSite(parts, 'demo', minutes(1))
  await db.execute(
    `update alerts set status = 'resolved', resolved_at = $1, resolved_by = 'anna',
       resolution = 'manual', awaits_end = true`,
    [minutes(1)],
  )
  assert.deepEqual(await evaluateSite(parts, 'demo', minutes(2)), [])
  findings.inverters = []
  await evaluateSite(parts, 'demo', minutes(3))
  const isUnknown = (open: OpenAlert) => open.source_id === '7'
  const blind = {
    ...parts,
    sources: [{ ...parts.sources[0]!, scan: async () => ({ findings: [], isUnknown }) }],
  }
  await evaluateSite(blind, 'demo', minutes(7))
  assert.deepEqual(await stored(db, 'awaits_end, ended_at'), [{ awaits_end: true, ended_at: null }])
})

test('a site whose first inventory was refused has the alert of that', async (t) => {
  const db = await site(t)
  await db.query(`
    insert into edges (site_id, edge_id, name, secret_sha256, created_at)
    values ('empty', 'aabbccddeeff', 'Edge', '\\x00', now());
    insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
      message) values ('empty', '${began.toISOString()}', '${began.toISOString()}', 'edge',
      'aabbccddeeff', 'inventory_rejected', 'rising', 'major', 'the inventory is refused: why');
  `)
  const { parts } = rounds(db)
  const all = { ...parts, sources: alertSources }
  await evaluateAlerts(all, { now: () => minutes(0) })
  await evaluateAlerts(all, { now: () => minutes(2) })
  assert.deepEqual(await stored(db, 'site_id, code, severity, message'), [
    {
      site_id: 'empty',
      code: 'edge_condition',
      severity: 'major',
      message: 'The inventory is refused: why.',
    },
  ])
})

import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { eventually } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { openMailSink } from '../mail/fixtures/mail-sink.ts'
import { sendMails } from '../mail/send.ts'
import { openMailer } from '../mail/transport.ts'
import type { Queries } from '../storage/database.ts'
import { storedAlert } from './fixtures/mail-day.ts'
import type { FinishedRound } from './listener.ts'
import { mailAlerts } from './mail-alerts.ts'
import type { MailInFile } from './mail-settings.ts'
import type { StoredAlert } from './record.ts'
import { settingsInForce } from './settings.ts'
import { addAlerts } from './store.ts'

const site = {
  site_id: 'north-field',
  name: 'North field',
  timezone: 'Europe/Berlin',
  latitude: 50,
  longitude: 10,
  currency: null,
}
const start = new Date('2026-06-01T10:00:00Z')
const mail: MailInFile = {
  recipients: [{ address: 'ops@example.com' }],
  escalation: { after_min: 15, to: ['boss@example.com'] },
  storm_count: 3,
}
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await database.db.execute(`
    insert into clients (name, modules) values ('owner', '{basic_scada}');
    insert into sites (site_id, client_id, name)
      select 'north-field', client_id, 'North field' from clients`)
})
after(() => database.drop())
beforeEach(() =>
  database.db.execute(`
    delete from mail_outbox; delete from alerts; delete from notification_reads;
    delete from om_notifications`),
)

/** Stores critical alerts of so many inverters. */
async function raise(count: number): Promise<StoredAlert[]> {
  const rows = Array.from({ length: count }, (_, nth) => {
    const { alert_id: _id, ...alert } = storedAlert({ source_id: String(nth + 1) })
    return { ...alert, inverter_id: nth + 1, dedup_key: `inverter_offline:inverter:${nth + 1}` }
  })
  return database.db.transaction((tx) => addAlerts(tx, site.site_id, rows, start))
}

function roundOf(open: readonly StoredAlert[], now = start, settings = mail): FinishedRound {
  return { site, settings: settingsInForce({ mail: settings }), now, changes: [], open }
}

const mails = () =>
  database.db.query<{ recipient: string; subject: string; dedup_key: string; link_path: string }>(
    'select recipient, subject, dedup_key, link_path from mail_outbox order by mail_id',
  )

test('an alert is mailed once, when rounds are repeated too', async () => {
  const open = await raise(1)
  const hear = (db: Queries) => mailAlerts(db, roundOf(open))
  const undone = database.db.transaction(async (tx) => {
    await hear(tx)
    throw new Error('the server died')
  })
  await assert.rejects(undone, /died/)
  assert.deepEqual(await mails(), [])
  await database.db.transaction(hear)
  await database.db.transaction(hear)
  const [told, ...more] = await mails()
  assert.deepEqual(more, [])
  assert.deepEqual(told, {
    recipient: 'ops@example.com',
    subject: 'North field: [critical] Inverter does not answer (inverter 1)',
    dedup_key: `alert:${open[0]!.alert_id}:1:raised`,
    link_path: '/sites/north-field/alerts',
  })
})

test('two servers at once tell it once', async () => {
  const { db } = database
  const open = await raise(5)
  const [told, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = db.transaction(async (tx) => {
    await mailAlerts(tx, roundOf(open))
    told.resolve()
    await committing.promise
  })
  await told.promise
  const second = db.transaction((tx) => mailAlerts(tx, roundOf(open)))
  const refused = assert.rejects(second, /alert_tellings_pkey/)
  await eventually(async () => {
    const waiting = await db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    assert.equal(waiting.length, 1)
  })
  committing.resolve()
  await Promise.all([first, refused])
  const subjects = (await mails()).map(({ subject }) => subject)
  assert.deepEqual(subjects, ['North field: 5 alerts, 5 critical'])
})

test('what was resolved by hand between two rounds is told as over', async () => {
  const open = await raise(1)
  const later = new Date('2026-06-01T10:05:00Z')
  await database.db.transaction((tx) => mailAlerts(tx, roundOf(open)))
  await database.db.execute(
    `update alerts set status = 'resolved', resolution = 'manual', resolved_at = $1,
       resolved_by = 'control room'`,
    [later],
  )
  for (const now of [later, new Date('2026-06-01T10:06:00Z')]) {
    await database.db.transaction((tx) => mailAlerts(tx, roundOf([], now)))
  }
  const subjects = (await mails()).map(({ subject }) => subject)
  assert.equal(subjects.length, 2)
  assert.match(subjects[1]!, /\[over\]/)
})

test('what nobody acknowledged is mailed on and is a notification, once', async () => {
  const open = await raise(1)
  for (const minutes of [0, 14, 15, 16]) {
    const now = new Date(start.getTime() + 60_000 * minutes)
    await database.db.transaction((tx) => mailAlerts(tx, roundOf(open, now)))
  }
  assert.deepEqual(
    (await mails()).map(({ recipient }) => recipient),
    ['ops@example.com', 'boss@example.com'],
  )
  const notifications = await database.db.query(
    'select type, title, severity, resource_type, resource_id, created_at from om_notifications',
  )
  assert.deepEqual(notifications, [
    {
      type: 'alert_escalated',
      title: 'Not acknowledged: Inverter does not answer',
      severity: 'critical',
      resource_type: 'alert',
      resource_id: String(open[0]!.alert_id),
      created_at: new Date('2026-06-01T10:15:00Z'),
    },
  ])
})

test('an alert arrives at a mail server, with names of any letters and a link', async (t) => {
  const sink = await openMailSink()
  t.after(() => sink.close())
  const named = { ...site, name: 'Süd ☀️ 南\r\nBcc: all@example.com' }
  const [alert] = await raise(1)
  const round = { ...roundOf([{ ...alert!, affected_power_kw: 50 }]), site: named }
  await database.db.transaction((tx) => mailAlerts(tx, round))
  const settings = { ...sink.settings, public_url: 'https://solar.example.com' }
  await sendMails({
    isWithheld: async () => false,
    db: database.db,
    clock: { now: () => start },
    log: silent,
    signal: new AbortController().signal,
    mail: { settings, mailer: openMailer(settings) },
  })
  const [{ to, headers, text } = assert.fail(), ...more] = sink.received
  assert.deepEqual([to, more], [['ops@example.com'], []])
  const name = 'Süd ☀️ 南 Bcc: all@example.com'
  assert.equal(headers['subject'], `${name}: [critical] Inverter does not answer (inverter 1)`)
  assert.equal(headers['bcc'], undefined)
  assert.ok(text.startsWith(`${name} (north-field)\n`))
  assert.match(text, /^Affected power: 50\.0 kW$/m)
  assert.match(text, /\n\nhttps:\/\/solar\.example\.com\/sites\/north-field\/alerts$/)
})

test('where nobody is to be told, nothing is remembered', async () => {
  const open = await raise(1)
  await database.db.transaction((tx) => mailAlerts(tx, roundOf(open, start, { recipients: [] })))
  assert.deepEqual(await database.db.query('select * from alert_tellings'), [])
})

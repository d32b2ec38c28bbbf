/** Reports are planned and made once each, whatever number of servers, and whatever is lost. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test, { afterEach, beforeEach } from 'node:test'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { type Database, openDatabase } from '../storage/database.ts'
import type { WriteReport } from './document.ts'
import {
  addReportSites,
  addSubscription,
  plainWriter,
  serverAt,
  smallTemplate,
} from './fixtures/report-site.ts'
import { makeReports } from './making.ts'
import { planReports } from './planning.ts'
import { runRecord } from './run.ts'
import { claimRun, lease_ms, newestRuns, queueOneOff, queueRun, readFile, readRun } from './runs.ts'
import { readSubscription } from './subscriptions.ts'

const evening = new Date('2026-06-20T18:00:00Z')
const morning = new Date('2026-06-21T04:00:30Z')

let database: TestDatabase
let db: Database
let instant = evening
const clock = { now: () => instant }
const later = (ms: number) => {
  instant = new Date(instant.getTime() + ms)
}

beforeEach(async () => {
  database = await testDatabase()
  db = database.db
  instant = evening
})
afterEach(() => database.drop())

const count = async (of: Database, from: string) =>
  (await of.query<{ n: number }>(`select count(*) as n from ${from}`))[0]!.n

const runsOf = async (site_id = 'a') =>
  (await newestRuns(db, { site_id, after: null, limit: 100 })).rows
const onlyRun = async () => {
  const [run, ...more] = await runsOf()
  assert.deepEqual(more, [])
  return run!
}

test('a due report is made, mailed and notified, and is due again', async () => {
  await addReportSites(db, ['a'])
  const sub_id = await addSubscription(db, 'a', { parameters: { top_count: 3 } }, evening)
  const server = serverAt(db, clock)
  await planReports(server)
  assert.equal(await count(db, 'report_runs'), 0)
  instant = morning
  await planReports(server)
  assert.equal((await onlyRun()).state, 'queued')
  await makeReports(server)

  const run = runRecord('a', await onlyRun(), instant)
  assert.equal(run.status, 'succeeded')
  assert.deepEqual(
    [run.trigger, run.requested_by, run.subscription_id],
    ['schedule', 'system', sub_id],
  )
  assert.deepEqual(
    [run.period_start_at, run.period_end_at],
    ['2026-06-19T22:00:00.000Z', '2026-06-20T22:00:00.000Z'],
  )
  assert.deepEqual([run.page_count, run.data_completeness_pct], [1, 87.5])
  assert.equal(run.file_name, 'a_small_2026-06-20.pdf')
  const file = (await readFile(db, { site_id: 'a', run_id: run.run_id }, instant))!
  assert.equal(createHash('sha256').update(file.bytes).digest('hex'), run.sha256)
  assert.deepEqual(JSON.parse(JSON.parse(file.bytes.toString()).sections[0].text), {
    logger_ids: null,
    parameters: { top_count: 3 },
    plants: 0,
  })
  const mails = await db.query(
    'select recipient, subject, attach_run_id, link_path from mail_outbox order by 1',
  )
  const [first_mail] = await db.query<{ text: string }>('select text from mail_outbox limit 1')
  assert.ok(
    first_mail!.text.includes('can be downloaded') && !first_mail!.text.includes('attached'),
  )
  const mail = {
    subject: 'Every morning: Park, 2026-06-20',
    attach_run_id: run.run_id,
    link_path: `/sites/a/reports`,
  }
  assert.deepEqual(mails, [
    { recipient: 'one@example.com', ...mail },
    { recipient: 'two@example.com', ...mail },
  ])
  const told = await db.query('select type, resource_type, resource_id from om_notifications')
  assert.deepEqual(told, [
    { type: 'report_ready', resource_type: 'report_run', resource_id: run.run_id },
  ])
  const subscription = (await readSubscription(db, { site_id: 'a', sub_id }, instant))!
  assert.equal(subscription.next_run_at?.toISOString(), '2026-06-22T04:00:00.000Z')
  assert.deepEqual(
    [subscription.last_run_id, subscription.last_run_status, subscription.failure_count],
    [run.run_id, 'succeeded', 0],
  )
})

test('a one-off report covers its dates and is not mailed', async () => {
  await addReportSites(db, ['a'])
  await queueOneOff(db, {
    site_id: 'a',
    name: 'Small report',
    template_id: 'small',
    format: 'pdf',
    timezone: 'Europe/Berlin',
    period: { start_at: new Date('2026-06-02T22:00Z'), end_at: new Date('2026-06-13T22:00Z') },
    parameters: { top_count: 3 },
    logger_ids: null,
    key_id: 'user_000000000000',
    requested_by: 'Ada',
    now: instant,
  })
  const server = serverAt(db, clock)
  await planReports(server)
  await makeReports(server)
  const run = runRecord('a', await onlyRun(), instant)
  assert.deepEqual(
    [run.status, run.trigger, run.subscription_id, run.requested_by, run.file_name],
    ['succeeded', 'manual', null, 'Ada', 'a_small_2026-06-03_2026-06-13.pdf'],
  )
  assert.equal(await count(db, 'mail_outbox'), 0)
  assert.equal(await count(db, "om_notifications where type = 'report_ready'"), 1)
})

test('two servers at the same time make each report once', async () => {
  const sites = ['a', 'b', 'c']
  await addReportSites(db, sites)
  for (let nth = 0; nth < 30; nth += 1) {
    await addSubscription(db, sites[nth % 3]!, { name: `No. ${nth}` }, evening)
  }
  instant = morning
  const others = await openDatabase({ url: database.url, log: silent, application_name: 'other' })
  const written = new Map<Database, number>()
  const counting =
    (of: Database): WriteReport =>
    async (document, format) => {
      written.set(of, (written.get(of) ?? 0) + 1)
      return plainWriter(document, format)
    }
  const servers = [serverAt(db, clock, counting(db)), serverAt(others, clock, counting(others))]
  await Promise.all([...servers, ...servers].map(planReports))
  assert.equal(await count(db, 'report_runs'), 30)
  await Promise.all([...servers, ...servers].map(makeReports))
  const shares = [...written.values()]
  assert.equal(
    shares.reduce((sum, share) => sum + share),
    30,
  )
  assert.equal(shares.length, 2, 'both had a share')
  assert.equal(await count(db, "report_runs where state = 'succeeded' and attempts = 1"), 30)
  assert.equal(await count(db, 'report_files'), 30)
  assert.equal(await count(db, 'mail_outbox'), 60)
  assert.equal(await count(db, 'om_notifications'), 30)
  await others.close()
})

test('a run of a killed server is taken over when its lease expires', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  const server = serverAt(db, clock)
  await planReports(server)
  // It is killed while it writes: it never comes back from there.
  const lost = (await claimRun(db, instant))!
  await makeReports(server)
  assert.equal((await onlyRun()).state, 'running', 'held until the lease is over')
  later(lease_ms)
  await makeReports(server)
  assert.equal((await onlyRun()).state, 'succeeded')
  assert.deepEqual([lost.attempts, await count(db, 'mail_outbox')], [1, 2])
})

test('a server that returns after its run was taken over stores nothing', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  await planReports(serverAt(db, clock))
  const others = await openDatabase({ url: database.url, log: silent, application_name: 'other' })
  const slow = serverAt(others, clock, async (document, format) => {
    later(lease_ms)
    await makeReports(serverAt(db, clock))
    return plainWriter({ ...document, title: 'Too late' }, format)
  })
  await makeReports(slow)
  await others.close()
  const run = await onlyRun()
  assert.equal(run.state, 'succeeded')
  const file = (await readFile(db, { site_id: 'a', run_id: run.run_id }, instant))!
  assert.equal(JSON.parse(file.bytes.toString()).title, 'Small report')
  assert.deepEqual([await count(db, 'report_files'), await count(db, 'mail_outbox')], [1, 2])
})

test('a server that lost its run stores nothing while the other is still making it', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  for (const becomes of ['written', 'broken']) {
    later(86_400_000)
    await planReports(serverAt(db, clock))
    const slow = serverAt(db, clock, async (document, format) => {
      later(lease_ms)
      assert.equal((await claimRun(db, instant))?.attempts, 2)
      if (becomes === 'broken') throw new Error('no paper')
      return plainWriter(document, format)
    })
    await makeReports(slow)
    const [run] = await runsOf()
    assert.equal(run?.state, 'running', becomes)
    await db.execute('delete from report_runs')
  }
  const left = [await count(db, 'report_files'), await count(db, 'mail_outbox')]
  assert.deepEqual([...left, await count(db, 'om_notifications')], [0, 0, 0])
})

test('the results of a run are stored all or none', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  const server = serverAt(db, clock)
  await planReports(server)
  // The notification is the last of it.
  await db.query(`
    create function fail() returns trigger language plpgsql as
      'begin raise ''the connection is lost''; end';
    create trigger fail before insert on om_notifications execute function fail()`)
  await makeReports(server)
  assert.equal((await onlyRun()).state, 'queued')
  assert.deepEqual([await count(db, 'report_files'), await count(db, 'mail_outbox')], [0, 0])
  await db.execute('drop trigger fail on om_notifications')
  later(60_000)
  await makeReports(server)
  assert.equal((await onlyRun()).state, 'succeeded')
  assert.deepEqual([await count(db, 'report_files'), await count(db, 'mail_outbox')], [1, 2])
})

test('a run that kills its server has three attempts', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  await planReports(serverAt(db, clock))
  for (let nth = 1; nth <= 3; nth += 1) {
    assert.equal((await claimRun(db, instant))?.attempts, nth)
    later(lease_ms)
  }
  await makeReports(serverAt(db, clock))
  const run = await onlyRun()
  assert.deepEqual([run.state, run.error_code], ['failed', 'server_lost'])
  assert.equal(await count(db, "om_notifications where type = 'system'"), 1)
})

test('a failed run is retried with a delay and given up after the third attempt', async () => {
  await addReportSites(db, ['a'])
  const sub_id = await addSubscription(db, 'a', {}, evening)
  instant = morning
  let written = 0
  const server = serverAt(db, clock, async () => {
    written += 1
    throw new Error('no paper')
  })
  await planReports(server)
  await makeReports(server)
  await makeReports(server)
  assert.deepEqual([written, (await onlyRun()).state], [1, 'queued'])
  later(60_000)
  await makeReports(server)
  later(60_000)
  await makeReports(server)
  assert.equal(written, 2, 'it waits longer each time')
  later(60_000)
  await makeReports(server)
  later(600_000)
  await makeReports(server)
  const run = await onlyRun()
  assert.deepEqual([written, run.state, run.error_code], [3, 'failed', 'write_failed'])
  assert.ok(!run.error_message!.includes('paper'))
  assert.deepEqual([await count(db, 'report_files'), await count(db, 'mail_outbox')], [0, 0])
  const subscription = (await readSubscription(db, { site_id: 'a', sub_id }, instant))!
  assert.deepEqual([subscription.failure_count, subscription.last_run_status], [1, 'failed'])
})

test('a final failure is not retried', async () => {
  await addReportSites(db, ['a', 'b'])
  await addSubscription(db, 'a', {}, evening)
  await addSubscription(db, 'b', { parameters: { top_count: 99 } }, evening)
  instant = morning
  const server = serverAt(db, clock)
  await planReports(server)
  const of_batteries = { name: 'Order', scopes: ['bess:read'] } as const
  const ofBatteries = [{ ...smallTemplate, parts: [of_batteries] }]
  await makeReports({ ...server, catalog: ofBatteries })
  assert.equal((await runsOf('b'))[0]?.error_code, 'parameters_invalid')
  assert.equal((await onlyRun()).state, 'succeeded')

  await db.execute("update clients set modules = '{basic_scada}'")
  instant = new Date('2026-06-22T04:00:30Z')
  await planReports(server)
  await makeReports({ ...server, catalog: ofBatteries })
  const [narrowed] = await runsOf()
  assert.deepEqual([narrowed?.state, narrowed?.omitted_sections], ['succeeded', ['Order']])
  instant = new Date('2026-06-23T04:00:30Z')
  await planReports(server)
  await makeReports({ ...server, catalog: [] })
  assert.deepEqual(
    (await runsOf()).slice(0, 2).map(({ error_code }) => error_code),
    ['template_gone', null],
  )
})

test('a server that stops returns its run without counting the attempt', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  const stopping = new AbortController()
  const server = serverAt(db, clock, () => {
    stopping.abort(new Error('the server stops'))
    return new Promise(() => {})
  })
  await planReports(server)
  await assert.rejects(makeReports({ ...server, signal: stopping.signal }), /the server stops/)
  const [row] = await db.query('select state, attempts from report_runs')
  assert.deepEqual(row, { state: 'queued', attempts: 0 })
  await makeReports(serverAt(db, clock))
  assert.equal((await onlyRun()).state, 'succeeded')
})

test('after an outage only the newest missed report is made, with a note', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = new Date('2026-06-25T12:00:00Z')
  const server = serverAt(db, clock)
  await planReports(server)
  await planReports(server)
  await makeReports(server)
  const run = await onlyRun()
  assert.equal(run.period_start_at.toISOString(), '2026-06-23T22:00:00.000Z')
  const file = (await readFile(db, { site_id: 'a', run_id: run.run_id }, instant))!
  assert.deepEqual(JSON.parse(file.bytes.toString()).notes, [
    '4 earlier reports of this subscription came due during an outage of the server and will not be made.',
  ])
})

test('a disabled subscription is not planned', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', { enabled: false }, evening)
  instant = morning
  await planReports(serverAt(db, clock))
  assert.deepEqual(await runsOf(), [])
})

test('a subscription that cannot be planned does not stop the others', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  await addSubscription(db, 'a', {}, evening)
  await db.execute("update report_subscriptions set timezone = 'Mars/Olympus' where sub_id = 1")
  instant = morning
  await assert.rejects(planReports(serverAt(db, clock)), AggregateError)
  assert.equal((await onlyRun()).sub_id, 2)
})

test('an expired file is deleted, and the count of mails stays', async () => {
  await addReportSites(db, ['a'])
  await addSubscription(db, 'a', {}, evening)
  instant = morning
  const server = serverAt(db, clock)
  await planReports(server)
  await makeReports(server)
  await db.execute("update mail_outbox set state = 'sent' where recipient = 'one@example.com'")
  const { run_id } = await onlyRun()
  const key = { site_id: 'a', run_id }
  assert.equal((await readRun(db, key))?.recipients_sent, 1)
  later(60 * 86_400_000)
  assert.equal(await readFile(db, key, instant), null)
  await planReports(server)
  assert.equal(await count(db, 'report_files'), 0)
  await db.execute('delete from mail_outbox')
  const record = runRecord('a', (await readRun(db, key))!, instant)
  assert.deepEqual(
    [record.status, record.download_url, record.recipients_sent],
    ['expired', null, 1],
  )
})

test('an occurrence is queued once', async () => {
  await addReportSites(db, ['a'])
  const sub_id = await addSubscription(db, 'a', {}, evening)
  const subscription = (await readSubscription(db, { site_id: 'a', sub_id }, evening))!
  const asked = { site_id: 'a', subscription, requested_by: null, now: morning }
  const due = { due_at: new Date('2026-06-21T04:00:00Z'), missed_count: 0 }
  assert.ok(await queueRun(db, { ...asked, due }))
  assert.equal(await queueRun(db, { ...asked, due }), null)
  const by_hand = { ...asked, due: null, requested_by: 'key' }
  assert.notEqual(await queueRun(db, by_hand), await queueRun(db, by_hand))
})

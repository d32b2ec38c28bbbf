/** The law on statements that `scripts/cluster-statements.ts` holds tests to. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { clusterFault, siteTables } from '../scripts/cluster-statements.ts'
import { type TestDatabase, testDatabase } from './postgres.ts'

let database: TestDatabase
let tables: ReadonlySet<string>

before(async () => {
  database = await testDatabase()
  tables = await siteTables(database.db)
})
after(() => database.drop())

const fault = (text: string) => clusterFault(database.db, tables, text)

test('a subquery that takes the site from the outer row is refused', async () => {
  const seenAt = (site: string) =>
    `select name, (select max(last_seen_at) from edges e where e.site_id = ${site}) as seen_at
     from sites s where s.site_id = $1`
  assert.equal(
    await fault(seenAt('s.site_id')),
    'names one site, but lacks `site_id = $n` for edges',
  )
  assert.equal(await fault(seenAt('$1')), null)
})

test('a lateral subquery on partitions is refused, too, and a join on the site is not', async () => {
  const newest = (site: string) =>
    `select b.bess_id, r.measured_at from batteries b
     join bess_latest l on l.site_id = b.site_id and l.bess_id = b.bess_id
     left join lateral (
       select measured_at from bess_readings r
       where r.site_id = ${site} and r.bess_id = b.bess_id order by measured_at desc limit 1
     ) as r on true
     where b.site_id = $1`
  assert.match(String(await fault(newest('b.site_id'))), /lacks `site_id = \$n` for bess_readings/)
  assert.equal(await fault(newest('$1')), null)
})

test('row locks across sites are refused, those of a site and of a queue are not', async () => {
  const claim = (table: string, where: string) =>
    `update ${table} t set site_id = t.site_id from (
       select site_id from ${table} where ${where} limit 1 for update skip locked) as due
     where t.site_id = due.site_id`
  assert.equal(
    await fault(claim('report_runs', 'not_before < $1')),
    'locks rows of report_runs without `site_id = $n`',
  )
  assert.equal(await fault('select from report_runs where site_id = $1 for update'), null)
  assert.equal(await fault(claim('due_sites', 'job = $1')), null)
})

test('statements over all sites pass, also with a filter that a request may leave out', async () => {
  const open = `select s.name, a.alert_id from sites s join alerts a on a.site_id = s.site_id`
  assert.equal(await fault(open), null)
  assert.equal(await fault(`${open} where $1::text is null or s.site_id = $1`), null)
  assert.equal(
    await fault(`${open} where client_id = (select client_id from sites where site_id = $1)`),
    null,
  )
})

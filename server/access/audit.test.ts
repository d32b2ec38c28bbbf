/** Reading the audit page by page. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type Browser, type ServedPlatform, servedPlatform } from './fixtures/served-platform.ts'

const [early, late] = ['2026-06-21T10:00:00.000Z', '2026-06-21T10:00:00.001Z']

let platform: ServedPlatform
let admin: Browser
before(async () => {
  platform = await servedPlatform()
  admin = await platform.person('administrator', 'admin@example.com')
  await platform.db.execute('delete from client_audit')
  await platform.db.execute("insert into sites values ('under_score', 1, 'Under')")
  // Ids of both tables that are the same, and so many that they have more digits than one.
  for (const at of [early, late]) {
    for (const [table, of, id] of [
      ['write_audit', 'site_id', "'first'"],
      ['write_audit', 'site_id', "'under_score'"],
      ['write_audit', 'site_id', "'foreign'"],
      ['client_audit', 'client_id', '1'],
    ]) {
      await platform.db.execute(
        `insert into ${table} (${of}, audit_id, at, key_id, key_name, method, path, request_id)
         overriding system value
         select ${id}, n + $2, $1, 'k', 'Key', 'POST', '/x', 'r' from generate_series(5, 12) n`,
        [at, at === late ? 100 : 0],
      )
    }
  }
})
after(() => platform.close())

/** What is read with pages of a size, in the order of the answers. */
async function readAll(limit: number, filter = ''): Promise<string[]> {
  const read: string[] = []
  for (let cursor = ''; ; ) {
    const path = `/platform/audit?limit=${limit}${filter}${cursor}`
    const { status, body } = await admin.ask('GET', path)
    assert.equal(status, 200, JSON.stringify(body))
    for (const { at, site_id, audit_id } of body.data) read.push(`${at} ${site_id} ${audit_id}`)
    if (body.meta.next_cursor === null) return read
    assert.equal(body.data.length, limit)
    cursor = `&cursor=${encodeURIComponent(body.meta.next_cursor)}`
  }
}

test('pages lose and repeat nothing of one instant, whatever their size', async () => {
  const whole = await readAll(500)
  assert.equal(new Set(whole).size, 48)
  assert.deepEqual(
    new Set(whole.map((row) => row.split(' ')[1])),
    new Set(['first', 'under_score', 'null']),
  )
  assert.deepEqual(
    whole.map((row) => row.split(' ')[0]),
    [...Array(24).fill(late), ...Array(24).fill(early)],
  )
  for (const limit of [1, 5, 24, 47, 48]) assert.deepEqual(await readAll(limit), whole, `${limit}`)
})

test('pages are of one site, or of what was before an instant', async () => {
  const of_site = await readAll(3, '&site_id=under_score')
  assert.deepEqual([of_site.length, new Set(of_site).size], [16, 16])
  assert.ok(of_site.every((row) => row.includes(' under_score ')))
  const earlier = await readAll(7, `&before=${late}`)
  assert.deepEqual(earlier, (await readAll(500)).slice(24))
})

test('a cursor that no answer gave is refused', async () => {
  for (const cursor of ['', '1', '1_2', 'x_1_first', '1_2_First', `${'9'.repeat(15)}_1_`]) {
    const { status, body } = await admin.ask('GET', `/platform/audit?cursor=${cursor}`)
    assert.deepEqual([status, body.error.details.errors[0].field], [422, 'cursor'], cursor)
  }
})

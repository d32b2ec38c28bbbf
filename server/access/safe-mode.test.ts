/** A new site begins in commissioning safe mode; an administrator ends it, by name. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { endpoints } from '../endpoints.ts'
import { addKey } from '../fixtures/served-site.ts'
import { platformOfFile } from './fixtures/served-platform.ts'
import { createSite } from './sites.ts'

const platform = platformOfFile()
const path = '/platform/safe-mode/end'

test('a new site takes no writes until an administrator types its name', async () => {
  const { db, clock, person } = platform
  const admin = { db, clock, randomBytes }
  const site = await createSite(admin, { client: 'Sun Owners', site_id: 'new', name: 'New park' })
  assert.ok(site.safe_mode_since_at)
  const administrator = await person('administrator', 'admin@example.com')
  const operator = await person('operator', 'operator@example.com')
  const key = await addKey(db, { key_id: '0123456789ab' })
  const authorization = `Bearer ${key}`
  const write = async () => {
    const headers = { authorization, 'x-heliograph-session': undefined, origin: undefined }
    const body = { title: 'Check', description: 'Check it', priority: 'low' }
    const asked = { headers, body }
    return (await administrator.ask('POST', '/v1/sites/new/work-orders', asked)).body
  }
  assert.equal((await write()).error.code, 'conflict_safe_mode')

  const end = async (by: typeof operator, change: object = {}) => {
    const body = { site_id: 'new', confirmation: 'New park', ...change }
    const answer = await by.ask('POST', path, { body })
    return [answer.status, answer.body.error?.code ?? null]
  }
  assert.deepEqual(await end(operator), [403, 'forbidden_role'])
  assert.deepEqual(await end(administrator, { confirmation: 'new park' }), [
    422,
    'validation_error',
  ])
  assert.deepEqual(await end(administrator, { site_id: 'foreign', confirmation: 'Foreign' }), [
    422,
    'validation_error',
  ])
  assert.equal((await write()).error.code, 'conflict_safe_mode')
  assert.deepEqual(await end(administrator), [200, null])
  assert.deepEqual(await end(administrator), [200, null], 'again')

  const [{ safe_mode_since_at } = {}] = await db.query<{ safe_mode_since_at: Date | null }>(
    "select safe_mode_since_at from sites where site_id = 'new'",
  )
  assert.equal(safe_mode_since_at, null)
  const audit = await administrator.ask('GET', '/platform/audit')
  const noted = audit.body.data.filter((row: { path: string }) => row.path === path)
  assert.deepEqual(
    noted.map(({ status }: { status: number }) => status),
    [200, 200, 422, 422, 403],
  )
  const events = await db.query<{ edge: string }>(
    "select edge from events where site_id = 'new' and code = 'safe_mode' order by event_id",
  )
  assert.deepEqual(
    events.map(({ edge }) => edge),
    ['rising', 'falling'],
  )
})

test('no operation of the API ends safe mode', () => {
  const named = endpoints.filter(
    ({ path: at, method }) => method !== 'GET' && /safe|commission/.test(at),
  )
  assert.deepEqual(named, [])
})

/** What holds for every operation of the platform, role by role, from the table of them. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import type { TProperties } from 'typebox'
import { addKey } from '../fixtures/served-site.ts'
import { roles } from '../http/endpoint.ts'
import { exampleOf } from '../http/example.ts'
import { platformEndpoints } from '../platform-endpoints.ts'
import { type Browser, type ServedPlatform, servedPlatform } from './fixtures/served-platform.ts'

const ids: Record<string, string> = {
  user_id: 'user_000000000000',
  key_id: '000000000000',
  invitation_id: '000000000000',
  enrolment_id: '000000',
  webhook_id: 'wh_000000000000',
  standing_order_id: '1',
}

let platform: ServedPlatform
let people: Record<(typeof roles)[number], Browser>
let key: string

before(async () => {
  platform = await servedPlatform()
  const made = await Promise.all(
    roles.map(async (role) => [role, await platform.person(role, `${role}@example.com`)]),
  )
  people = Object.fromEntries(made)
  key = await addKey(platform.db, { key_id: '0123456789ab' })
})
after(() => platform.close())
// No test meets the rate limit because of the tests before it.
beforeEach(() => platform.clock.set(new Date(platform.clock.now().getTime() + minute_ms)))

/** The query parameters that are required, each with its example. */
function requiredOf(query: TProperties | undefined): string {
  const required = Object.entries(query ?? {}).filter(([, schema]) => !('~optional' in schema))
  const values = required.map(([name, schema]) => [name, String(exampleOf(schema))])
  return new URLSearchParams(values).toString()
}

const fill = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name]!)

for (const { method, path, operation_id, role, body, example, query } of platformEndpoints) {
  const url = fill(path)
  const given = body ? { body: example.body as object } : method === 'GET' ? {} : { body: {} }
  const refused = async (browser: Browser, headers: Record<string, string | undefined> = {}) => {
    const { status, body: answer } = await browser.ask(method, url, { ...given, headers })
    return [status, answer?.error?.code ?? null]
  }

  test(`${operation_id} takes a session and never a key`, async () => {
    if (role === 'anyone') return
    assert.deepEqual(await refused(platform.browser()), [401, 'not_signed_in'])
    const forged = { cookie: 'heliograph.session_token=forged.AAAA' }
    assert.deepEqual(await refused(platform.browser(), forged), [401, 'not_signed_in'])
    const authorization = `Bearer ${key}`
    assert.deepEqual(await refused(platform.browser(), { authorization }), [401, 'not_signed_in'])
    const [status] = await refused(people.administrator, { authorization })
    assert.notEqual(status, 401, 'a key beside the session takes nothing away')
  })

  test(`${operation_id} is refused where another site asks`, async () => {
    if (role === 'anyone') return
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'x-heliograph-session': undefined },
      { origin: 'https://evil.example' },
    ]) {
      assert.deepEqual(await refused(people.administrator, headers), [403, 'cross_site_request'])
    }
  })

  test(`${operation_id} is for whom its role says`, async () => {
    if (role === 'anyone' || role === undefined) return
    for (const each of roles) {
      const [status, code] = await refused(people[each])
      const may: boolean = roles.indexOf(each) >= roles.indexOf(role)
      assert.equal(code === 'forbidden_role', !may, `${each}: ${status} ${code}`)
    }
  })

  test(`${operation_id} refuses what it does not know, by name`, async () => {
    const wrong = await people.administrator.ask(
      method,
      `${url}?nonsense=1&${requiredOf(query)}`,
      given,
    )
    assert.equal(wrong.status, 422)
    assert.deepEqual(
      wrong.body.error.details.errors.map(({ field }: { field: string }) => field),
      ['nonsense'],
    )
    if (!body) return
    const more = { ...(example.body as object), nonsense: 1 }
    const answer = await people.administrator.ask(method, url, { body: more })
    assert.equal(answer.status, 422)
    assert.match(JSON.stringify(answer.body.error.details), /nonsense/)
  })

  test(`${operation_id} has no other method, and says so`, async () => {
    const known = platformEndpoints.filter((one) => fill(one.path) === url)
    const others = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter(
      (each) => !known.some((one) => one.method === each),
    )
    for (const other of others) {
      // Another operation may stand where this path has an id.
      const { status } = await people.administrator.ask(other, url, { body: {} })
      assert.ok([404, 405].includes(status), `${other} ${status}`)
    }
  })

  test(`${operation_id} is of its client alone`, async () => {
    if (!path.includes('{')) return
    const answer = await people.administrator.ask(method, url, given)
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found'])
  })

  test(`${operation_id} keeps nothing in caches`, async () => {
    const { headers } = await people.administrator.ask(method, url, given)
    assert.equal(headers['cache-control'], 'no-store')
    assert.ok(query === undefined || method === 'GET')
  })
}

/**
 * Filters by id: an unknown id is 404, in JSON and in files, wherever a read takes one. Lists of
 * ids take blanks after commas. Words of the compass take any case.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpoints } from '../../server/endpoints.ts'
import {
  addKey,
  day_start,
  type ServedSite,
  servedSite,
} from '../../server/fixtures/served-site.ts'
import { orientations } from '../../server/plant/orientation.ts'
import { addressOf } from './calls.ts'
import type { Fixtures } from './fixtures.ts'

/** Ids of the market in place of their names. */
const market_filters = ['base', 'sold']
const isFilter = (name: string) => /_(id|ids|index)$/.test(name) || market_filters.includes(name)

/** Unknown ids that are no integers. */
const unknown_texts: Readonly<Record<string, string>> = {
  node_id: 'no-such-node',
  table_id: 'no-such-table',
  base: 'ZZ-99',
  sold: 'ZZ-99',
}

let site: ServedSite
let key: string

before(async () => {
  site = await servedSite()
  key = await addKey(site.db, { key_id: 'aaaaaaaaaaaa' })
  await site.db.execute(
    `insert into nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     values ('demo', '1', 1, 'Node', 'cabinet', 60, '[]', now(), now())`,
  )
})
after(() => site.close())

const fixtures = {
  sites: { live: 'demo' },
  values: { date: '2026-06-21', start_hour: '11', end_hour: '14', base: 'AT', sold: 'AT' },
} as unknown as Fixtures

async function ask(
  endpoint: (typeof endpoints)[number],
  query: Record<string, string>,
  accept = 'application/json',
) {
  const { statusCode, payload } = await site.app.inject({
    url: addressOf(endpoint, fixtures, { query: new URLSearchParams(query).toString() }),
    headers: { authorization: `Bearer ${key}`, accept },
  })
  return { status: statusCode, payload }
}

const filters = endpoints
  .filter(({ method }) => method === 'GET')
  .flatMap((endpoint) =>
    Object.entries(endpoint.query ?? {})
      .filter(([name]) => isFilter(name))
      .map(([name, schema]) => ({ endpoint, name, schema: schema as { format?: string } })),
  )

for (const { endpoint, name, schema } of filters) {
  const title = `${endpoint.path}?${name}=`
  const unknown = unknown_texts[name] ?? '2147483647'
  const is_list = schema.format === 'ids'

  test(`${title} of what the site has not is 404`, async () => {
    const media_types = endpoint.exports ? ['application/json', 'text/csv'] : ['application/json']
    for (const accept of media_types) {
      for (const value of is_list ? [unknown, `1, ${unknown}`] : [unknown]) {
        const { status, payload } = await ask(endpoint, { [name]: value }, accept)
        assert.equal(status, 404, `${accept} ${value}: ${payload}`)
        const { code, details } = JSON.parse(payload).error
        assert.equal(code, 'not_found')
        assert.deepEqual(Object.values(details).map(String).at(-1), unknown)
      }
    }
  })

  test(`${title} of a bad form is 422`, async () => {
    const { status, payload } = await ask(endpoint, { [name]: '%' })
    // The table of an alarm may have any name.
    assert.equal(status, name === 'table_id' ? 404 : 422, payload)
  })

  if (!is_list) continue
  test(`${title} takes blanks after commas`, async () => {
    const plain = await ask(endpoint, { [name]: '1,2' })
    assert.equal(plain.status, 200, plain.payload)
    for (const list of ['1, 2', '1,  2', '2, 1,1']) {
      assert.ok((await ask(endpoint, { [name]: list })).payload === plain.payload, list)
    }
    for (const list of ['1,,2', '1,', ' ', '1;2', '1, x']) {
      assert.equal((await ask(endpoint, { [name]: list })).status, 422, list)
    }
  })
}

for (const endpoint of endpoints.filter(({ query = {} }) => 'orientation' in query)) {
  test(`${endpoint.path}?orientation= takes any case`, async () => {
    const window = { start: day_start }
    for (const orientation of orientations) {
      const plain = await ask(endpoint, { ...window, orientation })
      assert.equal(plain.status, 200, plain.payload)
      const capital = `${orientation[0]!.toUpperCase()}${orientation.slice(1)}`
      for (const word of [capital, orientation.toUpperCase()]) {
        const { payload } = await ask(endpoint, { ...window, orientation: word })
        assert.ok(payload === plain.payload, word)
      }
    }
    const south = JSON.parse((await ask(endpoint, { ...window, orientation: 'South' })).payload)
    assert.equal(south.meta.count, 8)
    for (const orientation of ['southish', '', 'SOUTH ']) {
      assert.equal((await ask(endpoint, { ...window, orientation })).status, 422, orientation)
    }
  })
}

test('filters by id are found in the table', () => {
  assert.ok(filters.length >= 17, String(filters.length))
})

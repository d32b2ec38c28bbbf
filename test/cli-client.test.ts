/** The client's side of the command line, against a served API. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { readOperations } from '../cli/operations.ts'
import { endpoints } from '../server/endpoints.ts'
import { noon } from '../server/fixtures/served-site.ts'
import { heliograph } from './command-line.ts'
import { type SdkSite, sdkSite } from './sdk-site.ts'

let site: SdkSite

before(async () => {
  site = await sdkSite(noon, 5)
})
after(() => site.close())

const run = (...words: string[]) =>
  heliograph(
    {
      HELIOGRAPH_URL: site.base_url,
      HELIOGRAPH_KEY: site.api_key,
      HELIOGRAPH_SITE: 'demo',
    },
    ...words,
  )

test('every read has a name of its own', () => {
  const names = readOperations().map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.equal(names.length, endpoints.filter(({ method }) => method === 'GET').length)
})

test('a list is a table, a record is lines, and both are JSON on demand', async () => {
  const list = await run('get', 'inverters')
  assert.equal(list.code, 0, list.notes)
  assert.match(list.out, /^inverter_id +logger_id/)
  const record = await run('get', 'plant-status')
  assert.match(record.out, /^FIELD +VALUE\n/)
  const json = JSON.parse((await run('get', 'inverters', '--json')).out)
  assert.equal(
    list.out.trim().split('\n').length,
    json.data.length + 2,
    'a head, and what is left out',
  )
  const sites = await run('get', 'sites', '--json')
  assert.equal(JSON.parse(sites.out).data[0].site_id, 'demo')
})

test('all pages of a list are one', async () => {
  const window = ['inverter_id=1', `start=${site.minutes[0]}`, 'limit=2']
  const { out, code, notes } = await run('get', 'inverters-history', ...window, '--all', '--json')
  assert.equal(code, 0, notes)
  assert.deepEqual(
    JSON.parse(out).map((row: { ac_power_kw: number }) => row.ac_power_kw),
    [0, 1, 2, 3, 4],
  )
  await site.db.query(`
    insert into nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
      updated_at)
    values ('demo', 'n', 1, 'Node', 'cabinet', 60, '[]', now(), now());
    insert into relay_events (site_id, node_id, channel, at, received_at, to_state, cause)
    select 'demo', 'n', 'fan' || n, '2026-06-21T09:00Z', now(), true, 'manual'
    from generate_series(1, 5) n`)
  const paged = await run('get', 'commands-relay-history', 'limit=2', '--all', '--json')
  assert.equal(JSON.parse(paged.out).length, 5)
  const none = await run('get', 'inverters', '--all')
  assert.deepEqual([none.code, none.notes], [4, 'heliograph: inverters has no pages\n'])
})

test('what is wrong is said, with the exit code of its kind', async () => {
  const said: [string[], number, RegExp][] = [
    [['get', 'inverter'], 4, /no operation is named "inverter" \(similar: .*inverters-history/],
    [
      ['get', 'inverters-history', 'inverter=1'],
      4,
      /not a parameter of inverters-history: inverter_id/,
    ],
    [['get', 'inverters-history'], 4, /inverters-history needs inverter_id=…/],
    [['get', 'inverters-get', 'inverter_id=999'], 3, /resource does not exist/],
    [['get', 'inverters-history', 'inverter_id=1', 'start=yesterday'], 4, /start/],
    [['curtail'], 4, /no limit given/],
    [['curtail', '--percent', '50'], 5, /confirmation/],
    [['release', 'nothing', '--yes'], 3, /resource does not exist/],
  ]
  for (const [words, code, note] of said) {
    const ran = await run(...words)
    assert.equal(ran.code, code, `${words.join(' ')}: ${ran.notes}`)
    assert.match(ran.notes, note)
    assert.equal(ran.out, '')
  }
})

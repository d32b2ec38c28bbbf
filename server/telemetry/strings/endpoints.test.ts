import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, servedSite } from '../../fixtures/served-site.ts'
import { nearestInstants } from '../instants.ts'

const dead_end = { truncated: true, next_start: null, previous_end: null }

test('a page holds whole instants, nearest to where it begins', async () => {
  const instant = (minute: number, returned: number) => ({
    at_ms: minute * 60_000,
    items: Array.from({ length: returned }, (_, index) => ({ id: 10 * minute + index })),
  })
  async function* walk(order: readonly number[]) {
    for (const minute of order) yield [instant(minute, 0), instant(minute, 2)]
  }
  const page = async (limit: number, order = [1, 2, 3]) => {
    const instants = await nearestInstants(walk(order), limit)
    return instants.flatMap(({ items }) => items.map(({ id }) => id))
  }
  assert.deepEqual(await page(6), [10, 11, 20, 21, 30, 31])
  assert.deepEqual(await page(5), [10, 11, 20, 21])
  assert.deepEqual(await page(5, [3, 2, 1]), [30, 31, 20, 21])
  assert.deepEqual(await page(1), [10, 11])
  assert.deepEqual(await page(5, []), [])
})

test('strings', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  const add = (measured_at: string, first_string_index: number, current_a: (number | null)[]) =>
    addReading(db, 'string', {
      inverter_id: 1,
      first_string_index,
      measured_at,
      current_a,
      voltage_v: first_string_index === 0 ? [700, 710] : null,
    })
  for (const minute of [57, 58, 59]) {
    await add(`2026-06-21T09:${minute}:30Z`, 0, [8, 0])
    await add(`2026-06-21T09:${minute}:30Z`, 2, [8.5, null])
  }

  await t.test('configuration', async () => {
    const { status, body } = await get('/strings/inverter/1')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 4)
    const [first] = body.data
    assert.equal(first.panel_model, 'Sun 455')
    assert.equal(first.module_power_wp, 454.84)
    assert.equal(first.orientation, 'south')
    assert.equal(body.data[3].mppt_index, 1)
    assert.equal((await get('/strings/inverter/9')).status, 404)
  })

  await t.test('current values of every string, measured or not', async () => {
    const { body } = await get('/strings/inverter/1/current')
    assert.equal(body.meta.count, 4)
    assert.deepEqual(
      body.data.map(({ current_a, voltage_v, power_kw, status }: Row) => [
        current_a,
        voltage_v,
        power_kw,
        status,
      ]),
      [
        [8, 700, 5.6, 'ok'],
        [0, 710, 0, 'zero_current'],
        [8.5, null, null, 'ok'],
        [null, null, null, 'no_data'],
      ],
    )
    assert.equal(body.data[0].age_s, 30)
    const { body: never } = await get('/strings/inverter/3/current')
    assert.deepEqual(
      never.data.map(({ quality, status }: Row) => [quality, status]),
      [
        ['missing', 'no_data'],
        ['missing', 'no_data'],
      ],
    )
    assert.equal((await get('/strings/inverter/9/current')).status, 404)
  })

  const places = (body: { data: Row[] }) =>
    body.data.map(({ measured_at, string_index }) =>
      [String(measured_at).slice(14, 16), string_index].join('.'),
    )

  await t.test('history has one item for each string and instant', async () => {
    const { body } = await get('/strings/inverter/1/history')
    assert.equal(body.meta.count, 12)
    assert.equal(body.meta.truncated, false)
    assert.deepEqual(places(body).slice(0, 5), ['57.0', '57.1', '57.2', '57.3', '58.0'])
    assert.deepEqual(body.data[0], {
      measured_at: '2026-06-21T09:57:30.000Z',
      string_index: 0,
      current_a: 8,
      voltage_v: 700,
      power_kw: 5.6,
      quality: 'good',
    })
    assert.equal(body.data[3].current_a, null)
  })

  await t.test('pages end with whole instants, forwards and backwards', async () => {
    const path = '/strings/inverter/1/history?limit=9'
    const { body } = await get(`${path}&start=2026-06-21T09:00:00Z`)
    assert.equal(body.data.length, 8)
    assert.equal(body.meta.count, 12)
    assert.equal(body.meta.next_start, '2026-06-21T09:58:30.001Z')
    const next = await get(`${path}&start=${body.meta.next_start}`)
    assert.deepEqual(places(next.body), ['59.0', '59.1', '59.2', '59.3'])
    const newest = await get(path)
    assert.equal(places(newest.body)[0], '58.0')
    assert.equal(newest.body.meta.previous_end, '2026-06-21T09:58:30.000Z')
    const before = await get(`${path}&end=${newest.body.meta.previous_end}`)
    assert.deepEqual(places(before.body), ['57.0', '57.1', '57.2', '57.3'])
  })

  await t.test('a limit below the strings of one instant cuts it', async () => {
    const { body } = await get('/strings/inverter/1/history?limit=3')
    assert.deepEqual(places(body), ['59.0', '59.1', '59.2'])
    const { truncated, next_start, previous_end } = body.meta
    assert.deepEqual({ truncated, next_start, previous_end }, dead_end)
    const first = await get('/strings/inverter/1/history?limit=3&start=2026-06-21T09:00:00Z')
    assert.equal(first.body.meta.next_start, null)
    const one = await get('/strings/inverter/1/history?limit=1&string_index=2')
    assert.notEqual(one.body.meta.previous_end, null)
  })

  await t.test(
    'power has no digits that nobody measured, and is the same now and later',
    async () => {
      const values = { current_a: [0.17, -0.01], voltage_v: [954.2, 0.1] }
      const measured_at = '2026-06-21T09:59:45.120Z'
      await addReading(db, 'string', {
        inverter_id: 2,
        first_string_index: 0,
        measured_at,
        ...values,
      })
      const powers = async (path: string) => {
        const { body } = await get(`/strings/inverter/2/${path}`)
        assert.equal(body.data[0].measured_at, measured_at)
        return body.data.slice(0, 2).map(({ power_kw }: Row) => power_kw)
      }
      assert.deepEqual(await powers('history'), [0.1622, 0])
      assert.deepEqual(await powers('current'), [0.1622, 0])
    },
  )

  await t.test('one string alone; one that does not exist is not found', async () => {
    const { body } = await get('/strings/inverter/1/history?string_index=2&limit=2')
    assert.deepEqual(places(body), ['58.2', '59.2'])
    assert.equal(body.meta.count, 3)
    assert.equal(body.meta.previous_end, '2026-06-21T09:58:30.000Z')
    assert.equal((await get('/strings/inverter/1/history?string_index=4')).status, 404)
    assert.equal((await get('/strings/inverter/1/history?string_index=-1')).status, 422)
    assert.equal((await get('/strings/inverter/9/history')).status, 404)
  })
})

type Row = Record<string, unknown>

/** Planned outages from the command line to the forecast and to what trainings learn from. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { outcomeOf, readCourses } from '../server/forecasts/course.ts'
import { addPast } from '../server/forecasts/fixtures/history.ts'
import { addOutage, removeOutage } from '../server/forecasts/outage-admin.ts'
import { heliograph } from './command-line.ts'
import { testDatabase } from './postgres.ts'

const today = Date.parse('2026-06-21T00:00:00Z')
let site: ServedSite

before(async () => {
  site = await servedSite()
  site.clock.set('2026-06-21T09:00:00Z')
  await addPast(site.db, { site_id: 'demo', from_ms: today - 3 * day_ms, to_ms: today })
})
after(() => site.close())

interface Point {
  start_at: string
  p10_kw: number
  p50_kw: number
  p90_kw: number
  p50_kwh: number
  limited_p50_kw: number
}

const forecast = async (query = '') => {
  const { status, body } = await site.get(`/predictions/forecast?date=2026-06-22${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return { one: body.data[0], other: body.data[1], whole: body.meta.site }
}

interface Day {
  points: Point[]
  total_p10_kwh: number
  total_p50_kwh: number
  total_p90_kwh: number
}

const powers = ['p10_kw', 'p50_kw', 'p90_kw', 'limited_p50_kw', 'p50_kwh'] as const

/** What is left of each hour from 8 to 11, as a share of what was told without outages. */
const leftOf = (day: Day, whole: Day) =>
  day.points.slice(8, 12).map((point, nth) => {
    const free = whole.points[8 + nth]!
    assert.ok(free.p50_kw > 10)
    const shares = powers.map((name) => Math.round((1000 * point[name]) / free[name]) / 1000)
    assert.equal(new Set(shares).size, 1, `${shares}`)
    return shares[0]
  })

const sumOf = ({ points }: Day) => points.reduce((sum, { p50_kwh }) => sum + p50_kwh, 0)

test('an outage lowers what its plant and the site will give, from the next answer on', async () => {
  const free = await forecast()
  assert.deepEqual(leftOf(free.one, free.one), [1, 1, 1, 1])
  const { outage_id } = await addOutage(site, {
    site_id: 'demo',
    logger_id: 1,
    unavailable_pct: 40,
    reason: null,
    start_at: new Date('2026-06-22T09:00Z'),
    end_at: new Date('2026-06-22T10:30Z'),
  })
  const held = await forecast()
  assert.deepEqual(leftOf(held.one, free.one), [1, 0.6, 0.8, 1])
  assert.deepEqual(held.other.points, free.other.points)
  // Of the site by what the plant would give of it in that hour.
  const share =
    free.one.points[9].p50_kw / (free.one.points[9].p50_kw + free.other.points[9].p50_kw)
  assert.equal(leftOf(held.whole, free.whole)[1], Math.round(1000 * (1 - 0.4 * share)) / 1000)
  for (const [day, whole] of [
    [held.one, free.one],
    [held.whole, free.whole],
  ] as const) {
    assert.ok(Math.abs(day.total_p50_kwh - sumOf(day)) < 0.01)
    assert.ok(day.total_p50_kwh < whole.total_p50_kwh)
    assert.ok(day.total_p10_kwh < whole.total_p10_kwh && day.total_p90_kwh < whole.total_p90_kwh)
  }
  // The run is kept as it was issued, and none was made for it.
  assert.equal(held.one.run_id, free.one.run_id)
  site.clock.set('2026-06-21T09:01:00Z')
  const next = await forecast('&refresh=true')
  assert.ok(next.one.run_id > held.one.run_id)
  assert.deepEqual(leftOf(next.one, free.one), [1, 0.6, 0.8, 1])
  await removeOutage(site, { site_id: 'demo', outage_id })
  assert.deepEqual(leftOf((await forecast()).one, free.one), [1, 1, 1, 1])
})

test('beside the actual stands what was said at the gate, with the outages told by then', async () => {
  const window = 'start=2026-06-22T08:00:00Z&end=2026-06-22T12:00:00Z'
  const shares = async (of: string) => {
    const { status, body } = await site.get(`/predictions/production?${window}${of}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data.map(({ p50_kwh }: { p50_kwh: number }) => p50_kwh)
  }
  await site.db.execute("update forecast_runs set issued_at = '2026-06-21T09:59Z'")
  const [one, other, whole] = await Promise.all(['&logger_id=1', '&logger_id=2', ''].map(shares))
  const { outage_id } = await addOutage(site, {
    site_id: 'demo',
    logger_id: 1,
    unavailable_pct: 50,
    reason: null,
    start_at: new Date('2026-06-22T09:00Z'),
    end_at: new Date('2026-06-22T10:00Z'),
  })
  const near = (found: number, wanted: number) => assert.ok(Math.abs(found - wanted) < 1e-6)
  near((await shares('&logger_id=1'))[1], one[1] / 2)
  near((await shares('&logger_id=1'))[2], one[2])
  near((await shares(''))[1], whole[1] * (1 - one[1] / 2 / (one[1] + other[1])))
  // Told after the gate had closed, it was not known to those who offered.
  await site.db.execute("update planned_outages set created_at = '2026-06-21T10:01Z'")
  assert.deepEqual(await shares('&logger_id=1'), one)
  await removeOutage(site, { site_id: 'demo', outage_id })
})

test('what a plant gave in an outage is neither learned from nor scored', async () => {
  const yesterday = today - day_ms
  const span = { from_ms: yesterday, to_ms: today }
  const teaches = async () => {
    const { site: whole, plants } = await readCourses(site.db, {
      site_id: 'demo',
      logger_ids: [1, 2],
      ...span,
    })
    return [plants.get(1)!, plants.get(2)!, whole].map((course) =>
      [8, 9, 10].map((hour) => {
        const start_ms = yesterday + hour * hour_ms
        return !outcomeOf(course, start_ms, start_ms + hour_ms).is_faulty
      }),
    )
  }
  const all = [true, true, true]
  assert.deepEqual(await teaches(), [all, all, all])
  const order = {
    site_id: 'demo',
    unavailable_pct: 20,
    reason: null,
    start_at: new Date(yesterday + 9 * hour_ms),
    end_at: new Date(yesterday + 10 * hour_ms),
  }
  const [of_one, of_all] = [
    await addOutage(site, { ...order, logger_id: 1 }),
    await addOutage(site, { ...order, logger_id: null, end_at: new Date(today) }),
  ]
  const first = [true, false, false]
  assert.deepEqual(await teaches(), [first, first, first])
  await removeOutage(site, of_all)
  assert.deepEqual(await teaches(), [[true, false, true], all, [true, false, true]])
  await removeOutage(site, of_one)
})

test('the command line adds, lists and removes outages', async (t) => {
  const { db, url, drop } = await testDatabase()
  t.after(drop)
  await db.query(`
    insert into clients (name, modules) values ('A', '{basic_scada}');
    insert into sites (site_id, client_id, name) values ('a', 1, 'A');
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at) values ('a', 3, 'Three', 100, 120, now(), now())`)
  const run = (...words: string[]) => heliograph({ DATABASE_URL: url }, 'outages', ...words)
  const window = ['--start-at', '2099-06-21T06:00Z', '--end-at', '2099-06-21T14:00:00Z']
  const order = ['add', '--site', 'a', ...window]
  const added = await run(
    ...order,
    '--logger',
    '3',
    '--unavailable-pct',
    '12.5',
    '--reason',
    'fuse',
  )
  const line = '3 +2099-06-21 06:00Z +2099-06-21 14:00Z +12.5 % +fuse\n'
  assert.match(added.out, new RegExp(`^OUTAGE .*\n\\d+ +${line}$`), added.notes)
  const whole = JSON.parse((await run(...order, '--json')).out)
  assert.deepEqual(
    [whole.logger_id, whole.start_at, whole.end_at, whole.unavailable_pct, whole.reason],
    [null, '2099-06-21T06:00:00.000Z', '2099-06-21T14:00:00.000Z', 100, null],
  )
  assert.equal(JSON.parse((await run('list', '--site', 'a', '--json')).out).length, 2)
  const removed = await run('remove', String(whole.outage_id), '--site', 'a')
  assert.match(removed.out, /^OUTAGE .*\n.* all .* 100 % +-\nRemoved\.\n$/)
  assert.match(
    (await run('list', '--site', 'a', '--all')).out,
    new RegExp(`^OUTAGE .*\n\\d+ +${line}$`),
  )

  for (const [status, told, ...args] of [
    [2, /--start-at <time>.*a time in UTC/, ...order, '--start-at', '2099-06-21'],
    [2, /--end-at <time>' not specified/, 'add', '--site', 'a', '--start-at', '2099-06-21T06:00Z'],
    [2, /'outage_id'.*a whole number/, 'remove', 'x', '--site', 'a'],
    [3, /logger_id: site a has no logger 9 in service \(it has: 3\)/, ...order, '--logger', '9'],
    [4, /unavailable_pct must be above 0 .* not 200/, ...order, '--unavailable-pct', '200'],
  ] as const) {
    const refused = await run(...args)
    assert.deepEqual([refused.code, refused.out], [status, ''], refused.notes)
    assert.match(refused.notes, told)
  }
})

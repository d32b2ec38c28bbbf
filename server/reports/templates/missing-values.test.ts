/** Notes on values that are unknown. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { addBatteries, addUnitDay } from '../../batteries/fixtures/battery-site.ts'
import { servedSite } from '../../fixtures/served-site.ts'
import { sumStrings } from '../../performance/diagnostics/string-sums.ts'
import { layoutOf } from '../../performance/rollups/inverter-span.ts'
import { encodeStrings, string_layout } from '../../performance/rollups/string-codec.ts'
import type { Database } from '../../storage/database.ts'
import { availability } from './availability.ts'
import { battery } from './battery.ts'
import { addSunnyDays, built, metricOf, orderOf, tableOf } from './fixtures/sunny-days.ts'
import { losses } from './losses.ts'
import { performanceMonthly } from './performance-monthly.ts'
import { productionDaily } from './production-daily.ts'
import { stringHealth } from './string-health.ts'

const week = orderOf('2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z')

async function sunnySite(t: TestContext) {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-06-01', last: '2026-06-07' })
  return site.db
}

test('a note says which values need more irradiance data', async (t) => {
  const db = await sunnySite(t)
  const notesNow = async () => {
    const { notes } = await built(db, productionDaily, week)
    return notes.filter((note) => note.startsWith('Expected energy, insolation'))
  }
  assert.deepEqual(await notesNow(), [])
  const darken = (logger_id: number) =>
    db.execute(
      `update logger_hours set sun_covered_s = 0, insolation_kwh_m2 = null,
         expected_energy_kwh = null, curtailment_loss_kwh = null
       where logger_id = $1 and hour_at >= '2026-06-03'`,
      [logger_id],
    )
  await darken(2)
  assert.match(
    (await notesNow())[0]!,
    /need measured irradiance for 50 % of the time .*: .* for East\.$/,
  )
  await darken(1)
  assert.match((await notesNow())[0]!, /: no plant has enough\.$/)
  const document = await built(db, productionDaily, week)
  assert.ok((metricOf(document, 'Production', 'Energy') as number) > 0)
  assert.equal(metricOf(document, 'Production', 'Insolation'), null)
})

test('the note on incomplete data says whether there are sums', async (t) => {
  const db = await sunnySite(t)
  const first = async (template: typeof losses, end: string) =>
    (await built(db, template, orderOf('2026-06-01T00:00:00Z', end))).notes[0]!
  for (const template of [performanceMonthly, availability, losses]) {
    const { template_id } = template
    const month = await first(template, '2026-06-29T00:00:00Z')
    assert.match(month, /from 7 of 28 days\. That is too little for sums\.$/, template_id)
    const most = await first(template, '2026-06-10T00:00:00Z')
    assert.match(most, /from 7 of 9 days\. Sums are of what was measured/, template_id)
  }
})

test('without demanded time there is no time-based availability, but a note', async (t) => {
  const db = await sunnySite(t)
  const notesOf = async (template: typeof availability) => {
    const { notes } = await built(db, template, week)
    return notes.filter((note) => note.includes('demanded'))
  }
  assert.deepEqual([await notesOf(availability), await notesOf(performanceMonthly)], [[], []])
  await db.execute('update inverter_hours set demanded_s = 0, down_s = 0 where inverter_id = 3')
  for (const template of [availability, performanceMonthly]) {
    const [note] = await notesOf(template)
    assert.match(note!, /without demanded time .*above 100 W\/m².*: East\.$/, template.template_id)
  }
})

test('days are dates, hours of a single day are texts', async (t) => {
  const db = await sunnySite(t)
  const [day] = tableOf(await built(db, productionDaily, week), 'By day').columns
  assert.deepEqual([day!.kind, day!.label], ['date', 'Day'])
  const one = orderOf('2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z')
  const [hour] = tableOf(await built(db, productionDaily, one), 'By hour').columns
  assert.deepEqual([hour!.kind, hour!.label], ['text', 'Hour'])
})

/** Strings of inverter 1 over the light of a day, by the hour. */
async function addStringHours(db: Database, poa_w_m2: number): Promise<void> {
  const strings = await db.query<Parameters<typeof layoutOf>[0][number]>(
    'select * from strings where inverter_id = 1 order by string_index',
  )
  const samples = Array.from({ length: 62 }, (_, minute) => ({
    time_ms: (minute - 1) * minute_ms,
    current_a: strings.map((_, nth) => (poa_w_m2 / 100) * (1 + ((minute + nth) % 5) / 500)),
    voltage_v: strings.map(() => 800),
    expected_kw: null,
    poa_w_m2,
    is_limited: false,
  }))
  const sums = sumStrings(layoutOf(strings), samples, { start_ms: 0, end_ms: hour_ms })
  const stored = encodeStrings(sums)
  await db.execute('delete from string_hours')
  await db.execute(
    `insert into string_hours (site_id, inverter_id, hour_at, string_count, layout, sums)
     select 'demo', 1, at, $1, $2, decode($3, 'hex')
     from generate_series('2026-06-01T04:00Z', '2026-06-01T19:00Z', interval '1 hour') as at`,
    [strings.length, string_layout, stored.sums.toString('hex')],
  )
}

test('a note counts the strings that cannot be judged by reason', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const order = orderOf('2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z')
  const read = async () => {
    const document = await built(site.db, stringHealth, order)
    const has_map = document.sections.some(({ kind }) => kind === 'chart')
    assert.equal(has_map, metricOf(document, 'Strings', 'Healthy') !== null)
    return [document.notes.at(-1), tableOf(document, 'Strings with the lowest score').note]
  }
  assert.deepEqual(await read(), [
    'No data: no string was measured in this period.',
    'No string could be judged: their health is unknown.',
  ])
  await addStringHours(site.db, 2)
  assert.deepEqual(await read(), [
    'None of 10 strings can be judged: 4 (no light), 6 (insufficient data).',
    'No string could be judged: their health is unknown.',
  ])
  await addStringHours(site.db, 800)
  assert.deepEqual(await read(), [
    '6 of 10 strings cannot be judged: 6 (insufficient data).',
    'All 4 judged strings are healthy, of 10.',
  ])
})

test('an hour without known energy is no deviation from the plan', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addBatteries(site.db)
  await addUnitDay(site.db, '2026-06-21', { from_hour: 10 })
  const hours = [0, 5, 12, 20].map((hour) => ({
    hour,
    power_kw: hour === 20 ? 100 : -60,
    quarter_power_kw: null,
    soc_start_pct: 50,
    soc_end_pct: 50,
  }))
  await site.db.execute(
    `insert into battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
       created_by, approved_at, problem, plan, hours)
     values ('demo', 1, '2026-06-21', 'approved', 'arbitrage', '2026-06-20', 'test', '2026-06-20',
       '{"unit": {"capacity_kwh": 400, "charge_efficiency": 1, "discharge_efficiency": 1}}', '{}',
       $1::jsonb)`,
    [JSON.stringify(hours)],
  )
  const order = orderOf('2026-06-21T00:00:00Z', '2026-06-22T00:00:00Z')
  const { rows, note } = tableOf(
    await built(site.db, battery, order),
    'Hours that differ from the plan',
  )
  assert.deepEqual(
    rows.map(({ start, planned, deviation }) => [
      (start as Date).getUTCHours(),
      planned,
      deviation,
    ]),
    [[20, 100, -52]],
  )
  assert.match(note!, /^1 of 1 beyond the tolerance\..* 2 hours whose energy is not known\.$/)
})

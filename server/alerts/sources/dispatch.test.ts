import assert from 'node:assert/strict'
import test from 'node:test'
import { addBatteries } from '../../batteries/fixtures/battery-site.ts'
import { after, contextOf, noon, openAlert, useSourceSite } from '../fixtures/source-site.ts'
import { deviationOf, findDispatch } from './dispatch.ts'

const sourceSite = useSourceSite()

/** Discharges at 100 kW from 09:45 to 11:00, a unit of 200 kW. */
const plan = {
  schedule_id: 1,
  approved_at: after(-300),
  superseded_at: null,
  hours: [
    { hour: 9, power_kw: 0, quarter_power_kw: [0, 0, 0, 100], soc_start_pct: 60, soc_end_pct: 55 },
    { hour: 10, power_kw: 100, quarter_power_kw: null, soc_start_pct: 55, soc_end_pct: 20 },
  ],
}
const unit = { bess_id: 1, name: 'South', rated_power_kw: 200, plans: [plan as never] }
const minutes = (powers: number[]) =>
  powers.map((power_kw, nth) => ({
    bess_id: 1,
    power_kw,
    start_ms: after(nth - powers.length).getTime(),
  }))

const cases: [string, number[], number | null][] = [
  ['as planned', [100, 100, 100], null],
  ['within the tolerance', [80, 81, 119], null],
  ['no power for three minutes', [100, 0, 0, 0], -3],
  ['a moment of it', [0, 0, 100], null],
  ['above, after below', [0, 0, 130, 130], -2],
  ['since its schedule began', [...Array(20).fill(0)], -15],
  ['nothing measured', [], null],
]

for (const [name, powers, since_min] of cases) {
  test(`a battery with ${name}`, () => {
    const finding = deviationOf(unit, minutes(powers), 10)
    const since = finding && (finding.since.getTime() - noon.getTime()) / 60_000
    assert.equal(since, since_min)
  })
}

test('of the database: approved schedules of the day, by means of whole minutes', async () => {
  const db = await sourceSite()
  await addBatteries(db)
  const schedule = (bess_id: number, state: string) =>
    db.execute(
      `insert into battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
         created_by, approved_at, problem, plan, hours)
       values ('demo', $1, '2026-06-21', $2, 'x', now(), 'k',
         case when $2 = 'approved' then '2026-06-21T05:00Z'::timestamptz end, '{}', '{}', $3)`,
      [bess_id, state, JSON.stringify(plan.hours)],
    )
  await schedule(1, 'approved')
  await schedule(2, 'proposed')
  await db.execute(`
    insert into bess_readings (site_id, bess_id, measured_at, quality, power_kw)
    select 'demo', b, '2026-06-21T09:40Z'::timestamptz + n * interval '20 seconds', 'good',
      case when n < 45 then case when n < 15 then 0 else 100 end else 40 end
    from unnest('{1,2}'::int[]) as b, generate_series(0, 59) as n`)
  const { findings, isUnknown } = await findDispatch(contextOf(db))
  assert.deepEqual(findings, [
    {
      code: 'dispatch_deviation',
      source_type: 'bess',
      source_id: '1',
      bess_id: 1,
      since: after(-5),
      message: 'Battery South delivers 40 kW, 60 kW below its approved schedule.',
      value: 60,
      threshold: 20,
      unit: 'kW',
    },
  ])
  const open = openAlert('dispatch_deviation', { bess_id: 1 })
  assert.equal(isUnknown(open), false)
  const later = await findDispatch(contextOf(db, after(5)))
  assert.equal(later.isUnknown(open), true, 'nothing was measured in the last minute')
})

test('what a plan of today has for the last hour is not held against yesterday', async () => {
  const db = await sourceSite()
  await addBatteries(db)
  const hours = [0, 23].map((hour) => ({ hour, power_kw: 100, quarter_power_kw: null }))
  await db.execute(
    `insert into battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
       created_by, approved_at, problem, plan, hours)
     values ('demo', 1, '2026-06-21', 'approved', 'x', now(), 'k', '2026-06-20T12:00Z', '{}', '{}',
       $1)`,
    [JSON.stringify(hours)],
  )
  await db.execute(`
    insert into bess_readings (site_id, bess_id, measured_at, quality, power_kw)
    select 'demo', 1, '2026-06-20T23:50Z'::timestamptz + n * interval '1 minute', 'good', 0
    from generate_series(0, 11) as n`)
  const { findings } = await findDispatch(contextOf(db, new Date('2026-06-21T00:02:30Z')))
  assert.deepEqual(
    findings.map(({ since }) => since.toISOString()),
    ['2026-06-21T00:00:00.000Z'],
  )
})

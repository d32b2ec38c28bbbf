import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { testDatabase } from '../../test/postgres.ts'
import { foundSite } from '../link/fixtures/plant.ts'
import { ensurePartitions } from '../storage/partitions.ts'
import { lowestSpans, sumCurtailedEnergy } from './curtailed-energy.ts'

const noon = Date.UTC(2026, 5, 21, 12)

test('of rows that hold at once the lowest has it', () => {
  const row = (group_id: string, max_power_kw: number, from_ms: number, to_ms: number) => ({
    group_id,
    max_power_kw,
    from_ms,
    to_ms,
    row_id: group_id.charCodeAt(0),
  })
  const spans = (...rows: Parameters<typeof lowestSpans>[0]) =>
    lowestSpans(rows).map(({ group_id, from_ms, to_ms }) => `${group_id} ${from_ms}-${to_ms}`)
  assert.deepEqual(spans(row('a', 50, 0, 100), row('b', 20, 40, 60)), [
    'a 0-40',
    'b 40-60',
    'a 60-100',
  ])
  assert.deepEqual(spans(row('b', 50, 0, 10), row('a', 50, 5, 20)), ['b 0-5', 'a 5-10', 'a 10-20'])
  assert.deepEqual(spans(row('a', 50, 0, 10), row('b', 60, 20, 30)), ['a 0-10', 'b 20-30'])
  assert.deepEqual(spans(), [])
})

test('energy that was kept back', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  await ensurePartitions(db, ['inverter_readings'], new Date(noon), new Date(noon + minute_ms))
  await db.query(`
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at) values ('park', 1, 'South', 200, 200, now(), now());
    insert into inverters (site_id, inverter_id, logger_id, name, rated_ac_power_kw, phase_count,
      mppt_count, string_count, dc_capacity_kwp, driver, modbus_unit_id, created_at, updated_at)
    select 'park', id, 1, 'I', 100, 3, 1, 1, 100, 'sunspec', id, now(), now()
    from generate_series(1, 3) as id`)

  const row = (group_id: string, max_power_kw: number, from_min: number, to_min: number) =>
    db.query(`
      insert into curtailment_groups (site_id, group_id, source, created_at)
      values ('park', '${group_id}', 'api', now());
      insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
        applied_at)
      select 'park', '${group_id}', 1, at - interval '1 minute', '${iso(to_min)}', ${max_power_kw},
        at from (values ('${iso(from_min)}'::timestamptz)) as a (at)`)
  const reading = (
    inverter_id: number,
    at_min: number,
    power: number,
    available: number | null,
    limited_by: string | null = 'curtailment',
  ) =>
    db.execute(
      `insert into inverter_readings
         (site_id, inverter_id, measured_at, quality, ac_power_kw, available_power_kw, limited_by)
       values ('park', $1, $2, 'good', $3, $4, $5)`,
      [inverter_id, iso(at_min), power, available, limited_by],
    )
  const sum = (now_min: number, since_min = -120) =>
    sumCurtailedEnergy(db, {
      job: 'sum_curtailed_energy',
      since: new Date(noon + since_min * minute_ms),
      now: new Date(noon + now_min * minute_ms),
      signal: new AbortController().signal,
    })
  const energies = async () =>
    Object.fromEntries(
      (
        await db.query<{ group_id: string; energy: number | null }>(
          `select group_id, round(sum(curtailed_energy_kwh)::numeric, 6)::float8 as energy
           from curtailment_hours group by group_id order by group_id`,
        )
      ).map(({ group_id, energy }) => [group_id, energy]),
    )

  const quarters = async () =>
    (
      await db.query<{ group_id: string; quarter_wh: number[] }>(
        'select group_id, quarter_wh from curtailment_hours order by hour_at, group_id',
      )
    ).map(({ group_id, quarter_wh }) => [group_id, ...(quarter_wh ?? [])].join(' '))

  await t.test('is not known where no inverter tells what it could deliver', async () => {
    await row('a', 80, 0, 90)
    for (let at_min = -5; at_min <= 95; at_min += 1) await reading(3, at_min, 30, null)
    await sum(100)
    assert.deepEqual(await energies(), { a: null })
    assert.deepEqual(await quarters(), ['a', 'a'])
  })

  await t.test('is what could be delivered less what was, while the row was applied', async () => {
    // Inverter 1 could do 60 and does 40, from before the row until after it; 2 can do no more.
    for (let at_min = -5; at_min <= 95; at_min += 1) {
      await reading(1, at_min, 40, 60)
      await reading(2, at_min, 40, 39)
    }
    await sum(100)
    assert.deepEqual(await energies(), { a: 30 })
    assert.deepEqual(await quarters(), ['a 5000 5000 5000 5000', 'a 5000 5000 0 0'])
  })

  await t.test('hours from before quarters were kept have got them, by the time held', async () => {
    await db.execute('update curtailment_hours set quarter_wh = null')
    const migration = new URL(
      '../storage/migrations/0018-curtailment-quarters.sql',
      import.meta.url,
    )
    const text = readFileSync(migration, 'utf8')
    await db.query(text.slice(text.indexOf('update curtailment_hours')))
    assert.deepEqual(await quarters(), ['a 5000 5000 5000 5000', 'a 5000 5000 0 0'])
  })

  await t.test('grows while the row holds, however often it is summed', async () => {
    await db.execute('delete from curtailment_hours')
    for (const [now_min, energy] of [
      [30, 10],
      [30, 10],
      [75, 25],
      [200, 30],
    ] as const) {
      await sum(now_min, now_min - 120)
      assert.deepEqual(await energies(), { a: energy })
    }
  })

  await t.test(
    'is not made up across gaps, and readings that come late are in the next sum',
    async () => {
      const gap = `inverter_id = 1 and measured_at > '${iso(20)}' and measured_at < '${iso(40)}'`
      await db.execute(`delete from inverter_readings where ${gap}`)
      await sum(100)
      assert.deepEqual(await energies(), { a: 23.333333 })
      for (let at_min = 21; at_min < 40; at_min += 1) await reading(1, at_min, 40, 60)
      await sum(100)
      assert.deepEqual(await energies(), { a: 30 })
    },
  )

  await t.test('goes to the lowest row, and to none while none was in force', async () => {
    await row('b', 50, 30, 45)
    await sum(100)
    assert.deepEqual(await energies(), { a: 25, b: 5 })
    assert.deepEqual(await quarters(), ['a 5000 5000 0 5000', 'b 0 0 5000 0', 'a 5000 5000 0 0'])
    await db.execute(`update curtailment_rows set released_at = '${iso(60)}' where group_id = 'a'`)
    await sum(100)
    assert.deepEqual(await energies(), { a: 15, b: 5 })
  })

  await t.test('goes on while the edge does not confirm the release', async () => {
    const set = (values: string) =>
      db.execute(`update curtailment_rows set ${values} where group_id = 'a'`)
    await set(`told_at = start_at, released_at = '${iso(20)}'`)
    const energyAt = async (now_min: number) => {
      await sum(now_min)
      return (await energies())['a']
    }
    const of_confirmed = await energyAt(20)
    const of_open = await energyAt(40)
    assert.ok(of_open! > of_confirmed!)
    await set(`restored_at = '${iso(40)}'`)
    assert.equal(await energyAt(100), of_open)
    await set(`restored_at = null, closed_at = '${iso(40)}', closed_reason = 'operator'`)
    assert.equal(await energyAt(100), of_open)
    await set(`restored_at = '${iso(20.5)}', closed_at = null, closed_reason = null`)
    assert.equal(await energyAt(100), of_confirmed, 'confirmed at once')
    await set(`told_at = null, restored_at = null, released_at = '${iso(60)}'`)
  })

  await t.test('is only what the row held back, not what else did', async () => {
    const held = async (limited_by: string | null, power: number, available: number | null) => {
      await db.execute('delete from inverter_readings')
      for (let at_min = 0; at_min <= 30; at_min += 1) {
        await reading(1, at_min, power, available, limited_by)
      }
      await sum(100)
      return (await energies())['a']
    }
    assert.equal(await held('curtailment', 40, 60), 10)
    // A permit below the row, another master, the sun.
    for (const limited_by of ['permit', 'external', 'none']) {
      assert.equal(await held(limited_by, 40, 60), 0, limited_by)
    }
    assert.equal(await held('unknown', 40, 60), null)
    assert.equal(await held(null, 40, 60), null)
    // At night an inverter draws what it needs itself.
    assert.equal(await held('curtailment', -0.2, 0), 0)
    assert.equal(await held('curtailment', 40, null), null)
    assert.equal(await held('permit', 40, null), null)
  })

  await t.test('what could be delivered now is noted at the rows that hold', async () => {
    const available = async () =>
      (
        await db.query<{ available_power_kw: number | null }>(
          'select available_power_kw from curtailment_rows order by group_id',
        )
      ).map((one) => one.available_power_kw)
    await db.execute(
      `insert into inverter_latest
         (site_id, inverter_id, measured_at, received_at, quality, ac_power_kw, available_power_kw)
       select 'park', id, '${iso(40)}', now(), 'good', 40, 60 * id
       from generate_series(1, 2) as id`,
    )
    await db.execute("update curtailment_rows set released_at = null where group_id = 'a'")
    await sum(40)
    assert.deepEqual(await available(), [180, 180])
    await sum(50)
    assert.deepEqual(await available(), [null, 180])
    // An inverter that is read every five minutes is not silent ten minutes later.
    await db.execute(`update sites set inventory = '{"poll": {"inverter_s": 300}}'`)
    await sum(50)
    assert.deepEqual(await available(), [180, 180])
  })
})

const iso = (minutes: number) => new Date(noon + minutes * minute_ms).toISOString()

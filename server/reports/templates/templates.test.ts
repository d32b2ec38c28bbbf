import assert from 'node:assert/strict'
import test from 'node:test'
import { addBatteries, addUnitDay } from '../../batteries/fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../../batteries/fixtures/schedule-site.ts'
import { servedSite } from '../../fixtures/served-site.ts'
import type { Scope } from '../../http/endpoint.ts'
import { templates } from '../catalog.ts'
import type { Cell } from '../document.ts'
import { availability } from './availability.ts'
import { battery } from './battery.ts'
import { curtailment } from './curtailment.ts'
import { earnings } from './earnings.ts'
import { addSunnyDays, built, metricOf, orderOf, tableOf } from './fixtures/sunny-days.ts'
import { losses } from './losses.ts'
import { operations } from './operations.ts'
import { performanceMonthly } from './performance-monthly.ts'
import { productionDaily } from './production-daily.ts'
import { stringHealth } from './string-health.ts'

const near = (actual: Cell | undefined, expected: number) => {
  assert.equal(typeof actual, 'number', String(actual))
  assert.ok(Math.abs((actual as number) - expected) < 1e-6 * Math.max(1, Math.abs(expected)))
}

test('the ids of templates are unique', () => {
  assert.equal(new Set(templates.map(({ template_id }) => template_id)).size, templates.length)
})

test('reports and the API have the same values for a period', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  const order = orderOf('2026-06-01T00:00:00Z', '2026-07-01T00:00:00Z')
  clock.set(order.now)
  await addSunnyDays(db, { first: '2026-06-01', last: '2026-06-30' })
  await assignMarket(db)
  for (let day = 1; day <= 30; day += 1) {
    await addPrices(db, { date: `2026-06-${String(day).padStart(2, '0')}` })
  }
  const window = 'start=2026-06-01T00:00:00Z&end=2026-07-01T00:00:00Z'

  await t.test('performance and availability by plant and inverter', async () => {
    const { body } = await get(`/efficiency/loggers?${window}`)
    const document = await built(db, performanceMonthly, order)
    const rows = tableOf(document, 'By plant').rows
    const available = tableOf(await built(db, availability, order), 'By plant').rows
    assert.equal(rows.length, 2)
    for (const item of body.data) {
      const row = rows.find(({ plant }) => plant === item.logger_name)!
      assert.deepEqual(
        [row['energy'], row['final'], row['reference'], row['ratio'], row['warm'], row['factor']],
        [
          item.energy_kwh,
          item.specific_yield_kwh_kwp,
          item.reference_yield_kwh_kwp,
          item.performance_ratio_pct,
          item.performance_ratio_temp_corrected_pct,
          item.capacity_factor_pct,
        ],
      )
      assert.equal(row['complete'], item.completeness_pct)
      assert.ok(item.performance_ratio_pct > 60)
      const times = available.find(({ plant }) => plant === item.logger_name)!
      assert.equal(times['time'], item.availability_time_pct)
      assert.equal(times['energy'], item.availability_energy_pct)
    }
    assert.ok(
      body.data.some((item: { availability_time_pct: number }) => item.availability_time_pct < 99),
    )
    const down = tableOf(
      await built(db, availability, order),
      'Inverters with the lowest availability',
    )
    assert.equal(down.rows[0]!['inverter'], 'I-2')
    near(down.rows[0]!['down'], 10 * 6)
  })

  await t.test('losses of each inverter', async () => {
    const { body } = await get(`/efficiency/loss-analysis?${window}`)
    const document = await built(db, losses, order)
    const table = tableOf(document, 'Inverters with the highest losses')
    assert.equal(table.rows[0]!['inverter'], 'I-2')
    for (const item of body.data) {
      const row = table.rows.find(({ inverter }) => inverter === item.inverter_name)!
      for (const [key, name] of [
        ['conversion', 'conversion_loss_kwh'],
        ['clipping', 'clipping_loss_kwh'],
        ['curtailment', 'curtailment_loss_kwh'],
        ['downtime', 'downtime_loss_kwh'],
        ['derating', 'derating_loss_kwh'],
        ['night', 'night_consumption_kwh'],
      ] as const) {
        assert.ok(item[name] !== null && row[key] === item[name], `${name} ${row[key]}`)
      }
    }
    // The potential minus all losses is the delivered energy.
    const steps = ['Clipping', 'Curtailment', 'Downtime', 'Derating', 'Other'].map(
      (label) => metricOf(document, 'From irradiance to grid', label) as number,
    )
    near(
      metricOf(document, 'From irradiance to grid', 'Delivered'),
      (metricOf(document, 'From irradiance to grid', 'Potential') as number) -
        steps.reduce((sum, step) => sum + step, 0),
    )
  })

  await t.test('energy of a day', async () => {
    const { body } = await get('/plant/summary?date=2026-06-21')
    const day = orderOf('2026-06-21T00:00:00Z', '2026-06-22T00:00:00Z')
    const document = await built(db, productionDaily, day)
    const { totals, rows } = tableOf(document, 'By plant')
    assert.ok(body.meta.totals.energy_kwh > 0)
    assert.equal(totals!['energy'], body.meta.totals.energy_kwh)
    assert.equal(document.data_completeness_pct, body.meta.totals.completeness_pct)
    for (const item of body.data) {
      const row = rows.find(({ plant }) => plant === item.logger_name)!
      assert.deepEqual(
        [row['energy'], row['expected'], row['yield'], row['sun'], row['peak']],
        [
          item.energy_kwh,
          item.expected_energy_kwh,
          item.specific_yield_kwh_kwp,
          item.poa_insolation_kwh_m2,
          item.peak_power_kw,
        ],
      )
    }
    const hours = tableOf(document, 'By hour').rows
    assert.equal(hours.length, 24)
    const of_hours = hours.reduce((sum, { energy }) => sum + ((energy as number | null) ?? 0), 0)
    // Each of them is rounded to a watt hour.
    assert.ok(Math.abs(of_hours - (totals!['energy'] as number)) < 24 * 0.0005)
  })

  await t.test('earnings of the month, by day and plant', async () => {
    const { body } = await get('/earnings/summary?start=2026-06-01&end=2026-06-30')
    const document = await built(db, earnings, order)
    assert.ok(body.net_amount > 0)
    const { totals, rows } = tableOf(document, 'By day')
    assert.deepEqual(
      [totals!['gross'], totals!['fees'], totals!['net'], totals!['energy']],
      [body.gross_amount, body.fees_amount, body.net_amount, body.energy_sold_kwh],
    )
    assert.deepEqual(
      rows.map(({ day, net }) => [day, net]),
      body.by_day.map(({ date, net_amount }: { date: string; net_amount: number }) => [
        date,
        net_amount,
      ]),
    )
    assert.deepEqual(
      tableOf(document, 'By plant').rows.map(({ plant, net }) => [plant, net]),
      body.by_logger.map((item: { logger_name: string; net_amount: number }) => [
        item.logger_name,
        item.net_amount,
      ]),
    )
    assert.equal(metricOf(document, 'Earnings', 'Capture rate'), body.capture_rate_pct)
    // Of 30 days 12:00Z and 13:00Z have a price below zero.
    assert.equal(metricOf(document, 'Earnings', 'Negative prices'), 60)
    const by_hour = tableOf(document, 'By hour of the day').rows
    near(
      by_hour.reduce((sum, { gross }) => sum + (gross as number), 0),
      body.gross_amount,
    )
    assert.equal(document.currency, 'EUR')
  })

  await t.test('a report of some plants has only these, and a note', async () => {
    const document = await built(db, performanceMonthly, { ...order, logger_ids: [2] })
    assert.deepEqual(
      tableOf(document, 'By plant').rows.map(({ plant }) => plant),
      ['East'],
    )
    assert.ok(document.notes.includes('Only these plants: East.'))
  })
})

test('days are local days, also with 23 or 25 hours', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-03-28', last: '2026-03-30' })
  const timezone = 'Europe/Berlin'
  const spring = await built(
    site.db,
    productionDaily,
    orderOf('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', { timezone }),
  )
  const hours = tableOf(spring, 'By hour').rows.map(({ at }) => at)
  assert.equal(hours.length, 23)
  assert.deepEqual(hours.slice(0, 4), ['00:00', '01:00', '03:00', '04:00'])
  const autumn = orderOf('2025-10-25T22:00:00Z', '2025-10-26T23:00:00Z', { timezone })
  const twice = tableOf(await built(site.db, productionDaily, autumn), 'By hour').rows
  assert.equal(twice.filter(({ at }) => at === '02:00').length, 2)
  const week = await built(
    site.db,
    productionDaily,
    orderOf('2026-03-27T23:00:00Z', '2026-03-30T22:00:00Z', { timezone }),
  )
  const days = tableOf(week, 'By day').rows
  assert.deepEqual(
    days.map(({ at }) => at),
    ['2026-03-28', '2026-03-29', '2026-03-30'],
  )
  const of_days = days.reduce((sum, { energy }) => sum + (energy as number), 0)
  assert.ok(Math.abs(of_days - (metricOf(week, 'Production', 'Energy') as number)) < 3 * 0.0005)
})

test('a period without data has notes, and unknown values are not 0', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const order = orderOf('2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z')
  for (const template of templates) {
    const document = await built(site.db, template, order)
    assert.ok(document.notes.length > 0, template.template_id)
    assert.ok(!document.data_completeness_pct, template.template_id)
    const json = JSON.stringify(document)
    assert.ok(!json.includes('NaN') && !json.includes('undefined'), template.template_id)
  }
  for (const [template, title, label] of [
    [productionDaily, 'Production', 'Energy'],
    [performanceMonthly, 'Site', 'Performance ratio'],
    [availability, 'Site', 'Time-based'],
    [earnings, 'Earnings', 'Net'],
    [stringHealth, 'Strings', 'Estimated loss'],
  ] as const) {
    assert.equal(metricOf(await built(site.db, template, order), title, label), null)
  }
})

test('notes distinguish too little data for sums from no data', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-06-01', last: '2026-06-07' })
  const quarter = orderOf('2026-06-01T00:00:00Z', '2026-06-29T00:00:00Z')
  for (const template of [performanceMonthly, availability, losses]) {
    const { notes, data_completeness_pct } = await built(site.db, template, quarter)
    assert.ok(data_completeness_pct! > 15 && data_completeness_pct! < 30)
    assert.match(notes[0]!, /^Incomplete: 2\d\.\d % of the readings .* 7 of 28 days\./)
    assert.ok(notes.some((note) => /need 50 % of the daylight: South \(2\d\.\d %\)/.test(note)))
    assert.ok(!notes.some((note) => note.includes('nothing was measured')), template.template_id)
  }
  for (const template of [productionDaily, curtailment, earnings]) {
    const { notes } = await built(site.db, template, quarter)
    assert.match(notes[0]!, /^Incomplete: .* from 7 of 28 days\./, template.template_id)
  }
  const half = orderOf('2026-06-07T00:00:00Z', '2026-06-08T00:00:00Z')
  await site.db.execute(
    `delete from logger_hours where site_id = 'demo' and hour_at >= '2026-06-07T12:00Z'`,
  )
  const { notes } = await built(site.db, productionDaily, half)
  assert.match(notes[0]!, /^Incomplete: .* from 8 of 24 hours\./)
})

test('inverters are ranked by their total loss, without those that lost nothing', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-06-01', last: '2026-06-07' })
  const order = orderOf('2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z')
  await site.db.execute(
    `update inverter_hours set downtime_loss_kwh = 0, curtailment_loss_kwh = 0,
       derating_loss_kwh = inverter_id * 1e-9,
       reference_ac_kwh = reference_expected_kwh - case when inverter_id = 2 then 1 else 0 end`,
  )
  const document = await built(site.db, losses, order)
  const { rows, note } = tableOf(document, 'Inverters with the highest losses')
  assert.deepEqual(
    rows.map(({ inverter, other, lost }) => [inverter, other, lost]),
    [['I-2', 7 * 16, 7 * 16]],
  )
  assert.match(note!, /^1 of 1 with losses/)
  assert.equal(tableOf(document, 'By plant').totals!['other'], 7 * 16)
  await site.db.execute('update inverter_hours set reference_ac_kwh = reference_expected_kwh')
  const even = tableOf(await built(site.db, losses, order), 'Inverters with the highest losses')
  assert.deepEqual(even.rows, [])
  assert.match(even.note!, /nothing to rank/)
})

test('unmeasured energy is unknown, and the capture rate covers hours with known energy', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  site.clock.set(new Date('2026-07-10T12:00:00Z'))
  await addSunnyDays(site.db, { first: '2026-06-11', last: '2026-06-11' })
  await addSunnyDays(site.db, { first: '2026-06-13', last: '2026-06-13' })
  await assignMarket(site.db)
  const days = ['2026-06-10', '2026-06-11', '2026-06-12', '2026-06-13']
  for (const date of days) await addPrices(site.db, { date })
  const read = (start: string, end: string) => built(site.db, earnings, orderOf(start, end))
  const all = await read('2026-06-10T00:00:00Z', '2026-06-14T00:00:00Z')
  const { rows } = tableOf(all, 'By day')
  assert.deepEqual(
    rows.map(({ day, energy }) => [day, energy === null]),
    [
      ['2026-06-11', false],
      ['2026-06-12', true],
      ['2026-06-13', false],
    ],
  )
  const rate = (document: typeof all) => metricOf(document, 'Earnings', 'Capture rate') as number
  const before = rate(all)
  assert.ok(before > 0)
  await site.db.execute(
    `update market_prices set price = price + 100
     where start_at >= '2026-06-12T06:00Z' and start_at < '2026-06-12T18:00Z'`,
  )
  const dear = await read('2026-06-10T00:00:00Z', '2026-06-14T00:00:00Z')
  assert.equal(rate(dear), before)
})

test('plants not in service are excluded, and a running period has a note', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await site.db.execute("update loggers set commissioned_date = '2026-07-05' where logger_id = 1")
  await site.db.execute("update loggers set retired_at = '2026-05-02' where logger_id = 2")
  const order = orderOf('2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z')
  const { notes } = await built(site.db, productionDaily, order)
  assert.ok(notes.some((note) => note.includes('South') && note.includes('5 Jul 2026')))
  assert.ok(notes.some((note) => note.includes('East') && note.includes('2 May 2026')))
  const running = orderOf('2026-07-01T00:00:00Z', '2026-08-01T00:00:00Z')
  const document = await built(site.db, productionDaily, running)
  assert.ok(document.notes.some((note) => note.includes('not over')))
  assert.equal(tableOf(document, 'By day').rows.length, 10)
})

test('a battery report has energy, cycles, state of charge and revenue of a day', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addBatteries(site.db)
  await assignMarket(site.db)
  await addPrices(site.db, { date: '2026-06-21' })
  await addUnitDay(site.db, '2026-06-21')
  await addUnitDay(site.db, '2026-06-22', { to_hour: 1, day_nth: 1 })
  const order = orderOf('2026-06-21T00:00:00Z', '2026-06-22T00:00:00Z')
  const document = await built(site.db, battery, order)
  const [south] = tableOf(document, 'Batteries').rows
  near(south!['charged'], 60)
  near(south!['discharged'], 48)
  near(south!['cycles'], 48 / 360)
  assert.deepEqual([south!['soc_min'], south!['soc_max']], [50, 50])
  // Charged at -2 and discharged at 126 a MWh.
  near(south!['amount'], 0.06 * 2 + 0.048 * 126)
  assert.equal(document.currency, 'EUR')
  assert.ok(document.notes.includes('No data of Battery North.'))
})

test('a curtailment report has orders, losses and money only for their scopes', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-06-03', last: '2026-06-03' })
  await site.db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', '2026-06-03');
    insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
    values ('demo', 'g', 1, '2026-06-03T09:00Z', '2026-06-03T12:00Z', 90)`)
  const order = orderOf('2026-06-03T00:00:00Z', '2026-06-04T00:00:00Z')
  const seen = async (...may_read: Scope[]) => {
    const { sections } = await built(site.db, curtailment, {
      ...order,
      may_read: new Set(may_read),
    })
    return sections.flatMap((section) => {
      if (section.kind === 'metrics') return section.metrics.map(({ label }) => label)
      return section.kind === 'table' ? section.columns.map(({ label }) => label) : []
    })
  }
  const money = ['Lost revenue', 'Avoided cost', 'Currency']
  const all = await seen('curtailment:read', 'diagnostics:read', 'earnings:read')
  assert.ok(money.every((label) => all.includes(label)))
  assert.deepEqual(
    await seen('curtailment:read', 'diagnostics:read'),
    all.filter((label) => !money.includes(label)),
  )
  assert.ok(!(await seen('curtailment:read')).includes('Loss to all limits'))
  assert.deepEqual(await seen('diagnostics:read', 'earnings:read'), ['Loss to all limits'])
})

test('an operations report has alerts, work orders and defects of a period', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await site.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, ended_at, resolved_at,
      resolution, acknowledged_at, lost_energy_kwh, created_at, updated_at)
    values
      ('demo', 'a', 'inverter_fault', 'Inverter fault', 'x', 'equipment', 'critical', 'resolved',
       'inverter', '1', '2026-06-03T08:00Z', '2026-06-03T08:01Z', '2026-06-03T12:00Z',
       '2026-06-03T12:00Z', '2026-06-03T12:00Z', 'auto', '2026-06-03T09:00Z', 42, now(), now()),
      ('demo', 'b', 'data_gap', 'Data gap', 'x', 'data_quality', 'warning', 'active', 'logger',
       '1', '2026-05-20T08:00Z', '2026-05-20T08:01Z', '2026-06-20T12:00Z', null, null, null, null,
       null, now(), now()),
      ('demo', 'c', 'data_gap', 'Data gap', 'x', 'data_quality', 'warning', 'resolved', 'logger',
       '2', '2026-05-01T08:00Z', '2026-05-01T08:01Z', '2026-05-02T12:00Z', '2026-05-02T12:00Z',
       '2026-05-02T12:00Z', 'auto', null, null, now(), now());
    insert into work_orders (site_id, number, title, description, type, priority, status,
      created_by, created_at, updated_at, acknowledged_at, completed_at, response_due_at,
      resolution_due_at, labour_h)
    values
      ('demo', 'WO-2026-00001', 'Swap fan', 'x', 'corrective', 'high', 'completed', 'k',
       '2026-06-03T10:00Z', now(), '2026-06-03T12:00Z', '2026-06-04T10:00Z', '2026-06-04T10:00Z',
       '2026-06-06T10:00Z', 3),
      ('demo', 'WO-2026-00002', 'Clean', 'x', 'cleaning', 'low', 'open', 'k',
       '2026-06-05T10:00Z', now(), null, null, '2026-06-06T10:00Z', '2026-06-09T10:00Z', null);
    insert into defects (site_id, number, title, severity, status, detected_at, reported_by,
      created_at, updated_at, estimated_loss_kwh_year)
    values ('demo', 'DEF-2026-00001', 'Hot spot', 'medium', 'open', '2026-06-04T10:00Z', 'k',
      now(), now(), 120)`)
  const order = orderOf('2026-06-01T00:00:00Z', '2026-06-08T00:00:00Z')
  const document = await built(site.db, operations, order)
  const metric = (title: string, label: string) => metricOf(document, title, label)
  assert.deepEqual(
    ['In force', 'Raised', 'Critical', 'Open', 'To acknowledge', 'To resolve', 'Lost energy'].map(
      (label) => metric('Alerts', label),
    ),
    [2, 1, 1, 1, 1, 4, 42],
  )
  assert.deepEqual(
    ['Created', 'Completed', 'Still open', 'Response', 'Resolution', 'Service levels met'].map(
      (label) => metric('Work orders', label),
    ),
    [2, 1, 1, 2, 24, 50],
  )
  assert.deepEqual([metric('Defects', 'Open'), metric('Defects', 'Loss per year')], [1, 120])
  assert.equal(tableOf(document, 'Alerts, newest first').rows.length, 2)
  const titles = async (scope: Scope) => {
    const part = await built(site.db, operations, { ...order, may_read: new Set([scope]) })
    assert.deepEqual(part.notes, document.notes)
    return part.sections.map(({ title }) => title)
  }
  const all = document.sections.map(({ title }) => title)
  assert.deepEqual(await titles('alerts:read'), [...all.slice(0, 4), all.at(-1)])
  assert.deepEqual(await titles('om:read'), all.slice(4))
  await site.db.execute(
    "update work_orders set completed_at = null, status = 'open', response_due_at = '2026-08-01', resolution_due_at = '2026-08-02'",
  )
  const early = await built(site.db, operations, order)
  assert.equal(metricOf(early, 'Work orders', 'Service levels met'), null)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { addPrices, assignMarket } from '../../batteries/fixtures/schedule-site.ts'
import { servedSite } from '../../fixtures/served-site.ts'
import type { Database } from '../../storage/database.ts'
import type { ReportDocument } from '../document.ts'
import { earnings } from './earnings.ts'
import { addSunnyDays, built, metricOf, orderOf, tableOf } from './fixtures/sunny-days.ts'

/** Two plants that sell at the market price, and pay 1 EUR each for each hour of June. */
async function addSales(db: Database, dates: readonly string[]) {
  await assignMarket(db)
  await db.execute(
    `insert into fees (site_id, code, name, basis, value, currency, valid_from)
     values ('demo', 'market_fee', 'Access', 'per_month', 720, 'EUR', '2026-01-01')`,
  )
  for (const date of dates) await addPrices(db, { date })
}

const sumOf = (values: readonly unknown[]) =>
  values.reduce<number>((sum, value) => sum + ((value as number | null) ?? 0), 0)

const read = (db: Database, from: string, to: string) =>
  built(db, earnings, orderOf(`${from}T00:00:00Z`, `${to}T00:00:00Z`))

const noteOf = ({ notes }: ReportDocument, begin: RegExp) => notes.find((note) => begin.test(note))

test('notes explain unknown amounts and their effect on the sums', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db } = site
  for (const date of ['2026-06-11', '2026-06-13']) {
    await addSunnyDays(db, { first: date, last: date })
  }
  const priced = ['2026-06-09', '2026-06-10', '2026-06-11', '2026-06-12', '2026-06-13']
  await addSales(db, priced)

  await t.test('without measured energy the sums cover the known energy', async () => {
    const document = await read(db, '2026-06-11', '2026-06-14')
    const note = noteOf(document, /completely measured/)
    assert.match(
      note!,
      /^The energy of \d+ plant hours was not or not completely measured: see "Unknown"/,
    )
    assert.match(note!, /Gross and net cover the known energy; monthly fees cover all hours/)
    assert.equal(noteOf(document, /are empty/), undefined)
    assert.equal(typeof metricOf(document, 'Earnings', 'Net'), 'number')
    assert.equal(noteOf(document, /the first day/), undefined)
  })

  await t.test('days without energy have fees and no net, and the table has a note', async () => {
    const document = await read(db, '2026-06-09', '2026-06-14')
    const { rows, totals, note } = tableOf(document, 'By day')
    assert.deepEqual(
      rows.map(({ energy, fees, net }) => [energy === null, fees, net === null]),
      [true, true, false, true, false].map((is_unknown) => [is_unknown, 48, is_unknown]),
    )
    const apart = sumOf(rows.map(({ net }) => net)) - (totals!['net'] as number)
    assert.ok(Math.abs(apart - 144) < 1e-6)
    assert.match(note!, /^3 days without known energy have no net: their fees, 144\.00 EUR,/)
    assert.match(note!, /are in the total net\.$/)
    assert.equal(tableOf(document, 'By plant').note, undefined)
  })

  await t.test('a note has the amount of the fees before the first known energy', async () => {
    const document = await read(db, '2026-06-09', '2026-06-14')
    assert.equal(
      noteOf(document, /the first day/),
      'Fees include 96.00 EUR for 2 days before 11 Jun 2026, the first day with known energy: monthly ' +
        'fees are due from the start of a contract.',
    )
  })

  await t.test('without prices a day and the sums are unknown', async () => {
    const document = await read(db, '2026-06-01', '2026-06-14')
    const { rows, note } = tableOf(document, 'By day')
    assert.deepEqual(
      rows.map(({ day }) => day),
      priced,
    )
    assert.match(note!, /144\.00 EUR, are in the known part of the net\.$/)
    assert.equal(metricOf(document, 'Earnings', 'Net'), null)
    const known = metricOf(document, 'Earnings', 'Net, known part') as number
    assert.ok(Math.abs(sumOf(rows.map(({ net }) => net)) - 144 - known) < 1e-6)
    assert.match(
      noteOf(document, /are empty/)!,
      /^A price or an exchange rate is unknown for 384 plant hours: see "Unknown"\./,
    )
    assert.match(noteOf(document, /completely measured/)!, /^The energy of/)
    assert.match(noteOf(document, /the first day/)!, /96\.00 EUR for 2 days/)
  })

  await t.test(
    'a day with prices for some hours only is unknown, and so are its fees',
    async () => {
      // The prices begin at 02:00 of the 9th.
      const order = orderOf('2026-06-01T22:00:00Z', '2026-06-13T22:00:00Z', {
        timezone: 'Europe/Berlin',
      })
      const document = await built(db, earnings, order)
      const [first] = tableOf(document, 'By day').rows
      assert.deepEqual([first!['day'], first!['fees']], ['2026-06-09', null])
      assert.match(noteOf(document, /the first day/)!, /^Fees include 92\.00 EUR for 2 days/)
    },
  )

  await t.test('a plant without energy has fees and no net', async () => {
    await db.execute('delete from logger_hours where logger_id = 2')
    const document = await read(db, '2026-06-11', '2026-06-12')
    const { rows, note } = tableOf(document, 'By plant')
    assert.deepEqual([rows[1]!['energy'], rows[1]!['fees'], rows[1]!['net']], [null, 24, null])
    assert.match(note!, /^1 plant without known energy has no net: its fees, 24\.00 EUR,/)
  })
})

test('a period without measurements has only fees', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSales(site.db, ['2026-06-11'])
  const document = await read(site.db, '2026-06-10', '2026-06-12')
  assert.ok(document.notes.includes('No earnings are known in this period.'))
  assert.match(
    noteOf(document, /completely measured/)!,
    /known energy; monthly fees cover all hours/,
  )
  assert.ok(!JSON.stringify(document).includes('Net, known part'))
  assert.deepEqual(
    tableOf(document, 'By day').rows.map(({ day, energy, fees }) => [day, energy, fees]),
    [['2026-06-11', null, 48]],
  )
})

test('hours of the day are local hours', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  await addSunnyDays(site.db, { first: '2026-06-11', last: '2026-06-11' })
  await addSales(site.db, ['2026-06-10', '2026-06-11'])
  const timezone = 'Asia/Kathmandu'
  const order = orderOf('2026-06-10T18:15:00Z', '2026-06-11T18:15:00Z', { timezone })
  const { rows } = tableOf(await built(site.db, earnings, order), 'By hour of the day')
  const labels = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:45`)
  assert.deepEqual(
    rows.map(({ hour }) => hour),
    labels,
  )
})

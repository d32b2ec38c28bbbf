/** What is wrong with the plant, and since when: strings, devices, losses, gaps. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import type {
  Gap,
  InverterLosses,
  InverterReading,
  IvExpectedPoint,
  LoggerEfficiency,
  Overview,
  StringHealth,
} from '@heliograph/sdk'
import type { Locator, Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { ask, settle, visit } from './browser.ts'
import { leaveGaps } from './gap.ts'
import { history_ms_max, untilHistoryIsThere } from './history.ts'
import {
  assertFigures,
  assertShows,
  dayBefore,
  nextAnswer,
  rowsOf,
  siteClock,
  siteToday,
} from './shown.ts'
import { asAdministrator, skip, stage } from './stage.ts'

interface List<Row> {
  data: Row[]
}

const bad: readonly string[] = ['dead', 'critical', 'underperforming', 'watch']

const options = { skip, timeout: history_ms_max }

test('a weak string is found, with its day and its I-V curve', options, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await untilHistoryIsThere(window)
    const listed = nextAnswer<List<StringHealth>>(page, '/efficiency/health-matrix')
    await visit(page, `/sites/${site_id}`)
    const { data: strings } = (await listed).body
    const weak = strings.filter(({ status }) => bad.includes(status))
    await page.getByRole('link', { name: `${weak.length} strings are unhealthy` }).click()
    await settle(page)
    const string = await findWeakString(page, weak)
    await assertBesidePeers(page, string)
    const { inverter_id, string_index } = string
    const path = `/iv/strings/${inverter_id}/${string_index}/expected`
    const read = nextAnswer<List<IvExpectedPoint>>(page, path)
    await page.getByRole('button', { name: 'Earlier' }).click()
    const { query, body } = await read
    assert.equal(siteClock(query.get('start')), `${dayBefore(siteToday())} 00:00:00`)
    await settle(page)
    await assertDay(page, body.data)
    await assertCurves(page, body.data)
  })
})

/** The one that loses most, of those that deliver something; opens it. */
async function findWeakString(page: Page, weak: readonly StringHealth[]): Promise<StringHealth> {
  const lossOf = (one: StringHealth) => one.estimated_loss_kwh ?? 0
  const delivering = weak.filter(({ status }) => status !== 'dead')
  const [string] = delivering.toSorted((one, other) => lossOf(other) - lossOf(one))
  assert.ok(string, 'the demo has a weak string')
  await page.getByLabel('Status', { exact: true }).selectOption(string.status)
  const name = `${string.inverter_name}, string ${string.string_index}`
  const link = page.getByRole('link', { name, exact: true })
  await link.waitFor()
  const rows = await rowsOf(page, 'Strings, most severe first')
  const same = weak.filter(({ status }) => status === string.status)
  assert.deepEqual(
    rows.map((row) => row['String']).toSorted(),
    same.map((one) => `${one.inverter_name}, string ${one.string_index}`).toSorted(),
  )
  const row = rows.find((one) => one['String'] === name)
  assertShows(row?.['Energy lost'] ?? '', string.estimated_loss_kwh, 'Lost')
  await link.click()
  await settle(page)
  return string
}

interface StringOfWeek {
  string_index: number
  deviation_pct: number | null
  energy_kwh: number | null
  zero_current_min: number | null
}

async function assertBesidePeers(page: Page, string: StringHealth): Promise<void> {
  const { inverter_id, inverter_name, string_index } = string
  const read = nextAnswer<List<StringOfWeek>>(page, `/strings/inverter/${inverter_id}/compare`)
  await page.reload()
  const { data } = (await read).body
  await settle(page)
  await page.getByRole('heading', { name: `String ${string_index} of ${inverter_name}` }).waitFor()
  const week = data.find((one) => one.string_index === string_index)
  assert.ok(week && week.energy_kwh !== null, 'its week is known')
  await assertFigures(page, {
    'Power vs peers': week.deviation_pct,
    'Energy, 7 days': week.energy_kwh,
    'Without current in daylight': week.zero_current_min,
  })
}

const is_near = (shown: string, value: number | null) =>
  value !== null && Math.abs(Number.parseFloat(shown) - value) <= 0.005001

/** Points at the middle of the day: the legend tells what was measured and expected then. */
async function assertDay(page: Page, points: readonly IvExpectedPoint[]): Promise<void> {
  const chart = page.getByRole('img', { name: 'Power of the string over the day' })
  await chart.hover()
  const legend = chart.getByRole('row')
  const shown = await Promise.all(
    ['Power', 'Expected'].map((name) =>
      legend.filter({ hasText: name }).getByRole('cell').innerText(),
    ),
  )
  const found = points.some(
    ({ measured_power_kw, expected_p_mp_kw }) =>
      is_near(shown[0]!, measured_power_kw) && is_near(shown[1]!, expected_p_mp_kw),
  )
  assert.ok(found, `a point of the day has ${shown.join(' and ')}`)
}

/** That of the brightest light first; an arrow key leads to the next. */
async function assertCurves(page: Page, points: readonly IvExpectedPoint[]): Promise<void> {
  const lit = points.filter(
    ({ expected_i_sc_a: i_sc, expected_i_mp_a: i_mp, expected_v_oc_v, expected_v_mp_v }) =>
      i_sc && i_mp && i_mp < i_sc && (expected_v_mp_v ?? 0) < (expected_v_oc_v ?? 0),
  )
  const lightOf = (point: IvExpectedPoint | undefined) => point?.effective_irradiance_w_m2 ?? 0
  const brightest = lit.reduce(
    (best, point, nth) => (lightOf(point) > lightOf(lit[best]) ? nth : best),
    0,
  )
  const curve = page.getByRole('img', { name: /^I-V curve/ })
  await assertCurve(curve, lit[brightest])
  const slider = page.getByRole('slider', { name: 'Time of day' })
  await slider.press('ArrowLeft')
  await page
    .getByRole('slider', { name: 'Time of day' })
    .and(page.locator(`[aria-valuenow="${brightest - 1}"]`))
    .waitFor()
  await assertCurve(curve, lit[brightest - 1])
}

async function assertCurve(curve: Locator, point: IvExpectedPoint | undefined): Promise<void> {
  assert.ok(point, 'there was light on the day')
  const name = (await curve.getAttribute('aria-label')) ?? ''
  const shown = [...name.matchAll(/([\d,]+(?:\.\d+)?)\s(?:A|V)\b/g)].map(([text]) => text)
  const values = [
    point.expected_i_sc_a,
    point.expected_v_oc_v,
    point.expected_v_mp_v,
    point.expected_i_mp_a,
    point.measured_voltage_v,
    point.measured_current_a,
  ]
  assert.equal(shown.length, values.length, name)
  for (const [nth, value] of values.entries()) assertShows(shown[nth]!, value, name)
}

test(
  'devices are explored over a day, in kW and by their panels, and the view is a link',
  options,
  async () => {
    await asAdministrator(async (window) => {
      const { page } = window
      await untilHistoryIsThere(window)
      const { inverters } = await ask<Overview>(window, `/v1/sites/${site_id}/overview`)
      const [one, other] = [inverters[5]!, inverters[9]!]
      await visit(page, `/sites/${site_id}/explorer?devices=none&show=ac_power_kw`)
      await page.getByRole('button', { name: 'Earlier' }).click()
      const choice = page.getByRole('combobox', { name: 'Devices' })
      await choice.click()
      await page.getByText('Choose devices and quantities').waitFor()
      const reads: Promise<{ body: List<InverterReading>; query: URLSearchParams }>[] = []
      for (const { inverter_id, name } of [one, other]) {
        reads.push(nextAnswer(page, `/inverters/${inverter_id}/history`))
        await page.getByRole('option', { name: name!, exact: true }).click()
      }
      const answers = await Promise.all(reads)
      const powers = answers.map(({ body }) =>
        body.data.flatMap(({ ac_power_kw }) => (ac_power_kw === null ? [] : [ac_power_kw])),
      )
      const start = siteClock(answers[0]!.query.get('start'))
      assert.equal(start, `${dayBefore(siteToday())} 00:00:00`)
      await choice.press('Escape')
      await assertCompared(page, [one.name!, other.name!], powers)
      await page.getByText('Per installed kWp').click()
      const by_panels = [one, other].map(({ dc_capacity_kwp }, nth) =>
        powers[nth]!.map((power_kw) => (1000 * power_kw) / dc_capacity_kwp!),
      )
      await page
        .getByText(/W\/kWp/)
        .first()
        .waitFor()
      await assertCompared(page, [one.name!, other.name!], by_panels)
      await page.reload()
      await settle(page)
      await assertCompared(page, [one.name!, other.name!], by_panels)
      await page.getByRole('button', { name: 'Zoom in' }).click()
      const zoomed = page.getByText(/, 06:00 to .*, 18:00, means of 1 min/)
      await zoomed.waitFor()
      await page.reload()
      await zoomed.waitFor()
      await settle(page)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download CSV' }).click()
      const csv = await readFile(await (await download).path(), 'utf8')
      const [head, ...rows] = csv.trimEnd().split('\r\n')
      assert.equal(
        head,
        `Time (UTC),Time (Europe/Berlin),${[one, other]
          .map(({ name }) => `${name}: Power (W/kWp)`)
          .join(',')}`,
      )
      assert.equal(rows.length, 720)
    })
  },
)

async function assertCompared(
  page: Page,
  names: readonly string[],
  values: readonly (readonly number[])[],
): Promise<void> {
  await page.getByRole('cell', { name: names.at(-1)!, exact: true }).waitFor()
  const rows = await rowsOf(page, 'Summary of the shown period')
  assert.deepEqual(
    rows.map((row) => row['Device']),
    names,
  )
  for (const [nth, row] of rows.entries()) {
    const known = values[nth]!
    assert.ok(known.length > 1000, 'the whole day was read')
    assertShows(row['Lowest']!, Math.min(...known), `Lowest of ${names[nth]}`)
    assertShows(row['Highest']!, Math.max(...known), `Highest of ${names[nth]}`)
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length
    assertShows(row['Mean']!, mean, `Mean of ${names[nth]}`)
  }
}

const kinds = {
  Delivered: 'ac_energy_kwh',
  Downtime: 'downtime_loss_kwh',
  Curtailment: 'curtailment_loss_kwh',
  Clipping: 'clipping_loss_kwh',
  Derating: 'derating_loss_kwh',
  Conversion: 'conversion_loss_kwh',
} as const

test('where energy was lost in a month is told loss by loss', options, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await untilHistoryIsThere(window)
    const yesterday = dayBefore(siteToday())
    const reads = [
      nextAnswer<List<InverterLosses>>(page, '/efficiency/loss-analysis'),
      nextAnswer<List<LoggerEfficiency>>(page, '/efficiency/loggers'),
    ] as const
    await visit(page, `/sites/${site_id}/energy?day=${yesterday}`)
    const [losses, plants] = await Promise.all(reads)
    assert.equal(siteClock(losses.query.get('start')), `${yesterday.slice(0, 7)}-01 00:00:00`)
    const rows = await rowsOf(page, 'Losses of each inverter')
    assert.equal(rows.length, losses.body.data.length)
    for (const [nth, inverter] of losses.body.data.entries()) {
      const row = rows[nth]!
      assert.equal(row['Inverter'], inverter.inverter_name)
      for (const [name, field] of Object.entries(kinds)) {
        assertShows(row[name]!, inverter[field], `${name} of ${inverter.inverter_name}`)
      }
    }
    await assertMonth(page, losses.body.data, plants.body.data)
  })
})

const total = <Row>(rows: readonly Row[], of: (row: Row) => number | null) =>
  rows.reduce((sum, row) => sum + (of(row) ?? 0), 0)

/** What was expected is what was delivered, and all losses. */
async function assertMonth(
  page: Page,
  inverters: readonly InverterLosses[],
  plants: readonly LoggerEfficiency[],
): Promise<void> {
  const expected_kwh = total(plants, (plant) => plant.expected_energy_kwh)
  const delivered_kwh = total(plants, (plant) => plant.energy_kwh)
  assert.ok(delivered_kwh > 0, 'the month has energy')
  await assertFigures(page, {
    Energy: delivered_kwh,
    'Lost to curtailment': total(plants, (plant) => plant.curtailed_energy_kwh),
  })
  const { Delivered: _, ...lost } = kinds
  const by_kind = Object.entries(lost).map(
    ([name, field]) => [name, total(inverters, (row) => row[field])] as const,
  )
  const told_kwh = total(by_kind, ([, kwh]) => kwh)
  const chart = page.getByRole('img', { name: /^From expected to delivered energy/ })
  const words = (await chart.getAttribute('aria-label')) ?? ''
  const parts = [
    ['Expected', expected_kwh],
    ['Strings, soiling, shading', expected_kwh - delivered_kwh - told_kwh],
    ...by_kind,
    ['Delivered', delivered_kwh],
  ] as const
  for (const [name, kwh] of parts) {
    assertShows(words.split(`${name} `)[1] ?? '', kwh, name)
  }
}

interface GapsAnswer extends List<Gap> {
  meta: { count: number }
}

test('what data are missing is told with the cause, for all plants and for one', {
  skip,
}, async () => {
  await leaveGaps(stage.demo)
  await asAdministrator(async ({ page }) => {
    const all = nextAnswer<GapsAnswer>(page, '/gaps')
    await visit(page, `/sites/${site_id}/gaps`)
    const { body, query } = await all
    const [start = 0, end = 0] = ['start', 'end'].map((name) => Date.parse(query.get(name) ?? ''))
    assert.equal((end - start) / 86_400_000, 7)
    await assertGaps(page, body.data)
    const own = nextAnswer<GapsAnswer>(page, '/gaps')
    await page.getByRole('combobox', { name: 'Plant' }).click()
    await page.getByRole('option').first().click()
    const of_plant = await own
    await settle(page)
    assert.equal(of_plant.query.get('logger_id'), '1')
    assert.ok(of_plant.body.data.length < body.data.length, 'the others have gaps, too')
    await assertGaps(page, of_plant.body.data)
  })
})

async function assertGaps(page: Page, gaps: readonly Gap[]): Promise<void> {
  const inState = (state: Gap['status']) => gaps.filter(({ status }) => status === state)
  const lost = inState('unrecoverable')
  await page
    .getByText('Recovered', { exact: true })
    .locator('xpath=..')
    .filter({ hasText: new RegExp(`\\D${inState('backfilled').length}$`) })
    .waitFor()
  await assertFigures(page, {
    Open: inState('open').length,
    'Being recovered': inState('backfilling').length,
    Recovered: inState('backfilled').length,
    Lost: lost.length,
  })
  const text = await page.getByRole('main').innerText()
  const lost_count = total(lost, (gap) => gap.missing_sample_count)
  assertShows(/([\d,]+) readings/.exec(text)?.[0] ?? '', lost_count, 'readings lost for good')
  for (const { cause } of gaps) {
    assert.ok(text.toLowerCase().includes(cause.replaceAll('_', ' ')), `${cause} is told`)
  }
}

/** What the site earned by the days of its market, and the prices there. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ComparedMarket, EarningsSummary, MarketPrice } from '@heliograph/sdk'
import type { Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { ask, settle, visit, type Window } from './browser.ts'
import { history_ms_max, untilHistoryIsThere } from './history.ts'
import {
  type Answer,
  assertFigures,
  assertShows,
  below,
  dayBefore,
  nextAnswer,
  rowsOf,
  siteClock,
  siteToday,
} from './shown.ts'
import { asAdministrator, skip } from './stage.ts'

test('what the site earned on a day and in a month agrees with the API, as do prices', {
  skip,
  timeout: history_ms_max,
}, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await untilHistoryIsThere(window)
    // The overview reads the month as well, and the answer would be kept.
    await visit(page, `/sites/${site_id}/plants`)
    const menu = page.getByRole('navigation')
    const today = siteToday()
    const first = `${today.slice(0, 7)}-01`
    const month = await earningsAfter(page, first, () =>
      menu.getByRole('link', { name: 'Earnings' }).click(),
    )
    assert.deepEqual(asked(month), [first, today, 'Europe/Berlin'])
    await assertEarned(page, month.body)
    await earningsAfter(page, today, () => page.getByText('Day', { exact: true }).click())
    const previous = page.getByRole('button', { name: 'Previous day' })
    const yesterday = dayBefore(today)
    const day = await earningsAfter(page, yesterday, () => previous.click())
    assert.deepEqual(asked(day), [yesterday, yesterday, 'Europe/Berlin'])
    assert.ok(day.body.energy_sold_kwh !== null, 'something was sold yesterday')
    await assertEarned(page, day.body)
    await menu.getByRole('link', { name: 'Markets' }).click()
    await settle(page)
    await assertPricesOfToday(window)
    await assertComparison(window)
  })
})

async function earningsAfter(page: Page, start: string, choose: () => Promise<void>) {
  const answer = nextAnswer<EarningsSummary>(page, '/earnings/summary', { start })
  await choose()
  const told = await answer
  await settle(page)
  return told
}

const asked = ({ query }: Answer<EarningsSummary>) =>
  ['start', 'end', 'timezone'].map((name) => query.get(name))

async function assertEarned(page: Page, summary: EarningsSummary): Promise<void> {
  const { known, by_logger, currency } = summary
  const is_all_known = summary.net_amount !== null
  await assertFigures(page, {
    [is_all_known ? 'Net' : 'Net, incomplete']: (known && !is_all_known ? known : summary)
      .net_amount,
    'Energy sold': summary.energy_sold_kwh,
    [`Average price, ${currency}/MWh`]: summary.average_price_per_mwh,
    'Capture rate': summary.capture_rate_pct,
    'Paid at negative prices': summary.negative_price_cost_amount,
    'Lost to curtailment': summary.curtailment_loss_amount,
    Batteries: summary.bess_arbitrage_amount,
  })
  const rows = await rowsOf(page, 'Earnings of each plant')
  assert.equal(rows.length, by_logger?.length)
  for (const [nth, plant] of (by_logger ?? []).entries()) {
    const row = rows[nth]!
    assert.ok(row['Plant']?.startsWith(plant.logger_name), plant.logger_name)
    assertShows(row['Sold']!, plant.energy_sold_kwh, `Sold of ${plant.logger_name}`)
    assertShows(row['Gross']!, plant.gross_amount, `Gross of ${plant.logger_name}`)
    assertShows(row['Fees']!, plant.fees_amount, `Fees of ${plant.logger_name}`)
    assertShows(row['Net']!, plant.net_amount, `Net of ${plant.logger_name}`)
  }
}

/** The day of the site lies in two days of UTC, by which the API gives prices. */
async function assertPricesOfToday(window: Window): Promise<void> {
  const today = siteToday()
  const days = await Promise.all(
    [dayBefore(today), today].map((date) =>
      ask<{ data: MarketPrice[] }>(
        window,
        `/v1/sites/${site_id}/markets/DEMO/prices?target_date=${date}`,
      ),
    ),
  )
  const prices = days
    .flatMap(({ data }) => data)
    .filter(({ start_at }) => siteClock(start_at).startsWith(today))
    .map(({ price_per_mwh }) => price_per_mwh)
    .filter((price) => price !== null)
  assert.ok(prices.length >= 92, 'a day has prices by the quarter of an hour')
  const mean = prices.reduce((sum, price) => sum + price, 0) / prices.length
  await assertFigures(window.page, { 'Mean today, EUR/MWh': mean })
  const range = await below(window.page, 'Mean today, EUR/MWh')
    .locator('xpath=following-sibling::*[1]')
    .innerText()
  const [lowest = '', highest = ''] = range.split(' to ')
  assertShows(lowest, Math.min(...prices), 'the lowest price of today')
  assertShows(highest, Math.max(...prices), 'the highest price of today')
}

async function assertComparison(window: Window): Promise<void> {
  const { data } = await ask<{ data: ComparedMarket[] }>(
    window,
    `/v1/sites/${site_id}/markets/compare?target_date=${siteToday()}`,
  )
  const rows = await rowsOf(window.page, 'Market comparison')
  assert.equal(rows.length, data.length)
  for (const [nth, market] of data.entries()) {
    const row = rows[nth]!
    assert.ok(row['Market']?.startsWith(market.name), market.name)
    assertShows(row['Base']!, market.base_price_per_mwh, 'Base')
    assertShows(row['Peak']!, market.peak_price_per_mwh, 'Peak')
    assertShows(row['Lowest']!, market.min_price_per_mwh, 'Lowest')
    assertShows(row['Highest']!, market.max_price_per_mwh, 'Highest')
    assertShows(row['Solar-weighted']!, market.solar_weighted_price_per_mwh, 'Solar-weighted')
  }
}

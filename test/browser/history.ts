/** The history of the demo, which it sums up by the hour for a while after its start. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import type { LoggerEfficiency, PredictedPrice } from '@heliograph/sdk'
import { site_id } from './addresses.ts'
import { ask, visit, type Window } from './browser.ts'
import { nextAnswer } from './shown.ts'

/** For tests that wait for the history. */
export const history_ms_max = 300_000
/** The demo of the tests has 18 days, and the oldest come last. */
const history_ms = 17 * day_ms
const complete_pct = 90

async function isSummedUp(window: Window): Promise<boolean> {
  const end_ms = Date.now()
  const [start, end] = [end_ms - history_ms, end_ms].map((ms) => new Date(ms).toISOString())
  const { data } = await ask<{ data: LoggerEfficiency[] }>(
    window,
    `/v1/sites/${site_id}/efficiency/loggers?start=${start}&end=${end}`,
  )
  return data.length > 0 && data.every((plant) => (plant.completeness_pct ?? 0) > complete_pct)
}

/** Until the last 17 days are there. */
export async function untilHistoryIsThere(window: Window): Promise<void> {
  if (await isSummedUp(window)) return
  await visit(window.page, `/sites/${site_id}`)
  // The overview asks every five seconds.
  do await nextAnswer(window.page, '/overview')
  while (!(await isSummedUp(window)))
}

async function hasPricesOfTomorrow(window: Window): Promise<boolean> {
  const [start, end] = [1, 2].map((days) => `${utcDate(Date.now() + days * day_ms)}T00:00:00Z`)
  const { data } = await ask<{ data: PredictedPrice[] }>(
    window,
    `/v1/sites/${site_id}/predictions/prices?start=${start}&end=${end}`,
  )
  return data.some(({ p50_price_per_mwh }) => p50_price_per_mwh !== null)
}

/** The demo forecasts the prices of tomorrow some minutes after its start. */
export async function untilTomorrowHasPrices(window: Window): Promise<void> {
  if (await hasPricesOfTomorrow(window)) return
  await visit(window.page, `/sites/${site_id}`)
  do await nextAnswer(window.page, '/overview')
  while (!(await hasPricesOfTomorrow(window)))
}

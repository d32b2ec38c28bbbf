import type { Static } from 'typebox'
import { exampleOf } from '../http/example.ts'
import { type MarketComparison, MarketDay, MarketRecord } from './schemas.ts'

export const marketExample = exampleOf(MarketRecord, {
  price_min_per_mwh: -500,
  price_max_per_mwh: 4000,
  has_data_from_date: '2025-09-30',
  last_price_at: '2026-06-22T22:00:00.000Z',
  fetched_at: '2026-06-21T11:00:04.000Z',
  failed_at: '2026-06-18T11:10:31.000Z',
})

const day = {
  target_date: '2026-06-21',
  currency: 'EUR',
  resolution_minutes: 15,
  period_count: 96,
  due_period_count: 96,
  expected_period_count: 96,
  base_until_at: '2026-06-22T00:00:00.000Z',
  status: 'published',
} as const

const statistics = {
  base_price_per_mwh: 61.284063,
  peak_price_per_mwh: 24.510417,
  min_price_per_mwh: -12.4,
  max_price_per_mwh: 148.02,
  negative_period_count: 14,
  solar_weighted_price_per_mwh: 11.902318,
}

const period = {
  start_at: '2026-06-21T10:00:00.000Z',
  end_at: '2026-06-21T10:15:00.000Z',
  price_per_mwh: -4.1,
}

export const marketDayExample = exampleOf(MarketDay, {
  data: [
    {
      ...period,
      is_negative: true,
      rank_of_day: 87,
      delivery_date_local: '2026-06-21',
      source: 'entsoe',
      source_document_id: '64e2af3a87c2404cbea80edc067a1b6f',
      published_at: null,
      fetched_at: '2026-06-20T11:00:04.000Z',
      revision: 1,
    },
  ],
  meta: { count: 96, market_code: 'BG', ...day, ...statistics },
})

const home = {
  market_code: 'BG',
  name: 'Bulgaria',
  ...day,
  fx_rate_to_base: 1,
  ...statistics,
  spread_to_home_per_mwh: 0,
  spread_reason: null,
  is_home_market: true,
  rank: 2,
  periods: [period],
}

export const comparisonExample: Static<typeof MarketComparison> = {
  data: [
    {
      ...home,
      market_code: 'GR',
      name: 'Greece',
      base_price_per_mwh: 66.1,
      spread_to_home_per_mwh: 4.815937,
      is_home_market: false,
      rank: 1,
      periods: [{ ...period, price_per_mwh: -0.5 }],
    },
    home,
  ],
  meta: { count: 2, target_date: '2026-06-21', home_market_code: 'BG', base_currency: 'EUR' },
}

import type { Forecast, ModelStatus, PredictedPrice, PredictedProduction } from '@heliograph/sdk'
import { Group, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useMay, useRead, useSite } from '../../queries.ts'
import { type Words, whole, wordBadge } from '../../ui/badges.tsx'
import { bandOption } from '../../ui/band-option.ts'
import { column, DataTable, numeric, tableOf, wrapped } from '../../ui/data-table.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Choice } from '../../ui/filters.tsx'
import {
  formatEnergy,
  formatNumber,
  formatPower,
  formatQuantity,
  formatTime,
  inWords,
  none,
} from '../../ui/format.ts'
import { Chart } from '../../ui/lazy-chart.tsx'
import { Muted, noted, Page, Section, Time, useNow } from '../../ui/page.tsx'
import { addDays, dayAt, daysFrom } from '../../ui/site-clock.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import {
  fallbackWords,
  useForecasts,
  usePredictedPrices,
  useProduction,
} from './predictions/reads.ts'
import { labelOf, TwoDays } from './predictions/two-days.tsx'

const week_days = 7

export default function Predictions() {
  const { timezone } = useSite()
  const may = useMay()
  const today = dayAt(useNow(60_000), timezone)
  const span = useMemo(() => daysFrom(today, 2, timezone), [today, timezone])
  const week = useMemo(
    () => daysFrom(addDays(today, -week_days), week_days, timezone),
    [today, timezone],
  )
  const forecasts = useForecasts(span)
  const production = useProduction(span)
  const before = useProduction(week)
  const prices = usePredictedPrices(span)
  const options = { staleTime: 60_000, refetchInterval: 60_000 }
  const models = useRead('predictions', 'predictionsModelsList', {}, options)
  return (
    <Page title="Predictions">
      <Answered query={forecasts}>
        {(found) => (
          <>
            <TwoDays
              forecasts={found.site}
              production={production.data ?? []}
              today={today}
              timezone={timezone}
            />
            <Section title="Plants">
              <PlantForecasts plants={found.plants} today={today} />
            </Section>
          </>
        )}
      </Answered>
      <Section title="Last 7 days">
        <Answered query={before}>
          {(steps) => <LastWeek steps={steps} timezone={timezone} />}
        </Answered>
      </Section>
      {may('markets:read') && (
        <Section title="Prices, today and tomorrow">
          <Answered query={prices}>
            {(all) => <PriceForecast prices={all} timezone={timezone} />}
          </Answered>
        </Section>
      )}
      <Section title="Accuracy">
        <Muted mb="xs">
          Past forecasts compared with measurements. The 80 % band should contain 80 % of the
          values.
        </Muted>
        <Answered query={models}>
          {({ data }) => <Models models={data} prices={prices.data ?? []} />}
        </Answered>
      </Section>
    </Page>
  )
}

const forecastTable = (today: string) =>
  tableOf<Forecast>(
    'Forecasts of each plant',
    820,
    ({ logger_id, date }) => `${logger_id}/${date}`,
    [
      column('Plant', ({ logger_name }) => logger_name),
      column('Day (UTC)', ({ date }) => (date === today ? 'Today' : 'Tomorrow')),
      numeric('Expected', ({ total_p50_kwh }) => total_p50_kwh, formatEnergy),
      numeric('80 % band', ({ total_p10_kwh, total_p90_kwh }) =>
        [total_p10_kwh, total_p90_kwh].map(formatEnergy).join(' to '),
      ),
      numeric('Peak', ({ peak_p50_kw, peak_at }) => (
        <>
          {formatPower(peak_p50_kw)}
          {peak_at && ' at '}
          {peak_at && <Time at={peak_at} style="time" />}
        </>
      )),
      column('Confidence', ({ confidence }) =>
        whole(inWords(confidence), confidence === 'low' ? 'orange' : 'teal'),
      ),
      wrapped('Model', ({ model, model_version, fallback_reason: reason }) =>
        noted(
          model === 'blend' ? `Version ${model_version}` : (model ?? none),
          reason && fallbackWords[reason],
        ),
      ),
    ],
  )

function PlantForecasts({ plants, today }: { plants: readonly Forecast[]; today: string }) {
  const rows = plants
    .filter(({ date }) => date === today || date === addDays(today, 1))
    .toSorted((a, b) => (a.logger_id ?? 0) - (b.logger_id ?? 0) || (a.date < b.date ? -1 : 1))
  return <DataTable {...forecastTable(today)} rows={rows} none="No forecasts of plants" />
}

interface LastWeekProps {
  steps: readonly PredictedProduction[]
  timezone: string
}

/** Day-ahead forecasts beside available production. */
function LastWeek({ steps, timezone }: LastWeekProps) {
  const option = useMemo(
    () =>
      bandOption({
        labels: steps.map(
          ({ start_at }) =>
            `${formatTime(start_at, timezone, 'day')} ${formatTime(start_at, timezone, 'time')}`,
        ),
        p10: steps.map(({ p10_kwh }) => p10_kwh),
        p50: steps.map(({ p50_kwh }) => p50_kwh),
        p90: steps.map(({ p90_kwh }) => p90_kwh),
        lines: [{ name: 'Available', values: steps.map((step) => step.actual_available_kwh) }],
        unit: 'kWh',
        by_day: true,
      }),
    [steps, timezone],
  )
  const compared = steps.filter(({ error_kwh }) => error_kwh !== null)
  if (compared.length === 0) return <Empty title="No forecasts with measurements" />
  const banded = compared.filter(({ actual_available_kwh }) => (actual_available_kwh ?? 0) > 0)
  const inside = banded.filter(({ inside_band }) => inside_band).length
  const error_kwh = compared.reduce((sum, step) => sum + (step.error_kwh ?? 0), 0)
  return (
    <>
      <Chart title="Day-ahead forecast and available energy" option={option} />
      <Text size="sm">
        {banded.length > 0 &&
          `${formatNumber((100 * inside) / banded.length, 0)} % of daylight hours were within the band. `}
        Total error: {formatEnergy(Math.abs(error_kwh))} too {error_kwh >= 0 ? 'high' : 'low'}.
      </Text>
      {compared.some(({ is_hindcast }) => is_hindcast) && (
        <Muted>Days before the first forecast are hindcasts from data known at that time.</Muted>
      )}
    </>
  )
}

interface PriceForecastProps {
  prices: readonly PredictedPrice[]
  timezone: string
}

const likely_pct = 20

function PriceForecast({ prices, timezone }: PriceForecastProps) {
  const option = useMemo(
    () =>
      bandOption({
        labels: prices.map(({ start_at }) => labelOf(start_at, timezone)),
        p10: prices.map((price) => price.p10_price_per_mwh),
        p50: prices.map((price) => price.p50_price_per_mwh),
        p90: prices.map((price) => price.p90_price_per_mwh),
        lines: [{ name: 'Published', values: prices.map((price) => price.actual_price_per_mwh) }],
        unit: `${prices[0]?.currency ?? ''}/MWh`,
        digits: 2,
        stepped: true,
      }),
    [prices, timezone],
  )
  const is_known = prices.some(
    ({ p50_price_per_mwh, actual_price_per_mwh }) =>
      p50_price_per_mwh !== null || actual_price_per_mwh !== null,
  )
  if (!is_known) {
    return <Empty title="No price forecast">The site has no market, or its market is new.</Empty>
  }
  const risky = prices.filter(
    (price) =>
      price.actual_price_per_mwh === null && (price.negative_probability_pct ?? 0) >= likely_pct,
  )
  const highest = Math.max(...risky.map((price) => price.negative_probability_pct ?? 0))
  return (
    <>
      <Chart title="Expected prices with their band, and published prices" option={option} />
      {risky[0] && (
        <Text size="sm">
          Negative prices possible from {formatTime(risky[0].start_at, timezone, 'full')}:
          probability up to {formatNumber(highest, 0)} %.
        </Text>
      )}
      {prices.some(({ method }) => method === 'naive') && (
        <Muted>
          Persistence forecast: each price is that of the previous day at the same time.
        </Muted>
      )}
    </>
  )
}

const states: Words = {
  ok: ['OK', 'teal'],
  degraded: ['Degraded', 'orange'],
  disabled: ['Disabled: physics is better', 'gray'],
  insufficient_data: ['Insufficient data', 'gray'],
}

const windows = { 7: '7 days', 30: '30 days', 90: '90 days' }
const leads = { day_ahead: 'Day ahead', intraday: 'Intraday' }

interface ModelsProps {
  models: readonly ModelStatus[]
  prices: readonly PredictedPrice[]
}

function Models({ models, prices }: ModelsProps) {
  const [days, setDays] = useState('30')
  const [lead, setLead] = useState('day_ahead')
  const { plantName } = useDevices()
  if (models.length === 0) return <Empty title="No models yet" />
  const scoresOf = ({ metrics }: ModelStatus) =>
    metrics.find(({ window_days, lead_time }) => window_days === Number(days) && lead_time === lead)
  const inUnit = (value: number | null | undefined, { kind, model }: ModelStatus) => {
    if (kind !== 'price') return formatQuantity(value, 'kW')
    const price = prices.find(({ market_code }) => model === `price:${market_code}`)
    return formatQuantity(value, `${price?.currency ?? ''}/MWh`, 2)
  }
  const table = tableOf<ModelStatus>('Models and their scores', 940, 'model', [
    column('Model', ({ model, logger_id }) => {
      if (logger_id !== null) return plantName(logger_id)
      return model === 'production:site' ? 'Site' : model.replace(/^price:/, 'Prices of ')
    }),
    wrapped('State', ({ status, drift_detected, last_error }) => (
      <>
        {wordBadge(states, status)}
        {drift_detected && <Muted>Drift: the error has grown</Muted>}
        {last_error && <Muted>Last training failed: {last_error}</Muted>}
      </>
    )),
    numeric('Mean error', (model) => {
      const { mae_per_mwh, mae_kw, nmae_pct = null } = scoresOf(model) ?? {}
      return noted(
        inUnit(model.kind === 'price' ? mae_per_mwh : mae_kw, model),
        nmae_pct !== null && `${formatQuantity(nmae_pct, '%')} of rated power`,
      )
    }),
    numeric('Bias', (model) => {
      const { mbe_per_mwh, mbe_kw } = scoresOf(model) ?? {}
      const bias = model.kind === 'price' ? mbe_per_mwh : mbe_kw
      if (bias === null || bias === undefined) return none
      return `${inUnit(Math.abs(bias), model)} too ${bias >= 0 ? 'high' : 'low'}`
    }),
    numeric('Within the band', (model) =>
      formatQuantity(scoresOf(model)?.p10_p90_coverage_pct, '%', 0),
    ),
    numeric('Better than persistence', (model) =>
      formatQuantity(scoresOf(model)?.skill_vs_persistence_pct, '%', 0),
    ),
    numeric('Samples', (model) => {
      const { sample_count, hindcast_count = 0 } = scoresOf(model) ?? {}
      return noted(
        formatNumber(sample_count, 0),
        hindcast_count > 0 && `${formatNumber(hindcast_count, 0)} hindcast`,
      )
    }),
    column('Trained', ({ trained_at, version, training_sample_count }) =>
      noted(
        <Time at={trained_at} />,
        version && `version ${version}, ${formatNumber(training_sample_count, 0)} samples`,
      ),
    ),
  ])
  return (
    <>
      <Group gap="xs" mb="xs">
        <Choice label="Window" choices={windows} value={days} onChange={setDays} />
        <Choice label="Lead time" choices={leads} value={lead} onChange={setLead} />
      </Group>
      <DataTable {...table} rows={models} />
    </>
  )
}

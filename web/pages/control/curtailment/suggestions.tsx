/** Periods with negative revenue, and limits that avoid them. */
import type { CurtailmentPriceWindow, CurtailmentSuggestion } from '@heliograph/sdk'
import { Alert, Button, Card, Group, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { readOf, useMay, useRead, useSite } from '../../../queries.ts'
import { useDevices } from '../../../ui/devices.tsx'
import { WriteButton } from '../../../ui/form.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower } from '../../../ui/format.ts'
import { Part, Time, useNow } from '../../../ui/page.tsx'
import { clockAt, dayAt, type Span } from '../../../ui/site-clock.ts'
import { type DayHours, dayHoursOf } from './limits.ts'
import { usePlants } from './reads.ts'
import type { RequestedLimit } from './requested-limit.ts'

const plants_max = 12
const day_ms = 86_400_000
const renewed_ms = 600_000

export function useSuggested(
  plants: readonly { logger_id: number }[],
  days: readonly DayHours[],
  staleTime: number,
) {
  const { site_id } = useSite()
  const asked = plants.flatMap(({ logger_id }) => days.map((day) => ({ logger_id, ...day })))
  return useQueries({
    queries: asked.map((one) =>
      readOf('curtailment-suggest', 'curtailmentSuggest', { site_id, ...one }, { staleTime }),
    ),
    combine: (results) => ({
      is_pending: results.some(({ isPending }) => isPending),
      answers: results.flatMap(({ data }): CurtailmentSuggestion[] => (data ? [data] : [])),
    }),
  })
}

interface SuggestionsProps {
  onTake: (requested: Partial<RequestedLimit>) => void
}

/** For the rest of today and for tomorrow. */
export function Suggestions({ onTake }: SuggestionsProps) {
  const { timezone } = useSite()
  const now_ms = useNow(60_000)
  const asked_ms = useNow(renewed_ms)
  const hour = Number(clockAt(asked_ms, timezone).slice(11, 13))
  const days = [
    { date: dayAt(asked_ms, timezone), start_hour: hour, end_hour: 24 },
    { date: dayAt(asked_ms + day_ms, timezone), start_hour: 0, end_hour: 24 },
  ]
  const plants = (usePlants() ?? []).slice(0, plants_max)
  const { answers, is_pending } = useSuggested(plants, days, renewed_ms)
  const found = answers.flatMap(({ logger_id, price_windows }) =>
    price_windows
      .filter(({ end_at }) => Date.parse(end_at) > now_ms)
      .map((window) => ({ logger_id, window })),
  )
  const is_unknown = answers.some(({ price_basis }) => price_basis === 'none')
  if (is_pending || answers.length === 0) return null
  return (
    <Part title="Suggested limits" gap="sm">
      {found.length === 0 && (
        <Text>
          No negative revenue is expected until the end of tomorrow
          {is_unknown && ', as far as prices are known'}.
        </Text>
      )}
      {found.map(({ logger_id, window }) => (
        <PriceWindow
          key={`${logger_id} ${window.start_at}`}
          logger_id={logger_id}
          window={window}
          timezone={timezone}
          now_ms={now_ms}
          onTake={onTake}
        />
      ))}
    </Part>
  )
}

interface PriceWindowProps extends SuggestionsProps {
  logger_id: number
  window: CurtailmentPriceWindow
  timezone: string
  now_ms: number
}

function PriceWindow({ logger_id, window, timezone, now_ms, onTake }: PriceWindowProps) {
  const { plantName } = useDevices()
  const { start_at, end_at, expected_saving_amount, expected_curtailed_energy_kwh } = window
  const take = () =>
    onTake({
      where: String(logger_id),
      limit_mode: 'percent',
      duration: 'until',
      limit_value: window.suggested_limit_pct,
      begins: Date.parse(start_at) <= now_ms ? 'now' : 'later',
      start: clockAt(Date.parse(start_at), timezone),
      end: clockAt(Date.parse(end_at), timezone),
    })
  return (
    <Card padding="sm">
      <Group justify="space-between">
        <div>
          <Text fw={600}>
            {plantName(logger_id)}, <Time at={start_at} style="day" />{' '}
            <Time at={start_at} style="time" />–
            <Time at={end_at} style="time" />
          </Text>
          <Text size="sm">
            Revenue {formatMoney(window.avg_net_price_per_mwh, window.currency)} per MWh
            {window.basis === 'price_forecast' && ' by the price forecast'}. A limit of{' '}
            {formatNumber(window.suggested_limit_pct, 0)} % (
            {formatPower(window.suggested_limit_kw)}) curtails{' '}
            {formatEnergy(expected_curtailed_energy_kwh)} and saves{' '}
            {formatMoney(expected_saving_amount, window.currency)}.
          </Text>
        </div>
        <WriteButton scope="curtailment:write" variant="default" size="sm" onClick={take}>
          Prepare limit
        </WriteButton>
      </Group>
    </Card>
  )
}

interface PeakSuggestionProps {
  logger_id: number
  span: Span
  onTake: (limit_pct: number) => void
}

/** Suggests a limit just below the forecast peak of the chosen hours. */
export function PeakSuggestion({ logger_id, span, onTake }: PeakSuggestionProps) {
  const may = useMay()
  const { timezone } = useSite()
  const [day, ...others] = dayHoursOf(span, timezone)
  const { data } = useRead(
    'curtailment-suggest',
    'curtailmentSuggest',
    { logger_id, date: '', start_hour: 0, end_hour: 24, ...day },
    {
      enabled: day !== undefined && others.length === 0 && may('curtailment:read'),
      staleTime: renewed_ms,
    },
  )
  const limit_pct = data?.suggested_limit_pct ?? null
  if (!data || limit_pct === null) return null
  return (
    <Alert color="blue" role="status">
      <Group justify="space-between">
        <Text size="sm">
          Expected peak: {formatPower(data.forecast_peak_p50_kw)}. {limit_pct} % is below the peak.
        </Text>
        <Button size="xs" variant="default" onClick={() => onTake(limit_pct)}>
          Use {limit_pct} %
        </Button>
      </Group>
    </Alert>
  )
}

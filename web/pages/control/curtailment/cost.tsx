/** Expected energy and revenue that a limit costs, beyond other limits. */

import type { CurtailmentRow, CurtailmentSuggestion } from '@heliograph/sdk'
import { Loader, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { readOf } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatEnergy, formatMoney } from '../../../ui/format.ts'
import { type Allowed, curtailedBy, dayHoursOf, type Span, sumOf } from './limits.ts'

const plants_max = 24
const open_ms = 24 * 3_600_000

interface CostLineProps {
  site_id: string
  allowed: readonly Allowed[]
  span: Span
  is_open: boolean
  /** Other limits of the same plants in that time. */
  others: readonly CurtailmentRow[]
}

export function CostLine({ site_id, allowed, span, is_open, others }: CostLineProps) {
  const counted = is_open ? { ...span, end_ms: span.start_ms + open_ms } : span
  const asked = useExpected(site_id, allowed.length > plants_max ? [] : allowed, counted)
  if (allowed.length > plants_max) return <Text>Cost unknown: too many plants to estimate.</Text>
  if (asked.is_pending) {
    return (
      <Text role="status">
        <Loader size="xs" /> Estimating the cost…
      </Text>
    )
  }
  const { energy_kwh, amount, currency, notes } = costOf(asked.answers, allowed, counted, others)
  if (energy_kwh === null) {
    return <Text>Cost unknown: no forecast covers the whole period.</Text>
  }
  return (
    <Text>
      Expected curtailment{is_open && ' in the first 24 hours'}:{' '}
      <strong>{formatEnergy(energy_kwh)}</strong>
      {others.length > 0 && ' in addition to other limits'}.{' '}
      <Money {...{ amount, currency, energy_kwh }} />
      {notes.length > 0 && (
        <Text span size="sm" c="dimmed">
          {' '}
          ({notes.join('; ')})
        </Text>
      )}
    </Text>
  )
}

function Money({
  amount,
  currency,
  energy_kwh,
}: {
  amount: number | null
  currency: string | null
  energy_kwh: number
}) {
  if (energy_kwh < 0.05) return <>No cost expected.</>
  if (amount === null || currency === null) return <>Revenue unknown.</>
  if (amount < 0) return <>Saves about {formatMoney(-amount, currency)}.</>
  return (
    <>
      Costs about <strong>{formatMoney(amount, currency)}</strong>.
    </>
  )
}

function useExpected(site_id: string, allowed: readonly Allowed[], span: Span) {
  const { timezone } = useSite()
  const days = dayHoursOf(span, timezone)
  const asks = allowed.flatMap(({ logger_id }) => days.map((day) => ({ logger_id, ...day })))
  return useQueries({
    queries: asks.map((ask) =>
      readOf(
        'curtailment-suggest',
        'curtailmentSuggest',
        { site_id, ...ask },
        { staleTime: 300_000 },
      ),
    ),
    combine: (results) => ({
      is_pending: results.some(({ isPending }) => isPending),
      answers: results.flatMap(({ data }) => (data ? [data] : [])),
    }),
  })
}

function costOf(
  answers: readonly CurtailmentSuggestion[],
  allowed: readonly Allowed[],
  span: Span,
  others: readonly CurtailmentRow[],
) {
  const curtailed = allowed.map(({ logger_id, allowed_kw }) => {
    const own = answers.filter((answer) => answer.logger_id === logger_id)
    return curtailedBy(
      own.flatMap(({ hours }) => hours),
      allowed_kw,
      span,
      others
        .filter((row) => row.logger_id === logger_id)
        .map(({ start_at, end_at, max_power_kw }) => ({
          start_ms: Date.parse(start_at),
          end_ms: Date.parse(end_at),
          max_power_kw,
        })),
    )
  })
  const currencies = new Set(answers.map(({ currency }) => currency))
  const notes = [
    ...(answers.some(({ basis }) => basis === 'clear_sky')
      ? ['based on a clear sky, without a forecast']
      : []),
    ...(answers.some(({ price_basis }) => price_basis === 'price_forecast')
      ? ['partly at forecast prices']
      : []),
  ]
  return {
    energy_kwh: sumOf(curtailed.map(({ energy_kwh }) => energy_kwh)),
    amount: currencies.size === 1 ? sumOf(curtailed.map(({ amount }) => amount)) : null,
    currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
    notes,
  }
}

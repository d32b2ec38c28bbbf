/** What a limit is expected to keep back beyond others, and what that would have earned. */

import type { CurtailmentRow, CurtailmentSuggestion } from '@heliograph/sdk'
import { Loader, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { readOf } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { formatEnergy, formatMoney } from '../../../ui/format.ts'
import { type Allowed, dayHoursOf, keptBack, type Span, sumOf } from './limits.ts'

const plants_max = 24
const open_ms = 24 * 3_600_000

interface CostLineProps {
  site_id: string
  allowed: readonly Allowed[]
  span: Span
  is_open: boolean
  /** That limit the same plants in that time. */
  others: readonly CurtailmentRow[]
}

export function CostLine({ site_id, allowed, span, is_open, others }: CostLineProps) {
  const counted = is_open ? { ...span, end_ms: span.start_ms + open_ms } : span
  const asked = useExpected(site_id, allowed.length > plants_max ? [] : allowed, counted)
  if (allowed.length > plants_max)
    return <Text>What it costs is not known for so many plants.</Text>
  if (asked.is_pending) {
    return (
      <Text role="status">
        <Loader size="xs" /> Looking up what it costs…
      </Text>
    )
  }
  const { energy_kwh, amount, currency, notes } = costOf(asked.answers, allowed, counted, others)
  if (energy_kwh === null) {
    return <Text>What it costs is not known: there is no forecast for all of that time.</Text>
  }
  return (
    <Text>
      {is_open ? 'In the first 24 hours it' : 'It'} is expected to keep back{' '}
      <strong>{formatEnergy(energy_kwh)}</strong>
      {others.length > 0 && ' more than the other limits of that time do'}.{' '}
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
  if (energy_kwh < 0.05) return <>So it should cost nothing.</>
  if (amount === null || currency === null) return <>What that would earn is not known.</>
  if (amount < 0) return <>That saves about {formatMoney(-amount, currency)}.</>
  return (
    <>
      That costs about <strong>{formatMoney(amount, currency)}</strong>.
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
  const kept = allowed.map(({ logger_id, allowed_kw }) => {
    const own = answers.filter((answer) => answer.logger_id === logger_id)
    return keptBack(
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
      ? ['from a clear sky, as there is no forecast']
      : []),
    ...(answers.some(({ price_basis }) => price_basis === 'price_forecast')
      ? ['in part at forecast prices']
      : []),
  ]
  return {
    energy_kwh: sumOf(kept.map(({ energy_kwh }) => energy_kwh)),
    amount: currencies.size === 1 ? sumOf(kept.map(({ amount }) => amount)) : null,
    currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
    notes,
  }
}

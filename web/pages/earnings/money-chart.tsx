import type { EarningsHour, EarningsSummary } from '@heliograph/sdk'
import { useMemo } from 'react'
import { columnsOption } from '../../ui/columns.ts'
import { Chart } from '../../ui/lazy-chart.tsx'
import { Muted } from '../../ui/muted.tsx'
import { monthName } from '../../ui/periods.ts'
import { clockAt } from '../../ui/site-clock.ts'
import { Empty } from '../../ui/states.tsx'

interface Amounts {
  net_amount: number | null
  fees_amount: number | null
}

/** Sums of known amounts by name, in the given order; null without any. */
function grouped<Row extends Amounts>(rows: readonly Row[], nameOf: (row: Row) => string) {
  const groups = new Map<string, Amounts>()
  for (const row of rows) {
    const name = nameOf(row)
    const { net_amount, fees_amount } = groups.get(name) ?? { net_amount: null, fees_amount: null }
    // Fees alone would look like a loss.
    const is_known = row.net_amount !== null
    groups.set(name, {
      net_amount: is_known ? (net_amount ?? 0) + row.net_amount! : net_amount,
      fees_amount: is_known ? (fees_amount ?? 0) + (row.fees_amount ?? 0) : fees_amount,
    })
  }
  return [...groups].map(([name, amounts]) => ({ name, ...amounts }))
}

export function MoneyByDay({ summary, is_year }: { summary: EarningsSummary; is_year: boolean }) {
  const { by_day, currency } = summary
  const option = useMemo(() => {
    const groups = grouped(by_day, ({ date }) =>
      is_year ? monthName(date, 'short') : String(Number(date.slice(8))),
    )
    return columnsOption({
      categories: groups.map(({ name }) => name),
      unit: currency ?? '',
      digits: 2,
      columns: [
        { name: 'Net', values: groups.map(({ net_amount }) => net_amount) },
        { name: 'Fees', values: groups.map(({ fees_amount }) => fees_amount) },
      ],
    })
  }, [by_day, currency, is_year])
  if (by_day.length === 0) return <Empty title="No data for this period" />
  return (
    <>
      <Chart title="Net and fees" option={option} height={280} />
      {by_day.some(({ net_amount }) => net_amount === null) && (
        <Muted>Days with incomplete data are not shown.</Muted>
      )}
    </>
  )
}

interface MoneyByHourProps {
  hours: readonly EarningsHour[]
  timezone: string
  currency: string | null
}

export function MoneyByHour({ hours, timezone, currency }: MoneyByHourProps) {
  const option = useMemo(() => {
    const groups = grouped(hours, ({ start_at }) => start_at)
    const prices = new Map(hours.map((hour) => [hour.start_at, hour.market_price_per_mwh]))
    return columnsOption({
      categories: groups.map(({ name }) => clockAt(Date.parse(name), timezone).slice(11)),
      unit: currency ?? '',
      second_unit: `${currency ?? ''}/MWh`,
      digits: 2,
      columns: [
        { name: 'Net', values: groups.map(({ net_amount }) => net_amount) },
        {
          name: 'Market price',
          as: 'steps' as const,
          is_second: true as const,
          values: groups.map(({ name }) => prices.get(name) ?? null),
        },
      ],
    })
  }, [hours, timezone, currency])
  if (hours.length === 0) return <Empty title="No data for this day" />
  return <Chart title="Net by hour, and the market price" option={option} height={280} />
}

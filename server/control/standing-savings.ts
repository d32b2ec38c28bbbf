/** What the planned periods of standing orders saved and cost, after fees by energy. */
import { significant } from '@heliograph/domain/significant'
import type { Queries } from '../storage/database.ts'
import type { CurtailmentRow } from './curtailment-row.ts'
import type { Savings } from './standing-schemas.ts'
import type { StandingOrder, StoredPeriod } from './standing-store.ts'
import { rowsOfGroups } from './store.ts'

interface SavingsReader {
  periods: readonly StoredPeriod[]
  has_money: boolean
  now: Date
}

/** Returns a function that sums up periods. */
export async function readSavings(
  db: Queries,
  { site_id, currency }: StandingOrder,
  { periods, has_money, now }: SavingsReader,
): Promise<(some: readonly StoredPeriod[]) => Savings> {
  const group_ids = periods.map(({ group_id }) => group_id)
  const reader = { site_id, has_money, price_basis: 'net_price', group_ids } as const
  const rows = group_ids.length > 0 ? await rowsOfGroups(db, reader, now) : []
  const rowsOf = Map.groupBy(rows, ({ group_id }) => group_id)
  return (some) =>
    savingsOf(
      some.flatMap(({ group_id }) => rowsOf.get(group_id) ?? []),
      currency,
    )
}

/** Unknown where the energy or the value of one row is. A row never applied curtailed nothing. */
function savingsOf(rows: readonly CurtailmentRow[], currency: string): Savings {
  const applied = rows.filter((row) => row.applied)
  const sum = (of: (row: CurtailmentRow) => number | null) => {
    const values = applied.map(of)
    const known = values.filter((value) => value !== null)
    if (known.length < values.length) return null
    return significant(known.reduce((total, value) => total + value, 0))
  }
  const amount = (of: (row: CurtailmentRow) => number | null) =>
    sum((row) => (row.currency === currency ? of(row) : null))
  return {
    curtailed_energy_kwh: sum((row) => row.curtailed_energy_kwh),
    saved_amount: amount((row) => row.avoided_cost_amount),
    lost_amount: amount((row) => row.lost_revenue_amount),
    money_reason: applied.find((row) => row.money_reason !== null)?.money_reason ?? null,
  }
}

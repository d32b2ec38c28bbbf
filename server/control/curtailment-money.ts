/** Rows of curtailment with what the energy that they kept back was worth. */

import { majorUnits } from '../contracts/money.ts'
import type { Queries } from '../storage/database.ts'
import {
  type CurtailmentRow,
  hiddenMoney,
  noMoney,
  type RowMoney,
  rowRecord,
  type StoredRow,
} from './curtailment-row.ts'
import { type RowWorth, readCurtailmentWorth } from './curtailment-worth.ts'

export interface RowReader {
  site_id: string
  /** Whether the rows are for somebody with `earnings:read`. */
  has_money: boolean
}

/** Rows as they are served, by the newest prices: these are read anew for each answer. */
export async function withMoney(
  db: Queries,
  { site_id, has_money }: RowReader,
  rows: readonly StoredRow[],
): Promise<CurtailmentRow[]> {
  if (!has_money) return rows.map((row) => rowRecord(row, hiddenMoney))
  const told = rows.filter(({ curtailed_energy_kwh }) => curtailed_energy_kwh !== null)
  if (told.length === 0) return rows.map((row) => rowRecord(row, noMoney))
  const worth = await readCurtailmentWorth(db, site_id, told)
  return rows.map((row) => rowRecord(row, moneyOf(worth.get(row.id))))
}

function moneyOf(worth: RowWorth | undefined): RowMoney {
  if (worth === undefined) return noMoney
  const { amounts, reason } = worth
  return {
    lost_revenue_amount: amounts && majorUnits(amounts.lost),
    avoided_cost_amount: amounts && majorUnits(amounts.avoided),
    currency: amounts?.currency ?? null,
    money_reason: reason,
  }
}

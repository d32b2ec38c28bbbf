/** Curtailment rows with the value of their curtailed energy. */
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
  /** The caller has `earnings:read`. */
  has_money: boolean
}

/** Rows as the API returns them, valued at the newest prices. */
export async function withMoney(
  db: Queries,
  { site_id, has_money }: RowReader,
  rows: readonly StoredRow[],
): Promise<CurtailmentRow[]> {
  if (!has_money) return rows.map((row) => rowRecord(row, hiddenMoney))
  const with_energy = rows.filter(({ curtailed_energy_kwh }) => curtailed_energy_kwh !== null)
  if (with_energy.length === 0) return rows.map((row) => rowRecord(row, noMoney))
  const worth = await readCurtailmentWorth(db, site_id, with_energy)
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

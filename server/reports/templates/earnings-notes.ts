/** Notes on unknown earnings and their effect on the sums. */
import type { AccountReason } from '../../contracts/accounting.ts'
import { dayName } from '../writers/cells.ts'

interface Charged {
  fees_amount: number | null
  net_amount: number | null
}

interface NotedDay extends Charged {
  /** YYYY-MM-DD */
  date: string
  energy_kwh: number | null
  /** Known fees of the day, even if other fees of the day are unknown. */
  due_amount: number
}

interface NotedSite {
  currency: string | null
  net_amount: number | null
  known: object | null
  price_status: 'final' | 'provisional'
  energy_without_contract_kwh: number
  unknown: readonly { reason: AccountReason; hour_count: number }[]
}

export function notesOf({
  site,
  plants,
  days,
}: {
  site: NotedSite
  plants: readonly unknown[]
  days: readonly NotedDay[]
}): string[] {
  const notes: string[] = []
  if (plants.length === 0) notes.push('No plants were in service in this period.')
  else if (site.known === null) notes.push('No earnings are known in this period.')
  if (site.price_status === 'provisional') {
    notes.push('Provisional: prices, exchange rates or late readings may still change amounts.')
  }
  notes.push(...unknownNotes(site), ...earlyFees(days, site))
  if (site.energy_without_contract_kwh > 0) {
    const kwh = site.energy_without_contract_kwh.toFixed(1)
    notes.push(`${kwh} kWh were delivered without a contract and are in no amount.`)
  }
  return notes
}

/** Without a price a sum is unknown; with incomplete energy it covers the known energy. */
function unknownNotes({ unknown, known }: NotedSite): string[] {
  const hours = { energy: 0, price: 0 }
  for (const { reason, hour_count } of unknown) {
    hours[reason === 'no_energy' ? 'energy' : 'price'] += hour_count
  }
  const notes: string[] = []
  if (hours.price > 0) {
    const rest = known === null ? '' : '; the known part covers the others'
    notes.push(
      `A price or an exchange rate is unknown for ${hours.price} plant hours: see "Unknown". Sums ` +
        `that need them are empty${rest}.`,
    )
  }
  if (hours.energy > 0) {
    notes.push(
      `The energy of ${hours.energy} plant hours was not or not completely measured: see "Unknown". ` +
        'Gross and net cover the known energy; monthly fees cover all hours.',
    )
  }
  return notes
}

/** Contracts may start long before the first measurement. */
function earlyFees(days: readonly NotedDay[], { currency }: NotedSite): string[] {
  const first = days.findIndex(({ energy_kwh }) => energy_kwh !== null)
  const early = days.slice(0, Math.max(first, 0)).filter(({ due_amount }) => due_amount !== 0)
  if (early.length === 0) return []
  const sum = early.reduce((all, { due_amount }) => all + due_amount, 0)
  const count = early.length === 1 ? '1 day' : `${early.length} days`
  return [
    `Fees include ${amountText(sum, currency)} for ${count} before ` +
      `${dayName(days[first]!.date)}, the first day with known energy: monthly fees are due from ` +
      'the start of a contract.',
  ]
}

/** Why the net amounts of the rows differ from their total: rows without energy have only fees. */
export function netNote(
  items: readonly Charged[],
  [one, many]: readonly [string, string],
  { currency, net_amount, known }: NotedSite,
): string | undefined {
  const without = items.filter(({ net_amount, fees_amount }) => net_amount === null && fees_amount)
  if (without.length === 0 || known === null) return undefined
  const sum = without.reduce((all, { fees_amount }) => all + fees_amount!, 0)
  const where = net_amount === null ? 'the known part of the net' : 'the total net'
  const [count, have, their] = without.length === 1 ? [one, 'has', 'its'] : [many, 'have', 'their']
  return (
    `${without.length} ${count} without known energy ${have} no net: ${their} fees, ` +
    `${amountText(sum, currency)}, are in ${where}.`
  )
}

const amountText = (amount: number, currency: string | null) =>
  `${amount.toFixed(2)}${currency === null ? '' : ` ${currency}`}`

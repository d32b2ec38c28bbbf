/** What a report of earnings says of what is not known, and of what that does to its sums. */
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
  /** Fees of its hours that are known, also where those of others are not. */
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

interface Noted {
  site: NotedSite
  plants: readonly unknown[]
  days: readonly NotedDay[]
}

const isDark = ({ reason }: { reason: AccountReason }) => reason === 'no_energy'

export function notesOf({ site, plants, days }: Noted): string[] {
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

/** Without a price there is no sum; of energy that was not measured in full there is one. */
function unknownNotes({ unknown, known }: NotedSite): string[] {
  const hoursOf = (items: NotedSite['unknown']) =>
    items.reduce((sum, { hour_count }) => sum + hour_count, 0)
  const dark = hoursOf(unknown.filter(isDark))
  const unpriced = hoursOf(unknown.filter((item) => !isDark(item)))
  const notes: string[] = []
  if (unpriced > 0) {
    const rest = known === null ? '' : '; "known part" is of the others'
    notes.push(
      `Of ${unpriced} hours of plants a price or an exchange rate is not known: see "Not known". ` +
        `Sums that need them are empty${rest}.`,
    )
  }
  if (dark > 0) {
    notes.push(
      `The energy of ${dark} hours of plants was not measured, or not all of it: see "Not known". ` +
        'Gross and net are of what is known of it; fees by the month of all hours.',
    )
  }
  return notes
}

/** A contract may have begun long before anything was measured. */
function earlyFees(days: readonly NotedDay[], { currency }: NotedSite): string[] {
  const first = days.findIndex(({ energy_kwh }) => energy_kwh !== null)
  const early = days.slice(0, Math.max(first, 0)).filter(({ due_amount }) => due_amount !== 0)
  if (early.length === 0) return []
  const sum = early.reduce((all, { due_amount }) => all + due_amount, 0)
  const of_days = early.length === 1 ? '1 day' : `${early.length} days`
  return [
    `Fees of ${amountText(sum, currency)} are of ${of_days} before the first of which energy is ` +
      `known, ${dayName(days[first]!.date)}: the contracts were in force, and fees by the month are due ` +
      'whether energy is measured or not.',
  ]
}

/** Why net does not add up to that of all: where nothing was measured there are fees alone. */
export function netNote(
  items: readonly Charged[],
  [one, many]: readonly [string, string],
  { currency, net_amount, known }: NotedSite,
): { note?: string } {
  const dark = items.filter(({ net_amount, fees_amount }) => net_amount === null && fees_amount)
  if (dark.length === 0 || known === null) return {}
  const sum = dark.reduce((all, { fees_amount }) => all + fees_amount!, 0)
  const where = net_amount === null ? 'the known part of the net' : 'the net of all'
  const [count, has, their] = dark.length === 1 ? [one, 'has', 'its'] : [many, 'have', 'their']
  return {
    note:
      `${dark.length} ${count} of which no energy is known ${has} no net: ${their} fees, ` +
      `${amountText(sum, currency)}, are in ${where}.`,
  }
}

const amountText = (amount: number, currency: string | null) =>
  `${amount.toFixed(2)}${currency === null ? '' : ` ${currency}`}`

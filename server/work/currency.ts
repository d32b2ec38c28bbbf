import { invalid } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'

const known = new Set(Intl.supportedValuesOf('currency'))

/**
 * What an amount is in: the currency that is given, else that of the site. 422 that names `beside`,
 * the field of the amount, where there is an amount and no currency is known, and for a currency
 * that there is not.
 */
export async function currencyOf(
  db: Queries,
  site_id: string,
  { amount, currency, beside }: { amount: number | null; currency: string | null; beside: string },
): Promise<string | null> {
  if (currency !== null && !known.has(currency)) {
    const message = `${currency} is no currency of ISO 4217`
    throw invalid({ location: 'body', field: 'currency', code: 'not_allowed_value', message })
  }
  if (amount === null || currency !== null) return currency
  const [site] = await db.query<{ currency: string | null }>(
    `select inventory->>'currency' as currency from sites where site_id = $1`,
    [site_id],
  )
  if (site?.currency) return site.currency
  const message = `is required beside ${beside}: the site has none`
  throw invalid({ location: 'body', field: 'currency', code: 'required', message })
}

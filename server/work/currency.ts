import { invalid } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'

const known = new Set(Intl.supportedValuesOf('currency'))

/**
 * The given currency, else the currency of the site for an amount.
 * @param beside the field of the amount, for the message
 * @throws ApiError invalid for an unknown currency, or an amount without any currency
 */
export async function currencyOf(
  db: Queries,
  site_id: string,
  { amount, currency, beside }: { amount: number | null; currency: string | null; beside: string },
): Promise<string | null> {
  if (currency !== null && !known.has(currency)) {
    const message = `${currency} is not an ISO 4217 currency`
    throw invalid({ location: 'body', field: 'currency', code: 'not_allowed_value', message })
  }
  if (amount === null || currency !== null) return currency
  const [site] = await db.query<{ currency: string | null }>(
    `select inventory->>'currency' as currency from sites where site_id = $1`,
    [site_id],
  )
  if (site?.currency) return site.currency
  const message = `is required with ${beside}: the site has no currency`
  throw invalid({ location: 'body', field: 'currency', code: 'required', message })
}

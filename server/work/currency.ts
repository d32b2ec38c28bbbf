import { badField } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'

const known = new Set(Intl.supportedValuesOf('currency'))

/**
 * The given currency, else the currency of the site for an amount.
 * @throws ApiError invalid for an unknown currency, or an amount without any currency
 */
export async function currencyOf<Amount extends string>(
  db: Queries,
  site_id: string,
  of: { currency: string | null } & Record<Amount, number | null>,
  amount: Amount,
): Promise<string | null> {
  const { currency } = of
  if (currency !== null && !known.has(currency)) {
    throw badField('currency', 'not_allowed_value', `${currency} is not an ISO 4217 currency`)
  }
  if (of[amount] === null || currency !== null) return currency
  const [site] = await db.query<{ currency: string | null }>(
    `select inventory->>'currency' as currency from sites where site_id = $1`,
    [site_id],
  )
  if (site?.currency) return site.currency
  throw badField('currency', 'required', `is required with ${amount}: the site has no currency`)
}

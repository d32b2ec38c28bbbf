import type { Clock } from '@heliograph/domain/clock'
import type { Transaction } from '../storage/database.ts'

const prefixes = { work_order: 'WO', defect: 'DEF' } as const
type NumberedKind = keyof typeof prefixes

/** WO-2026-00042: at least five digits. */
const numberOf = (kind: NumberedKind, year: number, nth: number) =>
  `${prefixes[kind]}-${year}-${String(nth).padStart(5, '0')}`

/**
 * The next number of a site in the UTC year. Locks the counter until the end of the transaction, so
 * that numbers, ids and times are committed in the same order: a list by id only grows at its end.
 * `now` is read after the lock was granted.
 */
export async function takeNumber(
  tx: Transaction,
  { site_id, clock }: { site_id: string; clock: Clock },
  kind: NumberedKind,
): Promise<{ number: string; now: Date }> {
  const year = clock.now().getUTCFullYear()
  const [taken] = await tx.query<{ last_number: number }>(
    `insert into maintenance_numbers as stored (site_id, kind, year, last_number)
     values ($1, $2, $3, 1)
     on conflict (site_id, kind, year) do update set last_number = stored.last_number + 1
     returning last_number`,
    [site_id, kind, year],
  )
  const now = clock.now()
  // The lock was granted in the next year.
  if (now.getUTCFullYear() !== year) return takeNumber(tx, { site_id, clock }, kind)
  return { number: numberOf(kind, year, taken!.last_number), now }
}

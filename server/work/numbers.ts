import type { Clock } from '@heliograph/domain/clock'
import type { Transaction } from '../storage/database.ts'

const prefixes = { work_order: 'WO', defect: 'DEF' } as const
type NumberedKind = keyof typeof prefixes

/** WO-2026-00042: at least five digits, more where a year has more than 99,999. */
const numberOf = (kind: NumberedKind, year: number, nth: number) =>
  `${prefixes[kind]}-${year}-${String(nth).padStart(5, '0')}`

/**
 * The next number of the year, UTC, of a site. Until the transaction ends others of the site wait
 * for theirs, so that whoever takes one and then an id commits in the order of both: a list by id
 * only ever grows at its end. `now` is read once it is theirs, so that times go by the ids too.
 */
export async function takeNumber(
  tx: Transaction,
  { site_id, clock }: { site_id: string; clock: Clock },
  kind: NumberedKind,
): Promise<{ number: string; now: Date }> {
  const year = clock.now().getUTCFullYear()
  const [taken] = await tx.query<{ last_number: number }>(
    `insert into maintenance_numbers as kept (site_id, kind, year, last_number)
     values ($1, $2, $3, 1)
     on conflict (site_id, kind, year) do update set last_number = kept.last_number + 1
     returning last_number`,
    [site_id, kind, year],
  )
  const now = clock.now()
  // Who waited until the next year takes a number of that.
  if (now.getUTCFullYear() !== year) return takeNumber(tx, { site_id, clock }, kind)
  return { number: numberOf(kind, year, taken!.last_number), now }
}

import type { Transaction } from './database.ts'

/**
 * Takes one of PostgreSQL's advisory locks for the rest of the transaction: `lock_class` says for
 * what, `name` of which thing. False, at once, where another session holds it.
 */
export async function tryLock(
  transaction: Transaction,
  lock_class: number,
  name: string,
): Promise<boolean> {
  const [lock] = await transaction.query<{ taken: boolean }>(
    'select pg_try_advisory_xact_lock($1, hashtext($2)) as taken',
    [lock_class, name],
  )
  return lock!.taken
}

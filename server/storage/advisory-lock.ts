import type { Transaction } from './database.ts'

/**
 * Tries to take an advisory lock for the rest of the transaction. `lock_class` is the kind of the
 * locked thing, `name` its id. Returns false at once when another session holds the lock.
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

/**
 * After wrong passwords in a row an address is locked out for a while, each time longer. Also an
 * address that nobody has: who guesses learns nothing from it.
 */
import type { Clock } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'

const free_failures = 5
const first_lock_s = 30
const longest_lock_s = 3600
/** Without a failure for so long it begins anew. */
const forgotten_s = 86_400

export interface SignInLock {
  /** Seconds that the address has to wait; 0: none. */
  waitOf(email: string): Promise<number>
  note(email: string, outcome: { is_refused: boolean }): Promise<void>
}

/** How long an address is locked out after so many failures in a row. */
export const lockSeconds = (failures: number): number =>
  failures < free_failures
    ? 0
    : Math.min(longest_lock_s, first_lock_s * 2 ** Math.min(20, failures - free_failures))

export function createSignInLock(db: Database, clock: Clock): SignInLock {
  const keyOf = (email: string) => email.replaceAll('\0', '').trim().toLowerCase().slice(0, 254)
  return {
    async waitOf(email) {
      const [row] = await db.query<{ locked_until: Date }>(
        'select locked_until from sign_in_failures where email = $1 and locked_until > $2',
        [keyOf(email), clock.now()],
      )
      return row ? Math.ceil((row.locked_until.getTime() - clock.now().getTime()) / 1000) : 0
    },
    async note(email, { is_refused }) {
      const now = clock.now()
      if (!is_refused) {
        await db.execute('delete from sign_in_failures where email = $1', [keyOf(email)])
        return
      }
      const [{ failures } = { failures: 0 }] = await db.query<{ failures: number }>(
        `insert into sign_in_failures as f (email, failures, failed_at) values ($1, 1, $2)
         on conflict (email) do update
           set failures = case when f.failed_at > $3 then f.failures + 1 else 1 end, failed_at = $2
         returning failures`,
        [keyOf(email), now, new Date(now.getTime() - forgotten_s * 1000)],
      )
      const lock_s = lockSeconds(failures)
      if (lock_s === 0) return
      await db.execute('update sign_in_failures set locked_until = $2 where email = $1', [
        keyOf(email),
        new Date(now.getTime() + lock_s * 1000),
      ])
    },
  }
}

/** Forgets addresses that failed long ago, and sessions and links that are over. */
export async function forgetSignIns(db: Pick<Database, 'execute'>, now: Date): Promise<void> {
  const long_ago = new Date(now.getTime() - forgotten_s * 1000)
  await db.execute('delete from sign_in_failures where failed_at <= $1', [long_ago])
  await db.execute('delete from user_sessions where expires_at <= $1', [now])
  await db.execute('delete from user_verifications where expires_at <= $1', [now])
  await db.execute('delete from sign_in_rates where last_request < $1', [long_ago.getTime()])
}

/**
 * The lock-out after consecutive wrong passwords, with growing duration. It applies to unknown
 * addresses too, so that it does not reveal accounts. Known devices are counted separately, so that
 * strangers cannot lock out the owner of an account.
 */
import { day_ms } from '@heliograph/domain/durations'
import type { Context } from '../http/context.ts'
import type { Database, Queries } from '../storage/database.ts'
import { auditSignIn, type SignInEvent } from './sign-in-audit.ts'

type Parts = Pick<Context, 'clock' | 'db'>

const free_failures = 5
const first_lock_s = 30
const longest_lock_s = 3600
/** The count restarts after this time without a failure. */
const forgotten_s = 86_400
/** The audit keeps who enrolled which gateway for longer. */
const enrolments_kept_ms = 30 * day_ms

/** A password attempt for an account. */
interface Try {
  email: string
  /** Id of a known device; '' for all others. */
  device: string
}

/** An attempt that was counted as failed before its password was checked. */
export interface CountedTry extends Try {
  /** Consecutive failures, including this one. */
  failures: number
}

/** Duration of the lock-out after consecutive failures. */
const lockSeconds = (failures: number): number =>
  failures < free_failures
    ? 0
    : Math.min(longest_lock_s, first_lock_s * 2 ** Math.min(20, failures - free_failures))

/** The canonical form of a mail address. */
export const addressKey = (email: string) =>
  email.replaceAll('\0', '').trim().toLowerCase().slice(0, 254)

const keyOf = ({ email, device }: Try) => [addressKey(email), device]

/**
 * Counts an attempt as failed, unless the account is locked: `wait_s` is then the remaining time.
 * Attempts are counted before the check, so that concurrent guesses do not evade the limit.
 */
export async function countTry(
  { db, clock }: Parts,
  tried: Try,
): Promise<CountedTry & { wait_s: number }> {
  const at = clock.now()
  const long_ago = new Date(at.getTime() - forgotten_s * 1000)
  return db.transaction(async (tx) => {
    const [counted] = await tx.query<{ failures: number }>(
      `insert into sign_in_failures as f (email, device, failures, failed_at)
       values ($1, $2, 1, $3)
       on conflict (email, device) do update
         set failures = case when f.failed_at > $4 then f.failures + 1 else 1 end,
           failed_at = $3
         where f.locked_until is null or f.locked_until <= $3
       returning failures`,
      [...keyOf(tried), at, long_ago],
    )
    if (!counted) return { ...tried, failures: 0, wait_s: await waitOf(tx, keyOf(tried), at) }
    const locked_s = lockSeconds(counted.failures)
    if (locked_s > 0) {
      await tx.execute(
        'update sign_in_failures set locked_until = $3 where email = $1 and device = $2',
        [...keyOf(tried), new Date(at.getTime() + locked_s * 1000)],
      )
    }
    return { ...tried, ...counted, wait_s: 0 }
  })
}

/**
 * Records a wrong password. Of consecutive failures only the first and each lock-out are audited,
 * to bound the size of the log.
 */
export async function recordFailure(
  { db, clock }: Parts,
  { email, failures }: CountedTry,
  request: Pick<SignInEvent, 'path' | 'address' | 'request_id'>,
): Promise<void> {
  const locked_s = lockSeconds(failures)
  if (failures > 1 && locked_s === 0) return
  const details = { failures, locked_s }
  const event = { who: addressKey(email), at: clock.now(), ...request, status: 401, details }
  await auditSignIn(db, event)
}

/** Reverts the count, because the password was not checked or was right. */
export async function revertTry(db: Queries, tried: CountedTry): Promise<void> {
  await db.execute(
    `update sign_in_failures set failures = failures - 1,
       locked_until = case when failures > $3 then locked_until end
     where email = $1 and device = $2 and failures > 0`,
    [...keyOf(tried), tried.failures],
  )
}

/** Resets the count after a sign-in. */
export async function resetFailures(db: Queries, tried: Try): Promise<void> {
  await db.execute('delete from sign_in_failures where email = $1 and device = $2', keyOf(tried))
}

async function waitOf(db: Queries, key: readonly string[], at: Date): Promise<number> {
  const [row] = await db.query<{ locked_until: Date }>(
    'select locked_until from sign_in_failures where email = $1 and device = $2',
    key,
  )
  return Math.max(1, Math.ceil(((row?.locked_until.getTime() ?? 0) - at.getTime()) / 1000))
}

/** Deletes expired failures, used codes, sessions, links, rate counters and old enrolments. */
export async function deleteOldSignIns(db: Pick<Database, 'execute'>, now: Date): Promise<void> {
  const long_ago = new Date(now.getTime() - forgotten_s * 1000)
  await db.execute('delete from sign_in_failures where failed_at <= $1', [long_ago])
  await db.execute('delete from user_codes_taken where taken_at <= $1', [long_ago])
  await db.execute('delete from user_sessions where expires_at <= $1', [now])
  await db.execute('delete from user_verifications where expires_at <= $1', [now])
  await db.execute('delete from sign_in_rates where last_request < $1', [long_ago.getTime()])
  await db.execute('delete from enrolments where expires_at < $1', [
    new Date(now.getTime() - enrolments_kept_ms),
  ])
}

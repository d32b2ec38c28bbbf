/** What is done before and after the sign-in library answers: the lock-out, and the audit. */
import type { Clock } from '@heliograph/domain/clock'
import type { GenericEndpointContext } from 'better-auth'
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { address_header, request_id_header } from '../http/subtree.ts'
import { isMailAddress } from '../mail/address.ts'
import type { Database, Log } from '../storage/database.ts'
import { knownDevice, rememberDevice } from './known-device.ts'
import { endOtherResets, sendReset } from './resets.ts'
import { noteSignIn } from './sign-in-audit.ts'
import { addressKey, type CountedTry, type SignInLock } from './sign-in-lock.ts'

export const auth_path = '/platform/auth'

export interface SignInParts {
  db: Database
  clock: Clock
  lock: SignInLock
  log: Log
  /** Where browsers reach this server; null: by what address they used, and nothing is mailed. */
  public_url: string | null
}

const sign_in = '/sign-in/email'
const ask_reset = '/request-password-reset'
const use_reset = '/reset-password'

/** What is noted, beside trying a password. */
const noted: ReadonlySet<string> = new Set([
  '/sign-out',
  '/revoke-session',
  '/revoke-sessions',
  '/revoke-other-sessions',
  '/change-password',
  '/reset-password',
  '/two-factor/enable',
  '/two-factor/disable',
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/two-factor/generate-backup-codes',
])

/** What proves whose browser it is, beside a password without a second factor. */
const proving: ReadonlySet<string> = new Set([
  '/reset-password',
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
])

export function signInHooks(parts: SignInParts) {
  /** Who asks, found out before: afterwards the session or the link that told it may be gone. */
  const asking = new WeakMap<Request, string>()
  const counted: Counted = new WeakMap()
  return {
    before: createAuthMiddleware(async (ctx) => {
      refuseLoose(ctx.path, ctx.body ?? {})
      if (ctx.path === sign_in) return countTry(parts.lock, ctx, counted)
      if (ctx.path === ask_reset) return answerReset(parts, ctx)
      if (!noted.has(ctx.path) || !ctx.request) return
      const user_id = await whoAsks(ctx)
      if (user_id === null) return
      asking.set(ctx.request, user_id)
      if (ctx.path === use_reset) {
        await endOtherResets(parts.db, { user_id, token: String(ctx.body.token) })
      }
    }),
    after: createAuthMiddleware(async (ctx) => {
      if (ctx.path === sign_in) return afterPassword(parts, ctx, counted)
      const who = ctx.request && asking.get(ctx.request)
      if (who !== undefined) await afterOther(parts, ctx, who)
    }),
  }
}

/** Tries of a password that are counted, and whose outcome is yet to come. */
type Counted = WeakMap<Request, CountedTry>

async function countTry(
  lock: SignInLock,
  ctx: GenericEndpointContext,
  counted: Counted,
): Promise<void> {
  const { email } = ctx.body ?? {}
  if (typeof email !== 'string' || !ctx.request) return
  const { wait_s, ...tried } = await lock.count({ email, device: await knownDevice(ctx, email) })
  if (wait_s === 0) {
    counted.set(ctx.request, tried)
    return
  }
  throw new APIError('TOO_MANY_REQUESTS', {
    code: 'LOCKED_OUT',
    message: `Too many wrong passwords: try again in ${wait_s} seconds.`,
    retry_after_s: wait_s,
  })
}

/**
 * In place of the library, which does more where somebody has the address: its answer takes longer
 * then. Here it is given before anything is looked up.
 */
function answerReset({ db, clock, log, public_url }: SignInParts, ctx: GenericEndpointContext) {
  const { email } = ctx.body ?? {}
  if (typeof email !== 'string' || !isMailAddress(email)) {
    throw new APIError('BAD_REQUEST', { message: 'email must be a mail address.' })
  }
  const asked = { who: addressKey(email), at: clock.now(), ...askedOf(ctx), status: 200 }
  sendReset(db, asked, public_url).catch((error) => {
    log.error(
      { err: error, request_id: asked.request_id },
      'a link to a new password could not be mailed',
    )
  })
  return { status: true }
}

async function afterPassword(
  { db, clock, lock }: SignInParts,
  ctx: GenericEndpointContext,
  counted: Counted,
): Promise<void> {
  const tried = ctx.request && counted.get(ctx.request)
  if (!tried) return
  const { email } = tried
  const asked = askedOf(ctx)
  const refusal = refusalOf(ctx)
  const code = refusal?.body?.code
  if (code === 'INVALID_EMAIL_OR_PASSWORD') return lock.refused(tried, asked)
  // Any other refusal says nothing of the password, except that a disabled person has it.
  if (refusal) await lock.giveBack(tried)
  if (refusal && code !== 'FAILED_TO_CREATE_SESSION') return
  const status = refusal?.statusCode ?? 200
  await noteSignIn(db, { who: addressKey(email), at: clock.now(), ...asked, status })
  if (refusal) return
  await lock.passed(tried)
  const is_in = !ctx.context.newSession?.user['twoFactorEnabled']
  if (is_in) await rememberDevice(ctx, { email, path: auth_path })
}

async function afterOther(
  { db, clock, lock }: SignInParts,
  ctx: GenericEndpointContext,
  who: string,
): Promise<void> {
  const status = refusalOf(ctx)?.statusCode ?? 200
  // Past a limit nothing is looked at, and could come without end.
  if (status === 429) return
  const details = status === 401 ? await codeFailures(db, who) : undefined
  await noteSignIn(db, { who, at: clock.now(), ...askedOf(ctx), status, details })
  if (status !== 200 || !proving.has(ctx.path)) return
  const user = await ctx.context.internalAdapter.findUserById(who)
  if (!user) return
  await lock.passed({ email: user.email, device: await knownDevice(ctx, user.email) })
  await rememberDevice(ctx, { email: user.email, path: auth_path })
}

/** Wrong codes in a row, which the library counts: after ten it takes none for 15 minutes. */
async function codeFailures(db: Database, user_id: string): Promise<object | undefined> {
  const [row] = await db.query<object>(
    `select failed_verification_count as failures, locked_until from user_two_factors
     where user_id = $1 and failed_verification_count > 0`,
    [user_id],
  )
  return row
}

const askedOf = ({ path, headers }: GenericEndpointContext) => ({
  path: `${auth_path}${path}`,
  address: headers?.get(address_header) ?? null,
  request_id: headers?.get(request_id_header) ?? null,
})

function refusalOf({ context }: GenericEndpointContext): APIError | null {
  const { returned } = context as { returned?: unknown }
  return returned instanceof APIError ? returned : null
}

/** By the session, the password that was right before the second factor, or the link. */
async function whoAsks(ctx: GenericEndpointContext): Promise<string | null> {
  const { path, context, body } = ctx
  const owner = async (identifier: string) =>
    (await context.internalAdapter.findVerificationValue(identifier))?.value ?? null
  if (path === '/reset-password') return owner(`reset-password:${body?.token}`)
  const session = await getSessionFromCtx(ctx, { disableRefresh: true })
  if (session) {
    refuseNeedless(path, session.user)
    return session.user.id
  }
  const { name } = context.createAuthCookie('two_factor')
  const challenge = await ctx.getSignedCookie(name, context.secret)
  return challenge ? owner(challenge) : null
}

/** A code that opens no session would be none that was taken. */
function refuseNeedless(path: string, user: Record<string, unknown>): void {
  if (path.startsWith('/two-factor/verify-') && user['twoFactorEnabled']) {
    throw new APIError('BAD_REQUEST', { message: 'Who is signed in is asked for no code.' })
  }
}

/** The library would trust a device without its code, and leave sessions to an old password. */
function refuseLoose(path: string, body: Record<string, unknown>): void {
  if (path.startsWith('/two-factor/') && body['trustDevice']) {
    throw new APIError('BAD_REQUEST', { message: 'No device is trusted without its code.' })
  }
  if (path === '/change-password' && body['revokeOtherSessions'] !== true) {
    throw new APIError('BAD_REQUEST', { message: 'revokeOtherSessions must be true.' })
  }
}

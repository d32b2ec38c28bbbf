/** Hooks of the sign-in library for the lock-out and the audit log. */
import type { GenericEndpointContext } from 'better-auth'
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import type { Context } from '../http/context.ts'
import { address_header, request_id_header } from '../http/subtree.ts'
import { isMailAddress } from '../mail/address.ts'
import type { Log, Queries } from '../storage/database.ts'
import { knownDevice, rememberDevice } from './known-device.ts'
import { endOtherResets, sendReset } from './resets.ts'
import { auditSignIn } from './sign-in-audit.ts'
import {
  addressKey,
  type CountedTry,
  countTry,
  recordFailure,
  resetFailures,
  revertTry,
} from './sign-in-lock.ts'

export const auth_path = '/platform/auth'

export interface SignInParts extends Pick<Context, 'clock' | 'db'> {
  log: Log
  /** The address that browsers use; null when not configured: then no links are mailed. */
  public_url: string | null
}

const sign_in = '/sign-in/email'
const ask_reset = '/request-password-reset'
const use_reset = '/reset-password'

/** Audited operations, in addition to password sign-ins. */
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

/** Operations that make a device known, in addition to sign-ins without a second factor. */
const proving: ReadonlySet<string> = new Set([
  '/reset-password',
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
])

export function signInHooks(parts: SignInParts) {
  /**
   * The user of a request, read before it runs: it may delete the session or link that names him.
   */
  const asking = new WeakMap<Request, string>()
  const counted: Counted = new WeakMap()
  return {
    before: createAuthMiddleware(async (ctx) => {
      refuseLoose(ctx.path, ctx.body ?? {})
      if (ctx.path === sign_in) return beforePassword(parts, ctx, counted)
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

/** Counted password attempts with a pending outcome. */
type Counted = WeakMap<Request, CountedTry>

async function beforePassword(
  parts: SignInParts,
  ctx: GenericEndpointContext,
  counted: Counted,
): Promise<void> {
  const { email } = ctx.body ?? {}
  if (typeof email !== 'string' || !ctx.request) return
  const { wait_s, ...tried } = await countTry(parts, {
    email,
    device: await knownDevice(ctx, email),
  })
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
 * Replaces the library, whose answer takes longer for known addresses. This answer is sent before
 * the address is looked up.
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
      'the mail of a password reset could not be queued',
    )
  })
  return { status: true }
}

async function afterPassword(
  parts: SignInParts,
  ctx: GenericEndpointContext,
  counted: Counted,
): Promise<void> {
  const { db, clock } = parts
  const tried = ctx.request && counted.get(ctx.request)
  if (!tried) return
  const { email } = tried
  const asked = askedOf(ctx)
  const refusal = refusalOf(ctx)
  const code = refusal?.body?.code
  if (code === 'INVALID_EMAIL_OR_PASSWORD') return recordFailure(parts, tried, asked)
  // Other refusals come before the password check, except that for a disabled user.
  if (refusal) await revertTry(db, tried)
  if (refusal && code !== 'FAILED_TO_CREATE_SESSION') return
  const status = refusal?.statusCode ?? 200
  await auditSignIn(db, { who: addressKey(email), at: clock.now(), ...asked, status })
  if (refusal) return
  await resetFailures(db, tried)
  const is_in = !ctx.context.newSession?.user['twoFactorEnabled']
  if (is_in) await rememberDevice(ctx, { email, path: auth_path })
}

async function afterOther(
  { db, clock }: SignInParts,
  ctx: GenericEndpointContext,
  who: string,
): Promise<void> {
  const status = refusalOf(ctx)?.statusCode ?? 200
  // Rate-limited requests are not processed, and may be countless.
  if (status === 429) return
  const details = status === 401 ? await codeFailures(db, who) : null
  await auditSignIn(db, { who, at: clock.now(), ...askedOf(ctx), status, details })
  if (status !== 200 || !proving.has(ctx.path)) return
  const user = await ctx.context.internalAdapter.findUserById(who)
  if (!user) return
  await resetFailures(db, { email: user.email, device: await knownDevice(ctx, user.email) })
  await rememberDevice(ctx, { email: user.email, path: auth_path })
}

/** Consecutive wrong codes, as counted by the library, which locks for 15 minutes after ten. */
const codeFailures = (db: Queries, user_id: string) =>
  db.queryOne<object>(
    `select failed_verification_count as failures, locked_until from user_two_factors
     where user_id = $1 and failed_verification_count > 0`,
    [user_id],
  )

const askedOf = ({ path, headers }: GenericEndpointContext) => ({
  path: `${auth_path}${path}`,
  address: headers?.get(address_header) ?? null,
  request_id: headers?.get(request_id_header) ?? null,
})

function refusalOf({ context }: GenericEndpointContext): APIError | null {
  const { returned } = context as { returned?: unknown }
  return returned instanceof APIError ? returned : null
}

/** The user by session, by the pending second factor after a right password, or by reset link. */
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

/** A code that creates no session would not be marked as used. */
function refuseNeedless(path: string, user: Record<string, unknown>): void {
  if (path.startsWith('/two-factor/verify-') && user['twoFactorEnabled']) {
    throw new APIError('BAD_REQUEST', { message: 'You are already signed in.' })
  }
}

/** Rejects options of the library that weaken security: trusted devices, and kept sessions. */
function refuseLoose(path: string, body: Record<string, unknown>): void {
  if (path.startsWith('/two-factor/') && body['trustDevice']) {
    throw new APIError('BAD_REQUEST', { message: 'trustDevice is not supported.' })
  }
  if (path === '/change-password' && body['revokeOtherSessions'] !== true) {
    throw new APIError('BAD_REQUEST', { message: 'revokeOtherSessions must be true.' })
  }
}

/**
 * Signing in, by better-auth: sessions in the database, passwords as argon2id, an optional second
 * factor by time (RFC 6238) with codes to fall back on. Nobody signs up: accounts come from
 * invitations. What of the library's addresses is not needed does not exist.
 */
import { randomBytes } from 'node:crypto'
import { betterAuth } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins'
import type pg from 'pg'
import { address_header } from '../http/subtree.ts'
import type { Log } from '../storage/database.ts'
import {
  hashPassword,
  isPasswordOf,
  password_characters_max,
  password_characters_min,
} from './passwords.ts'
import type { SignInLock } from './sign-in-lock.ts'

export const auth_path = '/platform/auth'
const session_s = 7 * 86_400
const day_s = 86_400
const reset_s = 3600

export const newUserId = () => `user_${randomBytes(6).toString('hex')}`

export interface AuthParts {
  pool: pg.Pool
  secret: string
  lock: SignInLock
  log: Log
  /** Where browsers reach this server; null: by the address that they used. */
  public_url: string | null
  is_encrypted: boolean
  /** Queues the mail with the link to a new password. */
  sendReset(to: { user_id: string; email: string; token: string }): Promise<void>
}

export type Auth = ReturnType<typeof createAuth>

export function createAuth(parts: AuthParts) {
  const { pool, secret, lock, log, public_url, is_encrypted, sendReset } = parts
  return betterAuth({
    appName: 'Heliograph',
    basePath: auth_path,
    ...(public_url !== null && { baseURL: public_url }),
    trustedOrigins: (request) => (request && public_url === null ? [ownOrigin(request)] : []),
    secret,
    database: pool,
    telemetry: { enabled: false },
    logger: { log: (level, message) => level === 'error' && log.error({}, `sign-in: ${message}`) },
    ...tables,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: password_characters_min,
      // The library counts halves of characters.
      maxPasswordLength: 2 * password_characters_max,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }) => isPasswordOf(hash, password),
      },
      resetPasswordTokenExpiresIn: reset_s,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        sendReset({ user_id: user.id, email: user.email, token }),
    },
    plugins: [twoFactor({ issuer: 'Heliograph', schema: twoFactorTable })],
    rateLimit: rates,
    hooks: {
      before: createAuthMiddleware(async ({ path, body }) => {
        refuseLoose(path, body ?? {})
        if (path !== '/sign-in/email' || typeof body?.email !== 'string') return
        const wait_s = await lock.waitOf(body.email)
        if (wait_s === 0) return
        throw new APIError('TOO_MANY_REQUESTS', {
          code: 'LOCKED_OUT',
          message: `Too many wrong passwords: try again in ${wait_s} seconds.`,
          retry_after_s: wait_s,
        })
      }),
      after: createAuthMiddleware(async ({ path, body, context }) => {
        if (path !== '/sign-in/email' || typeof body?.email !== 'string') return
        const { returned } = context
        // What is refused for another reason says nothing of the password.
        const is_refused =
          returned instanceof APIError && returned.body?.code === 'INVALID_EMAIL_OR_PASSWORD'
        if (is_refused || !(returned instanceof APIError)) {
          await lock.note(body.email, { is_refused })
        }
      }),
    },
    databaseHooks: {
      session: { create: { before: async ({ userId }) => !(await isDisabled(pool, userId)) } },
    },
    advanced: {
      cookiePrefix: 'heliograph',
      useSecureCookies: is_encrypted || public_url?.startsWith('https:') === true,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict' },
      ipAddress: { ipAddressHeaders: [address_header] },
      database: {
        generateId: ({ model }) =>
          model === 'users' || model === 'user' ? newUserId() : randomBytes(16).toString('hex'),
      },
    },
  })
}

/** Tries of one network address, on all servers together. */
const rates = {
  enabled: true,
  storage: 'database',
  modelName: 'sign_in_rates',
  fields: { lastRequest: 'last_request' },
  window: 60,
  max: 60,
  customRules: {
    '/sign-in/email': { window: 60, max: 10 },
    '/two-factor/*': { window: 60, max: 10 },
    '/request-password-reset': { window: 60, max: 3 },
    '/reset-password': { window: 60, max: 5 },
  },
} as const

const ownOrigin = (request: Request) => new URL(request.url).origin

const stamps = { createdAt: 'created_at', updatedAt: 'updated_at' }

const tables = {
  user: {
    modelName: 'users',
    fields: { ...stamps, emailVerified: 'email_verified' },
    additionalFields: {
      client_id: { type: 'number', input: false },
      role: { type: 'string', input: false },
      disabled_at: { type: 'date', input: false, required: false },
    },
  },
  session: {
    modelName: 'user_sessions',
    fields: {
      ...stamps,
      ...{ userId: 'user_id', expiresAt: 'expires_at' },
      ...{ ipAddress: 'ip_address', userAgent: 'user_agent' },
    },
    expiresIn: session_s,
    updateAge: day_s,
    storeSessionInDatabase: true,
  },
  account: {
    modelName: 'user_accounts',
    fields: {
      ...stamps,
      ...{ userId: 'user_id', accountId: 'account_id', providerId: 'provider_id' },
      ...{ accessToken: 'access_token', refreshToken: 'refresh_token', idToken: 'id_token' },
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
    },
  },
  verification: {
    modelName: 'user_verifications',
    fields: { ...stamps, expiresAt: 'expires_at' },
    storeIdentifier: 'hashed',
  },
} as const

const twoFactorTable = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'user_two_factors',
    fields: {
      ...{ userId: 'user_id', backupCodes: 'backup_codes', lockedUntil: 'locked_until' },
      failedVerificationCount: 'failed_verification_count',
    },
  },
}

/** What of the library is asked: nothing else of it exists. */
export const auth_operations: ReadonlySet<string> = new Set([
  ...['/sign-in/email', '/sign-out', '/get-session', '/list-sessions', '/revoke-session'],
  ...['/revoke-sessions', '/revoke-other-sessions', '/change-password'],
  ...['/request-password-reset', '/reset-password'],
  ...['/two-factor/enable', '/two-factor/disable', '/two-factor/verify-totp'],
  ...['/two-factor/verify-backup-code', '/two-factor/generate-backup-codes'],
])

/** The library would trust a device without its code, and leave sessions to an old password. */
function refuseLoose(path: string, body: Record<string, unknown>): void {
  if (path.startsWith('/two-factor/') && body['trustDevice']) {
    throw new APIError('BAD_REQUEST', { message: 'No device is trusted without its code.' })
  }
  if (path === '/change-password' && body['revokeOtherSessions'] !== true) {
    throw new APIError('BAD_REQUEST', { message: 'revokeOtherSessions must be true.' })
  }
}

async function isDisabled(pool: pg.Pool, user_id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from users where id = $1 and disabled_at is not null',
    [user_id],
  )
  return rowCount !== 0
}

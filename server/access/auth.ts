/**
 * Sign-in with better-auth: sessions in the database, passwords as argon2id, optional TOTP as
 * second factor (RFC 6238) with backup codes. Accounts are created by invitation only. Unused paths
 * of the library are not served.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import { betterAuth, type GenericEndpointContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins'
import type pg from 'pg'
import { ApiError } from '../http/errors.ts'
import { address_header } from '../http/subtree.ts'
import {
  hashPassword,
  isPasswordOf,
  password_characters_max,
  password_characters_min,
} from './passwords.ts'
import { auth_path, type SignInParts, signInHooks } from './sign-in-hooks.ts'
import { signInLog } from './sign-in-log.ts'
import { newUserId } from './users.ts'

const day_s = 86_400
const session_s = 7 * day_s
const cookie_s = 400 * day_s

interface AuthParts extends SignInParts {
  pool: pg.Pool
  secret: string
  is_encrypted: boolean
}

export type Auth = ReturnType<typeof createAuth>

export function createAuth(parts: AuthParts) {
  const { pool, clock, secret, log, public_url, is_encrypted } = parts
  return betterAuth({
    appName: 'Heliograph',
    basePath: auth_path,
    ...(public_url !== null && { baseURL: public_url }),
    trustedOrigins: (request) => (request && public_url === null ? [ownOrigin(request)] : []),
    secret,
    database: pool,
    telemetry: { enabled: false },
    logger: { log: signInLog(log, clock) },
    ...tables,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: password_characters_min,
      // The library counts UTF-16 code units.
      maxPasswordLength: 2 * password_characters_max,
      password: {
        hash: (password) => hashPassword(password).catch(refuse),
        verify: ({ hash, password }) => isPasswordOf(hash, password).catch(refuse),
      },
      revokeSessionsOnPasswordReset: true,
    },
    plugins: [twoFactor({ issuer: 'Heliograph', schema: twoFactorTable })],
    rateLimit: rates,
    hooks: signInHooks(parts),
    databaseHooks: {
      session: {
        create: {
          before: async ({ userId }, ctx) => {
            if (await isDisabled(pool, userId)) return false
            await refuseTakenCode(pool, userId, ctx)
            return { data: { expiresAt: sessionEnd(clock) } }
          },
        },
        update: {
          before: async ({ expiresAt }) =>
            expiresAt ? { data: { expiresAt: sessionEnd(clock) } } : undefined,
        },
      },
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

/** Converts a full queue to an error of the library, which answers other errors with 500. */
function refuse(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'service_unavailable') throw error
  throw new APIError(
    'SERVICE_UNAVAILABLE',
    { code: 'SERVICE_UNAVAILABLE', message: 'Too many sign-ins at once. Try again in a moment.' },
    error.headers,
  )
}

/** Requests per network address and path, across all servers. */
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
    '/change-password': { window: 60, max: 10 },
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
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
    },
    // The library would expire the cookie with the session and renew it only for
    // `/get-session`. So the cookie lives longer than the session, which expires by its row
    // (`sessionEnd`). Each request renews a row that is older than a day.
    expiresIn: cookie_s,
    updateAge: cookie_s - session_s + day_s,
    storeSessionInDatabase: true,
  },
  account: {
    modelName: 'user_accounts',
    fields: {
      ...stamps,
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
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
      userId: 'user_id',
      backupCodes: 'backup_codes',
      lockedUntil: 'locked_until',
      failedVerificationCount: 'failed_verification_count',
    },
  },
}

/** The served paths of the library. */
export const auth_operations: ReadonlySet<string> = new Set([
  '/sign-in/email',
  '/sign-out',
  '/get-session',
  '/list-sessions',
  '/revoke-session',
  '/revoke-sessions',
  '/revoke-other-sessions',
  '/change-password',
  '/request-password-reset',
  '/reset-password',
  '/two-factor/enable',
  '/two-factor/disable',
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/two-factor/generate-backup-codes',
])

const sessionEnd = (clock: Clock) => new Date(clock.now().getTime() + session_s * 1000)

/**
 * A code works once (RFC 6238 §5.2). Inserting its row when the session is created decides between
 * concurrent requests on all servers.
 */
async function refuseTakenCode(
  pool: pg.Pool,
  user_id: string,
  ctx: GenericEndpointContext | null,
): Promise<void> {
  if (ctx?.path !== '/two-factor/verify-totp') return
  const { rowCount } = await pool.query(
    'insert into user_codes_taken (user_id, code) values ($1, $2) on conflict do nothing',
    [user_id, ctx.body.code],
  )
  if (rowCount === 0) {
    throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE', message: 'Invalid code' })
  }
}

async function isDisabled(pool: pg.Pool, user_id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from users where id = $1 and disabled_at is not null',
    [user_id],
  )
  return rowCount !== 0
}

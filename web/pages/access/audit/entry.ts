/** Descriptions of entries of the audit where method and path are not clear by themselves. */
import type { PlatformAuditEntry } from '../../../generated/platform.ts'

const auth = '/platform/auth'

const words: Readonly<Record<string, string>> = {
  [`${auth}/sign-in/email`]: 'Sign-in: password',
  [`${auth}/two-factor/verify-totp`]: 'Second factor: code',
  [`${auth}/two-factor/verify-backup-code`]: 'Second factor: backup code',
  [`${auth}/two-factor/enable`]: 'Second factor: prepared',
  [`${auth}/two-factor/disable`]: 'Second factor: removed',
  [`${auth}/two-factor/generate-backup-codes`]: 'Second factor: new backup codes',
  [`${auth}/sign-out`]: 'Sign-out',
  [`${auth}/request-password-reset`]: 'Password reset requested',
  [`${auth}/change-password`]: 'Password changed',
  [`${auth}/reset-password`]: 'Password reset by link',
  [`${auth}/revoke-session`]: 'Session ended',
  [`${auth}/revoke-sessions`]: 'Sessions ended',
  [`${auth}/revoke-other-sessions`]: 'Other sessions ended',
  '/platform/invitations/accept': 'Invitation accepted',
  '/platform/proposals/approve': 'Proposal of an agent approved',
  '/platform/proposals/reject': 'Proposal of an agent rejected',
}

const hasLockedOut = ({ status, body }: PlatformAuditEntry) =>
  status === 401 && /"locked_s":[1-9]|"locked_until":"/.test(body ?? '')

export function whatOf(entry: PlatformAuditEntry): string {
  const { method, path, site_id } = entry
  const what = words[path] ?? `${method} ${path}${site_id ? ` at ${site_id}` : ''}`
  return hasLockedOut(entry) ? `${what}, locked out` : what
}

export const isDone = ({ status }: PlatformAuditEntry) => status !== null && status < 400

/** Kind of `by`. Refused sign-ins and reset requests may come from anybody. */
export function kindOf({ by, path, status }: PlatformAuditEntry): string {
  if (by === 'operator') return 'command line'
  const is_anybody =
    path === `${auth}/request-password-reset` ||
    (path === `${auth}/sign-in/email` && status !== 200)
  if (is_anybody) return 'named account'
  return by.startsWith('user_') ? 'person' : 'key'
}

/** The rules of `heliograph doctor`: what is well, and what to do about the rest. */
import { type Check, failure, ok, warning } from '@heliograph/domain/check'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { median } from '@heliograph/domain/median'
import { compareVersions } from '@heliograph/domain/version'
import type { BackupResults } from '../storage/scheduled-backups.ts'

interface DatabaseFacts {
  version: string
  is_embedded: boolean
  answer_ms: number
}

/** A statement that reads nothing takes less than a millisecond on the same machine. */
const slow_answer_ms = 100

export function databaseCheck({ version, is_embedded, answer_ms }: DatabaseFacts): Check {
  const where = is_embedded ? 'embedded' : 'DATABASE_URL'
  const finding = `PostgreSQL ${version} (${where}), answers in ${Math.ceil(answer_ms)} ms`
  if (answer_ms <= slow_answer_ms) return ok('database', finding)
  return warning('database', finding, 'Look for load on the machine and the disk of the database.')
}

interface ClockFacts {
  /** By systemd; null where it cannot be asked. */
  is_synchronised: boolean | null
  /** How far the clocks of connected edges are ahead of this one. */
  edges_ahead_ms: readonly number[]
}

const clock_ms_max = 5000

export function clockCheck({ is_synchronised, edges_ahead_ms }: ClockFacts): Check {
  const action = 'Let NTP set the clock: timedatectl set-ntp true'
  const ahead_ms = median(edges_ahead_ms)
  const compared =
    ahead_ms === null
      ? 'no connected edge to compare with'
      : `${(Math.abs(ahead_ms) / 1000).toFixed(1)} s ${ahead_ms > 0 ? 'behind' : 'ahead of'} its edges ` +
        `(median of ${edges_ahead_ms.length})`
  if (is_synchronised === false) return warning('clock', `not set by NTP; ${compared}`, action)
  if (ahead_ms !== null && Math.abs(ahead_ms) > clock_ms_max) {
    return warning('clock', compared, `${action}, here or at the edges.`)
  }
  return ok('clock', is_synchronised ? `set by NTP; ${compared}` : compared)
}

interface MailFacts {
  /** null without a mail server. */
  host: string | null
  waiting_since_at: Date | null
  failed_count: number
}

export function mailCheck({ host, waiting_since_at, failed_count }: MailFacts, now: Date): Check {
  if (host === null) {
    const action = 'Set SMTP_URL and MAIL_FROM, or watch alerts on the platform.'
    return warning('mail', 'no mail server: alerts and reports are not mailed', action)
  }
  const action = 'See heliograph mail list, then heliograph mail test with an address.'
  if (waiting_since_at && now.getTime() - waiting_since_at.getTime() > hour_ms) {
    return failure('mail', `${host}: mails wait since ${minuteOf(waiting_since_at)}`, action)
  }
  if (failed_count > 0) return warning('mail', `${host}: ${failed_count} mails failed`, action)
  return ok('mail', `${host}: no mail waits longer than an hour`)
}

const minuteOf = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

interface BackupFacts extends BackupResults {
  /** null without a schedule. */
  dir: string | null
  is_embedded: boolean
}

/** Of a daily backup that takes up to two hours. */
const backup_ms_max = 26 * hour_ms
const verified_ms_max = 31 * day_ms

export function backupCheck(facts: BackupFacts, now: Date): Check {
  const { dir, is_embedded, last, made, verified } = facts
  const age_ms = (at: Date) => now.getTime() - at.getTime()
  if (!is_embedded) return ok('backups', 'the database has its own server: back it up there')
  if (dir === null) {
    const action = 'Set BACKUP_DIR, best on another disk, and restart the server.'
    return warning('backups', 'no backups are made', action)
  }
  if (last?.error) {
    const finding = `failed at ${minuteOf(last.started_at)}: ${last.error}`
    return failure('backups', finding, `Check ${dir}, then run heliograph backup.`)
  }
  if (made === null) return warning('backups', 'none was made yet', 'Look again tomorrow.')
  const newest = `the newest has data until ${minuteOf(made.finished_at)}`
  if (age_ms(made.finished_at) > backup_ms_max) {
    return failure('backups', newest, 'Does a server run? journalctl -u heliograph-server')
  }
  const verify = `Run heliograph backup verify ${made.file}`
  if (verified?.verify_error) {
    const finding = `${verified.file} cannot be relied on: ${verified.verify_error}`
    return failure('backups', finding, `${verify}, and find the cause.`)
  }
  if (verified === null || age_ms(verified.verified_at) > verified_ms_max) {
    return warning('backups', `${newest}; none was restored for a test in the last month`, verify)
  }
  return ok(
    'backups',
    `${newest}; the last test of a restore was ${minuteOf(verified.verified_at)}`,
  )
}

interface EdgeFacts {
  site_id: string
  name: string
  agent_version: string | null
}

const listed_max = 5

export function edgesCheck(edges: readonly EdgeFacts[], server_version: string): Check {
  const others = edges.filter(
    ({ agent_version }) => agent_version !== null && agent_version !== server_version,
  )
  if (others.length === 0) return ok('edges', `${edges.length}, none of another version`)
  const named = others
    .slice(0, listed_max)
    .map(({ site_id, name, agent_version }) => `${name} of ${site_id} (${agent_version})`)
  const more = others.length > listed_max ? ` and ${others.length - listed_max} more` : ''
  const finding = `${others.length} of ${edges.length} of another version than ${server_version}: `
  const is_edge_older = others.some(
    (edge) => compareVersions(edge.agent_version!, server_version) < 0,
  )
  return warning(
    'edges',
    `${finding}${named.join(', ')}${more}`,
    is_edge_older
      ? `On each gateway: sudo apt install ./heliograph-edge_${server_version}_*.deb`
      : 'Install the newer version on this server too.',
  )
}

interface QueueFacts {
  /** The oldest run that should have started; null when none is due. */
  due_since_at: Date | null
  /** Jobs of which a run failed, after all of its retries, in the last day. */
  failed_jobs: readonly string[]
}

const lag_ms_warning = 5 * minute_ms
const lag_ms_max = 30 * minute_ms

export function queueCheck({ due_since_at, failed_jobs }: QueueFacts, now: Date): Check {
  const lag_ms = due_since_at ? now.getTime() - due_since_at.getTime() : 0
  const finding = `the oldest due job waits for ${Math.max(0, Math.round(lag_ms / minute_ms))} min`
  if (lag_ms > lag_ms_max) {
    return failure('queue', finding, 'Does a server run? journalctl -u heliograph-server')
  }
  if (failed_jobs.length > 0) {
    const jobs = failed_jobs.join(', ')
    return warning('queue', `failed in the last day: ${jobs}`, 'Read the log: "a job failed".')
  }
  if (lag_ms > lag_ms_warning) {
    return warning('queue', finding, 'Look for load on the machine, or for a job that hangs.')
  }
  return ok('queue', finding)
}

export const failed_since_ms = day_ms

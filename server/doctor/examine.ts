/** Examines the installation: one definition for `heliograph doctor` and the page. */
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import { certificateEnd } from '@heliograph/domain/certificate'
import {
  type Check,
  certificateCheck,
  diskCheck,
  failure,
  ok,
  warning,
} from '@heliograph/domain/check'
import type { Clock } from '@heliograph/domain/clock'
import { silence_ms_max } from '@heliograph/domain/link'
import { isLoopback } from '@heliograph/domain/loopback'
import { mailCounts } from '../mail/metrics.ts'
import type { Database } from '../storage/database.ts'
import { hasRow } from '../storage/rows.ts'
import { readBackupResults } from '../storage/scheduled-backups.ts'
import {
  backupCheck,
  clockCheck,
  databaseCheck,
  edgesCheck,
  failed_since_ms,
  mailCheck,
  queueCheck,
} from './checks.ts'

/** The settings of the server that the checks are about. */
export interface Installation {
  version: string
  data_dir: string
  database_url: string | null
  public_url: string | null
  tls: { cert: Buffer } | null
  mail: { host: string } | null
  backups: { dir: string } | null
}

interface Needs {
  db: Database
  clock: Clock
  installation: Installation
}

/** Edges of a client, or of all where the operator of the server asks. */
type Asked = { client_id: number | null }

/**
 * A check that cannot be made is an error itself, and the others go on. One of several clients
 * learns nothing of the server's paths, jobs and mails.
 */
export async function examine(needs: Needs, asked: Asked): Promise<Check[]> {
  const is_for_one = asked.client_id !== null && (await hasSeveralClients(needs.db))
  const edges = { edges: () => examineEdges(needs, asked) }
  const checks: Record<string, () => Promise<Check>> = is_for_one
    ? edges
    : {
        database: () => examineDatabase(needs),
        disk: () => examineDisk(needs.installation),
        clock: () => examineClock(needs),
        certificate: () => examineCertificate(needs),
        mail: () => examineMail(needs),
        backups: () => examineBackups(needs),
        ...edges,
        queue: () => examineQueue(needs),
      }
  return Promise.all(
    Object.entries(checks).map(([name, check]) =>
      check().catch((error: Error) =>
        failure(name, `cannot be checked: ${error.message}`, 'Read the log of the server.'),
      ),
    ),
  )
}

const hasSeveralClients = (db: Database) => hasRow(db, 'select from clients offset 1')

async function examineDatabase({ db, installation }: Needs): Promise<Check> {
  // The first statement may have to connect.
  await db.query('select 1')
  const began_ms = performance.now()
  const [row] = await db.query<{ version: string }>(
    `select split_part(current_setting('server_version'), ' ', 1) as version`,
  )
  const answer_ms = performance.now() - began_ms
  const is_embedded = installation.database_url === null
  return databaseCheck({ version: row!.version, is_embedded, answer_ms })
}

const gibibyte = 2 ** 30

async function examineDisk({ data_dir, database_url }: Installation): Promise<Check> {
  if (database_url !== null) return ok('disk', 'the database has its own server')
  const { bavail, bsize } = await statfs(data_dir)
  return diskCheck(data_dir, bavail * bsize, {
    // Writes are rejected from here on: see storage/disk-space.ts.
    min_bytes: gibibyte / 4,
    enough_bytes: 2 * gibibyte,
    action: 'Free space, add a disk, or shorten RETENTION_RAW_DAYS.',
  })
}

async function examineClock({ db, clock }: Needs): Promise<Check> {
  const edges = await db.query<{ ahead_ms: number }>(
    `select clock_offset_ms as ahead_ms from edges
     where revoked_at is null and clock_offset_ms is not null and last_seen_at > $1`,
    [new Date(clock.now().getTime() - silence_ms_max)],
  )
  const edges_ahead_ms = edges.map(({ ahead_ms }) => ahead_ms)
  return clockCheck({ is_synchronised: await isSynchronised(), edges_ahead_ms })
}

async function isSynchronised(): Promise<boolean | null> {
  const words = ['show', '--property=NTPSynchronized', '--value']
  const asking = promisify(execFile)('timedatectl', words, { timeout: 2000 })
  const answer = (await asking.catch(() => null))?.stdout.trim()
  return answer === 'yes' ? true : answer === 'no' ? false : null
}

const answer_ms_max = 5000

async function examineCertificate({ installation, clock }: Needs): Promise<Check> {
  const { public_url, tls } = installation
  const url = public_url === null ? null : new URL(public_url)
  const now = clock.now()
  if (url?.protocol === 'https:') {
    try {
      return certificateCheck(await certificateEnd(url, answer_ms_max), now)
    } catch (error) {
      const finding = `${url.host}: ${(error as Error).message}`
      return failure('certificate', finding, 'PUBLIC_URL must be served with a valid certificate.')
    }
  }
  if (tls) return certificateCheck(new Date(new X509Certificate(tls.cert).validTo), now)
  if (url && isLoopback(url.hostname)) return ok('certificate', `${url.host} needs none`)
  const action = 'Set TLS_CERT_FILE and TLS_KEY_FILE, or a proxy with TLS, and PUBLIC_URL.'
  const finding = url ? `${url.href} is not encrypted` : 'neither PUBLIC_URL nor TLS is set'
  return warning('certificate', finding, action)
}

async function examineMail({ db, clock, installation: { mail } }: Needs): Promise<Check> {
  const counts = await mailCounts(db)
  const waiting = counts.find(({ state }) => state === 'waiting')
  const facts = {
    host: mail?.host ?? null,
    waiting_since_at: waiting ? new Date(waiting.oldest_s * 1000) : null,
    failed_count: counts.find(({ state }) => state === 'failed')?.count ?? 0,
  }
  return mailCheck(facts, clock.now())
}

async function examineBackups({ db, clock, installation }: Needs): Promise<Check> {
  const dir = installation.backups?.dir ?? null
  const is_embedded = installation.database_url === null
  const results = await readBackupResults(db)
  return backupCheck({ ...results, dir, is_embedded }, clock.now())
}

async function examineEdges({ db, installation }: Needs, { client_id }: Asked): Promise<Check> {
  const edges = await db.query<{ site_id: string; name: string; agent_version: string | null }>(
    `select site_id, e.name, agent_version from edges e join sites s using (site_id)
     where revoked_at is null and ($1::int is null or client_id = $1)
     order by site_id, e.created_at`,
    [client_id],
  )
  return edgesCheck(edges, installation.version)
}

async function examineQueue({ db, clock }: Needs): Promise<Check> {
  const now = clock.now()
  const [queue] = await db.query<{ is_there: boolean }>(
    `select to_regclass('pgboss.job') is not null as is_there`,
  )
  if (!queue!.is_there) {
    return failure('queue', 'no server has run on this database yet', 'Start the server.')
  }
  const [due] = await db.query<{ since_at: Date | null }>(
    `select min(greatest(start_after, created_on)) as since_at from pgboss.job
     where state in ('created', 'retry') and start_after <= $1`,
    [now],
  )
  const failed = await db.query<{ name: string }>(
    `select distinct name from pgboss.job where state = 'failed' and completed_on > $1
     order by name`,
    [new Date(now.getTime() - failed_since_ms)],
  )
  const failed_jobs = failed.map(({ name }) => name)
  return queueCheck({ due_since_at: due?.since_at ?? null, failed_jobs }, now)
}

/** What `heliograph-edge setup` checks before it uses the code. */
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { certificateEnd } from '@heliograph/domain/certificate'
import {
  type Check,
  certificateCheck,
  diskCheck,
  failure,
  ok,
  warning,
} from '@heliograph/domain/check'
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import { isLoopback } from '@heliograph/domain/loopback'

const answer_ms_max = 10_000
/** Readings are `suspect` from here on: see plant-clock.ts. */
const clock_ms_suspect = 5000
const clock_ms_max = 60_000
const disk_bytes_min = 256 * 2 ** 20

interface Needs {
  clock: Clock
  stopwatch: Stopwatch
}

/** Address, clock and certificate of the server. The checks end at the first that fails. */
export async function checkServer(base: URL, { clock, stopwatch }: Needs): Promise<Check[]> {
  const began_ms = stopwatch.elapsedMs()
  let answer: Response
  try {
    const signal = AbortSignal.timeout(answer_ms_max)
    answer = await fetch(new URL('healthz', base), { redirect: 'manual', signal })
  } catch (error) {
    return [unreachable(base, error as Error)]
  }
  const took_ms = stopwatch.elapsedMs() - began_ms
  if (!answer.ok) {
    const location = answer.headers.get('location')
    const to = location ? `, to ${location}` : ''
    const finding = `${base.host} answers with status ${answer.status}${to}`
    return [failure('server', finding, 'Check the address: it must be that of the platform.')]
  }
  const server = ok('server', `${base.host} answers in ${Math.round(took_ms)} ms`)
  const clock_ahead_ms = aheadMs(answer.headers.get('date'), { now: clock.now(), took_ms })
  return [server, clockCheck(clock_ahead_ms), await encryptionCheck(base, clock.now())]
}

function unreachable(base: URL, error: Error): Check {
  const cause = error.cause as { code?: string; message?: string } | undefined
  const reason = cause?.message || cause?.code || error.message
  const finding = `${base.host} cannot be reached: ${reason}`
  if (/cert|self.signed|issuer|ERR_TLS|altname/i.test(`${cause?.code} ${reason}`)) {
    const action = 'The certificate must be valid for this address, by an authority known here.'
    return failure('certificate', finding, action)
  }
  return failure('server', finding, 'Check the address, the name server and the firewall.')
}

/** How far the clock is ahead of the server's; the header has whole seconds. */
function aheadMs(date: string | null, { now, took_ms }: { now: Date; took_ms: number }) {
  const server_ms = Date.parse(date ?? '') + 500
  return Number.isNaN(server_ms) ? null : now.getTime() - took_ms / 2 - server_ms
}

export function clockCheck(ahead_ms: number | null): Check {
  if (ahead_ms === null)
    return warning('clock', 'the server gave no time', 'Let NTP set the clock.')
  const apart_ms = Math.abs(ahead_ms)
  const apart_s = (apart_ms / 1000).toFixed(0)
  const finding = `${apart_s} s ${ahead_ms > 0 ? 'ahead of' : 'behind'} the server`
  if (apart_ms > clock_ms_max) {
    return failure(
      'clock',
      finding,
      'Set the clock by NTP, then run setup again with the same code.',
    )
  }
  if (apart_ms > clock_ms_suspect) {
    return warning(
      'clock',
      finding,
      'Let NTP set the clock: readings are marked suspect until then.',
    )
  }
  return ok('clock', finding)
}

async function encryptionCheck(base: URL, now: Date): Promise<Check> {
  if (base.protocol === 'https:') {
    return certificateCheck(await certificateEnd(base, answer_ms_max), now)
  }
  if (isLoopback(base.hostname)) return ok('certificate', 'none needed on this machine')
  const action = 'Use an https:// address, unless the network is trusted.'
  return warning('certificate', 'none: the token and the data travel unencrypted', action)
}

export async function checkDisk(data_dir: string, journal_bytes_max: number): Promise<Check> {
  const { bavail, bsize } = await statfs(await nearestFolder(data_dir))
  return diskCheck(data_dir, bavail * bsize, {
    min_bytes: disk_bytes_min,
    enough_bytes: journal_bytes_max,
    action: 'Free space, or lower JOURNAL_BYTES_MAX, up to which the journal grows.',
  })
}

/** The folder, or the nearest above it that exists. */
async function nearestFolder(path: string): Promise<string> {
  try {
    await access(path)
    return path
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return nearestFolder(dirname(path))
  }
}

/** The files that setup writes; without a file of settings, the token alone. */
export async function filesCheck(files: readonly string[]): Promise<Check> {
  for (const file of files) {
    try {
      await access(dirname(file), constants.W_OK | constants.X_OK)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const finding = `${file} cannot be written (${code})`
      const action =
        code === 'ENOENT' ? 'Create its folder.' : 'Run it as root: sudo heliograph-edge setup …'
      return failure('files', finding, action)
    }
  }
  return ok('files', files.join(', '))
}

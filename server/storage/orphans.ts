import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

interface Orphan {
  pid: number
  /** A postmaster keeps its command line; its children replace it by a title. */
  is_postmaster: boolean
}

const poll_ms = 20

/**
 * The running processes of a cluster, found by its name in the command line of the postmaster and
 * in the titles of its children. Process ids in files prove nothing, as ids are reused.
 */
async function clusterProcesses(cluster_name: string): Promise<Orphan[]> {
  const found: Orphan[] = []
  for (const { pid, words } of await commandLines()) {
    if (words[0]?.startsWith(`postgres: ${cluster_name}: `)) {
      found.push({ pid, is_postmaster: false })
    } else if (words.includes(`cluster_name=${cluster_name}`) && startsPostgres(words)) {
      found.push({ pid, is_postmaster: true })
    }
  }
  return found
}

function startsPostgres(words: readonly string[]): boolean {
  return words.some((word, at) => word.endsWith('/postgres') && words[at + 1] === '-D')
}

interface CommandLine {
  pid: number
  words: string[]
}

async function commandLines(): Promise<CommandLine[]> {
  if (process.platform !== 'linux') return commandLinesByPs()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid) => {
      // The process may have ended.
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), words: command.split('\0') }
    }),
  )
}

async function commandLinesByPs(): Promise<CommandLine[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axww', '-o', 'pid=,command='])
  return stdout.split('\n').map((line) => {
    const [, pid, command = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    // A title counts as one word, as in /proc.
    const words = command.startsWith('postgres: ') ? [command] : command.split(' ')
    return { pid: Number(pid), words }
  })
}

/**
 * Ends processes that an earlier owner left. A postmaster gets a fast shutdown; children of a
 * killed postmaster end by themselves. After `patience_ms` the rest gets SIGQUIT, then SIGKILL, and
 * PostgreSQL recovers from its write-ahead log at the next start.
 */
export async function endOrphans(cluster_name: string, patience_ms: number): Promise<number> {
  const first = await clusterProcesses(cluster_name)
  signal(
    first.filter(({ is_postmaster }) => is_postmaster),
    'SIGINT',
  )
  for (const harsher of ['SIGQUIT', 'SIGKILL'] as const) {
    const left = await waitUntilGone(cluster_name, patience_ms)
    if (left.length === 0) return first.length
    signal(left, harsher)
  }
  const left = await waitUntilGone(cluster_name, patience_ms)
  if (left.length === 0) return first.length
  const pids = left.map(({ pid }) => pid).join(', ')
  throw new Error(`processes of an earlier database server cannot be ended: ${pids}`)
}

function signal(processes: readonly Orphan[], name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name)
    } catch (error) {
      // ESRCH: the process has ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

async function waitUntilGone(cluster_name: string, patience_ms: number): Promise<Orphan[]> {
  for (let waited_ms = 0; ; waited_ms += poll_ms) {
    const left = await clusterProcesses(cluster_name)
    if (left.length === 0 || waited_ms >= patience_ms) return left
    await delay(poll_ms)
  }
}

import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

interface Orphan {
  pid: number
  /** A postmaster still has its command line; its children show a title in that place. */
  is_postmaster: boolean
}

const poll_ms = 20

/**
 * The running processes of the cluster with this name, whoever started them. The name is part of
 * the postmaster's command line and of its children's titles, which every user may read; a process
 * number in a file proves nothing, since numbers are used again.
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
      // A process that ended meanwhile has no command line.
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), words: command.split('\0') }
    }),
  )
}

async function commandLinesByPs(): Promise<CommandLine[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axww', '-o', 'pid=,command='])
  return stdout.split('\n').map((line) => {
    const [, pid, command = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    // A title is one word, as it is where words are told apart.
    const words = command.startsWith('postgres: ') ? [command] : command.split(' ')
    return { pid: Number(pid), words }
  })
}

/**
 * Ends what an earlier owner left running. A postmaster gets a fast shutdown; children whose
 * postmaster was killed end by themselves. What is still there after `patience_ms` gets SIGQUIT,
 * later SIGKILL; PostgreSQL then recovers from its write-ahead log.
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
      // ESRCH: it ended meanwhile.
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

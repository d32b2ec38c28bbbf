/** What somebody types into a shell, beside the variables of his environment. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Why nothing can be tried; false: it can. */
export const noCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false

export interface Shell {
  cwd: string
  /** Beside the machine's own. */
  environment: Record<string, string>
  /** What curl is told besides what is typed. */
  curl: string
}

export interface Said {
  status: number | null
  stdout: string
  stderr: string
}

export async function shell({ cwd, environment, curl }: Shell, typed: string): Promise<Said> {
  const script = `curl() { command curl ${curl} "$@"; }\n${typed}`
  const child = spawn('sh', ['-e', '-c', script], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await closed
  return { status, stdout, stderr }
}

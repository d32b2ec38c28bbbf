/** What systemd is told of a program that it runs: sd_notify(3). */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Timers } from './clock.ts'

const run = promisify(execFile)

export interface ServiceManager {
  /** Of the notification socket. */
  socket: string
  /** Without word for so long, the program is started again; null: it is not watched. */
  watchdog_ms: number | null
}

/** From NOTIFY_SOCKET and WATCHDOG_USEC; null where no service manager waits for word. */
export function serviceManagerOf(
  environment: Readonly<Record<string, string | undefined>>,
): ServiceManager | null {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog_us } = environment
  if (!socket) return null
  return { socket, watchdog_ms: watchdog_us ? Number(watchdog_us) / 1000 : null }
}

interface Needs {
  timers: Timers
  /** The program is not alive if its work stands, though its timers run. */
  isAlive: () => boolean
  /** Told once: a watchdog that hears nothing starts the program again. */
  onFailure: (error: Error) => void
}

/** Says that the program is ready, then that it is alive; returns what says that it is stopping. */
export function notify(manager: ServiceManager, { timers, isAlive, onFailure }: Needs): () => void {
  const { socket, watchdog_ms } = manager
  let has_failed = false
  // Node opens no datagram sockets of Unix: systemd's own program does.
  const say = (...words: string[]) =>
    void run('systemd-notify', words, { env: { NOTIFY_SOCKET: socket, PATH: path } }).catch(
      (error: Error) => {
        if (!has_failed) onFailure(error)
        has_failed = true
      },
    )
  let cancel = () => {}
  const watch = (every_ms: number) => {
    cancel = timers.after(every_ms, () => {
      if (isAlive()) say('WATCHDOG=1')
      watch(every_ms)
    })
  }
  say('--ready')
  if (watchdog_ms !== null) watch(watchdog_ms / 3)
  return () => {
    cancel()
    say('STOPPING=1')
  }
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

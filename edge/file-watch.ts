/** Looks at a file whenever the system says that it changed, and now and then in any case. */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'

const check_ms = { every: 5000, after_change: 200, again: 1000 }

export interface FileWatch {
  /** Looks again soon, as at a file that may be half written. */
  again(): void
  close(): void
}

/** `look` never rejects. */
export function watchFile(path: string, timers: Timers, look: () => Promise<void>): FileWatch {
  let cancel = () => {}
  let is_closed = false
  let watcher: FSWatcher | null = null
  const plan = (delay_ms: number) => {
    if (is_closed) return
    cancel()
    cancel = timers.after(delay_ms, () => {
      plan(check_ms.every)
      void look()
    })
  }
  try {
    // Editors put a new file in the place of the old one, which only its directory notices.
    watcher = watch(dirname(path), (_, name) => {
      if (name === null || name === basename(path)) plan(check_ms.after_change)
    })
    watcher.on('error', () => watcher?.close())
  } catch {
    // Where nothing can be watched, looking now and then is enough.
  }
  plan(check_ms.every)
  return {
    again: () => plan(check_ms.again),
    close() {
      is_closed = true
      cancel()
      watcher?.close()
    },
  }
}

/** How the last run of the agent ended: a file says that it runs, until it is stopped. */
import type { LinkEvent } from '@heliograph/domain/link'
import { onceEvent, type Source } from './conditions.ts'
import { readIfThere, writeDurably } from './durable-file.ts'
import type { Log } from './log.ts'

/** What Linux calls the time since it was started by: another after every boot. */
const boot_id_file = '/proc/sys/kernel/random/boot_id'

interface LastRun {
  /** Whether it ended without being stopped; null where none is known of. */
  unclean: boolean | null
  /** Whether the machine has been started since; null where that is not known. */
  rebooted: boolean | null
  /** Unix ms; null where it was not stopped. */
  stopped_at: number | null
}

export interface RunMark {
  last: LastRun
  /** To be called when nothing runs any more; never rejects. */
  stopped(at: number): Promise<void>
}

interface Mark {
  boot_id: string | null
  stopped_at: number | null
}

/** Takes the mark of the run before and leaves that of this one; a full disk stops nothing. */
export async function openRunMark({
  path,
  log,
  readBootId = () => readIfThere(boot_id_file),
}: {
  path: string
  log: Pick<Log, 'warn'>
  readBootId?: () => Promise<string | null>
}): Promise<RunMark> {
  const boot_id = await readBootId()
  const before = markIn(await readIfThere(path))
  const write = (mark: Mark) =>
    writeDurably(path, `${JSON.stringify(mark)}\n`).catch((error: unknown) => {
      log.warn({ err: error }, 'the next start may be wrong on how this run ended')
    })
  await write({ boot_id, stopped_at: null })
  return {
    last: before
      ? {
          unclean: before.stopped_at === null,
          rebooted: boot_id === null || before.boot_id === null ? null : boot_id !== before.boot_id,
          stopped_at: before.stopped_at,
        }
      : { unclean: null, rebooted: null, stopped_at: null },
    stopped: (at) => write({ boot_id, stopped_at: at }),
  }
}

/** A file that cannot be understood tells as much as none. */
function markIn(text: string | null): Mark | null {
  try {
    const { boot_id = null, stopped_at = null } = JSON.parse(text ?? 'null') as Partial<Mark>
    return { boot_id, stopped_at }
  } catch {
    return null
  }
}

/** That the agent started, and since when and why it had not run. */
export function startedEvent(
  { unclean, rebooted, stopped_at }: LastRun,
  source: Source,
  { at, newest_at }: { at: number; newest_at: number | null },
): LinkEvent {
  const ended = rebooted ? 'its machine had gone down' : 'it had been killed'
  const before = unclean === null ? 'for the first time' : unclean ? ended : 'it had been stopped'
  const severity = unclean ? 'warning' : 'info'
  const details = { unclean, rebooted, down_from_at: stopped_at ?? newest_at }
  return onceEvent(
    { ...source, code: 'agent_started', severity },
    { at, message: `The agent started: ${before}`, details },
  )
}

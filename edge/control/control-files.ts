/** What control keeps in files beside its state: the permit that it goes by, and its log. */
import { join } from 'node:path'
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { type Conditions, onceEvent, type Source } from '../conditions.ts'
import type { EdgeFiles } from '../config.ts'
import type { Log } from '../log.ts'
import type { ControlLog, Noted } from './control-entry.ts'
import { openControlLog } from './control-log.ts'
import { type ControlStore, control_log_dir, openControlStore } from './control-store.ts'
import { type RequestWatchNeeds, watchRequests } from './limit-requests.ts'
import { permitPlaces } from './permit-copy.ts'
import { permitEntry, permitSiteOf } from './permit-file.ts'
import type { Permit } from './permit-terms.ts'
import { PermitWatch } from './permit-watch.ts'

interface ControlFilesNeeds {
  config: EdgeFiles
  clock: Clock
  timers: Timers
  log: Log
  conditions: Conditions
  /** The edge itself. */
  source: Source
  /** The site in force now. */
  site(): Site
  onEvent(event: LinkEvent | null): void
}

export interface ControlFiles {
  permit(): Permit | null
  log: ControlLog
  store: ControlStore
  /** Begins to watch the permit. After the start of the controller, which is noted first. */
  start(): void
  /** Takes up what an operator asks about limits. */
  takeRequests(take: RequestWatchNeeds['take']): void
  close(): Promise<void>
}

/** No figure of the permit is in any event or log line: only the control log has them. */
export async function openControlFiles(needs: ControlFilesNeeds): Promise<ControlFiles> {
  const { config, clock, timers, log, conditions, source, onEvent } = needs
  const at = () => clock.now().getTime()
  const control_log = await openControlLog({
    dir: join(config.data_dir, control_log_dir),
    timers,
    onFailing(error) {
      if (error) log.error({ err: error }, 'the control log cannot be written')
      onEvent(logEvent(error, needs))
    },
  })
  const onFault = (error: Error) => {
    log.error({ err: error }, 'what control knew is lost')
    onEvent(lostEvent(error, needs))
  }
  const store = await openControlStore({ dir: config.data_dir, onFault })
  const watch = await openPermit(needs, onFault)
  let rejected: string | null = null
  let requests: ReturnType<typeof watchRequests> | null = null
  const note = (entry: Noted) => void control_log.write({ at: at(), ...entry })
  return {
    permit: () => watch.permit,
    log: control_log,
    store,
    start() {
      watch.start({
        onAccepted(file, is_change) {
          note(permitEntry(file))
          log.info('permit accepted')
          const condition = { ...source, code: 'permit_changed', severity: 'info' } as const
          const message = 'The permit file was changed and is in force'
          if (is_change) onEvent(onceEvent(condition, { at: at(), message }))
        },
        onRejected(problems) {
          const code = 'permit_file_rejected'
          const condition = { ...source, code, severity: 'major' } as const
          const kept = watch.accepted ? 'the permit accepted last stays' : 'nothing is raised'
          const message = `The permit file is wrong, and ${kept}: ${problems.join('; ')}`
          const details = { problems: problems.slice(0, 50) }
          log.error({ problems }, 'permit file rejected')
          // It may be known from an earlier run, and as something else that was wrong.
          const is_another = rejected !== null && rejected !== message
          rejected = message
          const said = { at: at(), message: 'The permit file is wrong in another way' }
          if (is_another) onEvent(conditions.fall(source, code, said))
          onEvent(
            conditions.rise(condition, { at: at(), message: message.slice(0, 1000), details }),
          )
        },
        onMended() {
          rejected = null
          const message = 'The permit file is right and in force'
          onEvent(conditions.fall(source, 'permit_file_rejected', { at: at(), message }))
        },
      })
    },
    takeRequests(take) {
      const onFault = (error: Error) => log.error({ err: error }, 'a request is in trouble')
      requests = watchRequests({ dir: config.data_dir, timers, take, onFault })
    },
    async close() {
      watch.close()
      requests?.close()
      await control_log.close()
    },
  }
}

function openPermit(needs: ControlFilesNeeds, onFault: (error: Error) => void) {
  const { timers, config } = needs
  return PermitWatch.open({
    timers,
    permit_file: config.permit_file,
    ...permitPlaces(config.data_dir),
    site: () => permitSiteOf(needs.site()),
    onFault,
  })
}

function lostEvent(error: Error, { clock, source }: ControlFilesNeeds) {
  const condition = { ...source, code: 'control_state_lost', severity: 'major' } as const
  const message = `What control knew is lost: ${error.message}`
  return onceEvent(condition, { at: clock.now().getTime(), message })
}

function logEvent(error: Error | null, { clock, conditions, source }: ControlFilesNeeds) {
  const condition = { ...source, code: 'control_log_failed', severity: 'critical' } as const
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown'
  const failed = `The control log cannot be written (${code}): nothing is raised until it can`
  const message = error ? failed : 'The control log is written'
  return conditions.set(condition, { at: clock.now().getTime(), message, holds: error !== null })
}

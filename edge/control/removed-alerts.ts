/** Tells of each device that site.yaml does not have any more and that counts all the same. */
import type { Clock } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions, Source } from '../conditions.ts'
import { nameOf } from './controlled-device.ts'
import { deviceName } from './limits-text.ts'
import type { RemovedFrom } from './removed-devices.ts'

interface RemovedAlertNeeds {
  clock: Clock
  conditions: Conditions
  source: Source
  onEvent(event: LinkEvent | null): void
}

const prefix = 'removed_device_counts:'

export class RemovedAlerts {
  readonly #needs: RemovedAlertNeeds
  /** null: not looked at since the start, and what an earlier run told may not hold. */
  #told: string | null = null

  constructor(needs: RemovedAlertNeeds) {
    this.#needs = needs
  }

  /** At each tick: all of which that is so. No figure is in it. */
  look(removed: readonly RemovedFrom[]): void {
    const ids = removed.map(({ inverter_id, logger_id }) => `${inverter_id} ${logger_id}`).join()
    if (ids === this.#told) return
    this.#told = ids
    const { conditions, source, clock, onEvent } = this.#needs
    const at = clock.now().getTime()
    const codes = new Set<string>()
    for (const { inverter_id, logger_id } of removed) {
      const name = deviceName(inverter_id)
      const code = `${prefix}${name}`
      codes.add(code)
      const message =
        `${nameOf(inverter_id)} is not in plant ${logger_id} of site.yaml any more, and counts ` +
        'there with all that it may deliver. Where it is disconnected, say so at the edge: ' +
        `heliograph-edge limits forget ${name}`
      onEvent(conditions.rise({ ...source, code, severity: 'warning' }, { at, message }))
    }
    for (const { code } of conditions.activeOf(source)) {
      if (!code.startsWith(prefix) || codes.has(code)) continue
      const message = 'it does not count any more, or is in site.yaml again'
      onEvent(conditions.fall(source, code, { at, message }))
    }
  }
}

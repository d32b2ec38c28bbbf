/**
 * Ends that a device counts which site.yaml does not have any more, where an operator on the site
 * says that it is disconnected. It is in the control log before that.
 */
import type { ControlNotes } from './control-notes.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { DisconnectRequest } from './limit-requests.ts'

export interface DisconnectingNeeds {
  plants: Pick<ControlledPlants, 'removed' | 'countRemoved'>
  notes: Pick<ControlNotes, 'write'>
  /** Makes durable what is known of the devices. */
  save(): Promise<void>
  /** It counts no more. */
  onChange(): void
}

export class Disconnecting {
  readonly #needs: DisconnectingNeeds
  /** The requests that are in the control log by this program. */
  readonly #noted = new Set<string>()

  constructor(needs: DisconnectingNeeds) {
    this.#needs = needs
  }

  /**
   * Done or refused, and durable so.
   *
   * @throws where it cannot be written down: it is to be asked again
   */
  async take(request: DisconnectRequest): Promise<boolean> {
    const { plants, notes, save, onChange } = this.#needs
    const { request_id, inverter_id } = request
    if (!this.#noted.has(request_id) && !plants.removed.isFreedBy(inverter_id, request_id)) {
      const refusal = plants.removed.refusalOf(inverter_id)
      await notes.write({ is: 'disconnected', ...request, refusal })
      this.#noted.add(request_id)
      if (refusal === null) {
        plants.removed.free(inverter_id, request_id)
        plants.countRemoved()
        onChange()
      }
    }
    await save()
    return true
  }
}

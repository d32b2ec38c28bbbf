/**
 * Ends that a device counts which site.yaml does not have any more, where an operator on the site
 * says that it is disconnected. It is in the control log before that.
 */
import type { Batteries } from './battery-shares.ts'
import type { Noted } from './control-entry.ts'
import type { ControlNotes } from './control-notes.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { DisconnectPcsRequest, DisconnectRequest } from './limit-requests.ts'

interface DisconnectingNeeds {
  plants: Pick<ControlledPlants, 'removed' | 'onFreed'>
  batteries?: Pick<Batteries, 'removed' | 'save'> | undefined
  notes: Pick<ControlNotes, 'write'>
  /** Makes durable what is known of the devices. */
  save(): Promise<void>
  /** It counts no more. */
  onChange(): void
}

/** What is asked of one device, where that is known. */
interface Removed {
  is_freed: boolean
  /** Why it cannot be; null: it counts. */
  refusal: string | null
  noted: (refusal: string | null) => Noted
  free(): void
  save(): Promise<void>
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
  async take(request: DisconnectRequest | DisconnectPcsRequest): Promise<boolean> {
    const { notes, onChange } = this.#needs
    const { request_id } = request
    const of = 'bess_id' in request ? this.#pcs(request) : this.#device(request)
    if (!this.#noted.has(request_id) && !of.is_freed) {
      await notes.write(of.noted(of.refusal))
      this.#noted.add(request_id)
      if (of.refusal === null) {
        of.free()
        onChange()
      }
    }
    await of.save()
    return true
  }

  #device(request: DisconnectRequest): Removed {
    const { plants, save } = this.#needs
    const { request_id, inverter_id } = request
    return {
      is_freed: plants.removed.isFreedBy(inverter_id, request_id),
      refusal: plants.removed.refusalOf(inverter_id),
      noted: (refusal) => ({ is: 'disconnected', ...request, refusal }),
      free() {
        plants.removed.free(inverter_id, request_id)
        plants.onFreed(inverter_id)
      },
      save,
    }
  }

  #pcs(request: DisconnectPcsRequest): Removed {
    const { batteries } = this.#needs
    const { request_id } = request
    return {
      is_freed: batteries?.removed.isFreedBy(request, request_id) ?? false,
      refusal: batteries ? batteries.removed.refusalOf(request) : 'it does not count',
      noted: (refusal) => ({ is: 'pcs_disconnected', ...withoutInverter(request), refusal }),
      free: () => batteries?.removed.free(request, request_id),
      save: async () => await batteries?.save(),
    }
  }
}

/** As it is written down. */
function withoutInverter({ inverter_id: _, ...request }: DisconnectPcsRequest) {
  return request
}

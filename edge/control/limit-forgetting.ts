/**
 * Forgets the limit of another master where an operator on the site says that it is nobody's: where
 * the file of the devices was lost, what this edge had set itself looks like another's for ever.
 * After that the usual rules decide. The record of the device says which request was done, so that
 * after a loss of power none is done again, to a limit that another set since.
 */
import type { ControlNotes } from './control-notes.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { ForgetRequest } from './limit-requests.ts'

export interface LimitForgettingNeeds {
  plants: Pick<ControlledPlants, 'device'>
  notes: Pick<ControlNotes, 'write'>
  /** Makes durable what is known of the devices. */
  save(): Promise<void>
  /** A limit was forgotten. */
  onChange(): void
}

export class LimitForgetting {
  readonly #needs: LimitForgettingNeeds
  /** The requests that were done or refused by this program. */
  readonly #decided = new Set<string>()

  constructor(needs: LimitForgettingNeeds) {
    this.#needs = needs
  }

  /**
   * Whether the request is over, done or refused, and durable so; false: it waits until the device
   * shows what it was told last.
   *
   * @throws where it cannot be written down; asked again, it is only that
   */
  async take(request: ForgetRequest): Promise<boolean> {
    const { plants, notes, save } = this.#needs
    const limits = plants.device(request.inverter_id)?.limits
    if (limits && !limits.is_proven) return false
    const is_new = !this.#decided.has(request.request_id)
    this.#decided.add(request.request_id)
    // In the log before each order that follows from it, as on the disk.
    const entry = is_new && { ...request, refusal: this.#forget(request) }
    await Promise.all([entry && notes.write({ is: 'forgotten', ...entry }), save()])
    return true
  }

  /** Why not; null: it is done. */
  #forget({ request_id, inverter_id, external_w }: ForgetRequest): string | null {
    const limits = this.#needs.plants.device(inverter_id)?.limits
    if (!limits) return 'this site has no such device'
    // By a program that ended before it could take the request away.
    if (limits.record.forgot_id === request_id) return null
    if (!limits.has_external || limits.record.external_w !== external_w) {
      return 'the limit of another is not that one any more'
    }
    limits.forgetExternal(request_id)
    this.#needs.onChange()
    return null
  }
}

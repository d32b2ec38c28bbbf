/**
 * Forgets the limit of another master where an operator on the site says that it is nobody's: where
 * the file of the devices was lost, what this edge had set itself looks like another's for ever.
 * After that the usual rules decide. It is in the control log before anything is forgotten. The
 * record of the device says which request was done last, so that after a loss of power none is done
 * again, nor an older one, to a limit that another set since.
 */
import type { ControlNotes } from './control-notes.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { ForgetRequest } from './limit-requests.ts'

interface LimitForgettingNeeds {
  plants: Pick<ControlledPlants, 'device'>
  notes: Pick<ControlNotes, 'write'>
  /** Makes durable what is known of the devices. */
  save(): Promise<void>
  /** A limit was forgotten. */
  onChange(): void
}

export class LimitForgetting {
  readonly #needs: LimitForgettingNeeds
  /** By request: what the control log has of it, the reason why it was refused; null: none. */
  readonly #noted = new Map<string, string | null>()
  /** The requests that were done or refused by this program. */
  readonly #decided = new Set<string>()

  constructor(needs: LimitForgettingNeeds) {
    this.#needs = needs
  }

  /**
   * Whether the request is over, done or refused, and durable so; false: it waits until the device
   * shows what it was told last, or something changed while it was written down.
   *
   * @throws where it cannot be written down; nothing is forgotten that is not in the log
   */
  async take(request: ForgetRequest): Promise<boolean> {
    if (!this.#isDecided(request) && !(await this.#decide(request))) return false
    await this.#needs.save()
    return true
  }

  /** Also by a program that ended before it could take the request away. */
  #isDecided({ request_id, inverter_id }: ForgetRequest): boolean {
    const done_id = this.#needs.plants.device(inverter_id)?.limits.record.forgot_id
    return this.#decided.has(request_id) || done_id === request_id
  }

  async #decide(request: ForgetRequest): Promise<boolean> {
    const { plants, notes, onChange } = this.#needs
    const { request_id: forgot_id, asked_at: forgot_asked_at } = request
    if (!this.#isShown(request)) return false
    const refusal = this.#refusalOf(request)
    if (this.#noted.get(forgot_id) !== refusal) {
      await notes.write({ is: 'forgotten', ...request, refusal })
      this.#noted.set(forgot_id, refusal)
      // Meanwhile it may have been told or found to have another limit.
      if (!this.#isShown(request) || this.#refusalOf(request) !== refusal) return false
    }
    this.#decided.add(forgot_id)
    if (refusal !== null) return true
    plants.device(request.inverter_id)?.limits.forgetExternal({ forgot_id, forgot_asked_at })
    onChange()
    return true
  }

  /** The device shows what it was told last. */
  #isShown({ inverter_id }: ForgetRequest): boolean {
    return this.#needs.plants.device(inverter_id)?.limits.is_proven ?? true
  }

  /** Why it is not done; null: it is. */
  #refusalOf({ inverter_id, external_w, asked_at }: ForgetRequest): string | null {
    const limits = this.#needs.plants.device(inverter_id)?.limits
    if (!limits) return 'this site has no such device'
    const { forgot_asked_at } = limits.record
    // It was about a limit of before that: the same figure may be another's now.
    if (forgot_asked_at !== undefined && asked_at <= forgot_asked_at) {
      return 'it is no newer than the request that was done last'
    }
    const is_that = limits.has_external && limits.record.external_w === external_w
    return is_that ? null : 'the limit of another is not that one any more'
  }
}

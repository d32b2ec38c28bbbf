/**
 * What an operator on the site states: that the limit of another master is nobody's, or that a
 * device which site.yaml does not have any more is disconnected. It is in the control log before
 * anything follows from it. The record of the device says which request was done last, so that
 * after a loss of power none is done again, nor an older one, to what changed since.
 */
import type { Dispatcher } from '../battery/dispatcher.ts'
import type { Noted } from './control-entry.ts'
import type { ControlNotes } from './control-notes.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import { pcsId } from './device-name.ts'
import type {
  DisconnectPcsRequest,
  DisconnectRequest,
  ForgetRequest,
  OperatorRequest,
} from './limit-requests.ts'

interface OperatorNeeds {
  plants: Pick<ControlledPlants, 'device' | 'removed' | 'onFreed'>
  batteries: Pick<Dispatcher, 'removed' | 'save'>
  notes: Pick<ControlNotes, 'write'>
  /** Makes durable what is known of the devices. */
  save(): Promise<void>
  /** A limit was forgotten. */
  onForgotten(): void
  /** A device counts no more. */
  onFreed(): void
}

/** What is stated, as things are now. */
interface Statement {
  /** Also by a program that ended before it could take the request away. */
  is_done: boolean
  /** The device does not show what it was told last. */
  is_early: boolean
  /** Why it is not done; null: it is. */
  refusal: string | null
  noted: (refusal: string | null) => Noted
  apply(): void
  save(): Promise<void>
}

export class Operator {
  readonly #needs: OperatorNeeds
  /** By request: what the control log has of it, the reason why it was refused; null: none. */
  readonly #noted = new Map<string, string | null>()
  /** The requests that were done or refused by this program. */
  readonly #decided = new Set<string>()

  constructor(needs: OperatorNeeds) {
    this.#needs = needs
  }

  /**
   * Whether the request is over, done or refused, and durable so; false: it waits until the device
   * shows what it was told last, or something changed while it was written down.
   *
   * @throws where it cannot be written down; nothing is done that is not in the log
   */
  async take(request: OperatorRequest): Promise<boolean> {
    const is_over = this.#decided.has(request.request_id) || this.#of(request).is_done
    if (!is_over && !(await this.#decide(request))) return false
    await this.#of(request).save()
    return true
  }

  async #decide(request: OperatorRequest): Promise<boolean> {
    const { request_id } = request
    const { is_early, refusal, noted, apply } = this.#of(request)
    if (is_early) return false
    if (this.#noted.get(request_id) !== refusal) {
      await this.#needs.notes.write(noted(refusal))
      this.#noted.set(request_id, refusal)
      // Meanwhile it may have been told or found to have another limit.
      const now = this.#of(request)
      if (now.is_early || now.refusal !== refusal) return false
    }
    this.#decided.add(request_id)
    if (refusal === null) apply()
    return true
  }

  #of(request: OperatorRequest): Statement {
    if ('bess_id' in request) return this.#pcs(request)
    return 'is_disconnected' in request ? this.#device(request) : this.#limit(request)
  }

  #limit(request: ForgetRequest): Statement {
    const { plants, save, onForgotten } = this.#needs
    const { request_id: forgot_id, asked_at: forgot_asked_at, inverter_id, external_w } = request
    const limits = plants.device(inverter_id)?.limits
    const { record } = limits ?? {}
    // It was about a limit of before that: the same figure may be another's now.
    const is_older =
      record?.forgot_asked_at !== undefined && forgot_asked_at <= record.forgot_asked_at
    const is_that = limits?.has_external && record?.external_w === external_w
    return {
      is_done: record?.forgot_id === forgot_id,
      is_early: limits !== undefined && !limits.is_proven,
      refusal: !limits
        ? 'this site has no such device'
        : is_older
          ? 'it is no newer than the request that was done last'
          : is_that
            ? null
            : 'the limit of another is not that one any more',
      noted: (refusal) => ({ is: 'forgotten', ...request, refusal }),
      apply() {
        limits?.forgetExternal({ forgot_id, forgot_asked_at })
        onForgotten()
      },
      save,
    }
  }

  #device(request: DisconnectRequest): Statement {
    const { plants, save, onFreed } = this.#needs
    const { request_id, inverter_id } = request
    return {
      is_done: plants.removed.isFreedBy(inverter_id, request_id),
      is_early: false,
      refusal: plants.removed.refusalOf(inverter_id),
      noted: (refusal) => ({ is: 'disconnected', ...request, refusal }),
      apply() {
        plants.removed.free(inverter_id, request_id)
        plants.onFreed(inverter_id)
        onFreed()
      },
      save,
    }
  }

  #pcs({ inverter_id: _, ...request }: DisconnectPcsRequest): Statement {
    const { batteries, onFreed } = this.#needs
    const { request_id } = request
    const id = pcsId(request)
    return {
      is_done: batteries.removed.isFreedBy(id, request_id),
      is_early: false,
      refusal: batteries.removed.refusalOf(id),
      noted: (refusal) => ({ is: 'pcs_disconnected', ...request, refusal }),
      apply() {
        batteries.removed.free(id, request_id)
        onFreed()
      },
      save: () => batteries.save(),
    }
  }
}

/**
 * Orders from outside: of the grid operator, of a direct marketer, of relay inputs. The edge names
 * and stores each before it is confirmed. A source has one order at a plant; its next one takes the
 * place of that, and no order of anybody else is touched.
 */
import type { Clock } from '@heliograph/domain/clock'
import {
  type CurtailmentRow,
  type OutsideSource,
  open_end_at,
} from '@heliograph/domain/curtailment'
import { limitsOf, type Plant, type RequestedLimit } from '@heliograph/domain/limit-shares'
import type { Controller } from './controller.ts'

interface PlantLimit {
  logger_id: number
  /** null: the source limits the plant no more. */
  max_power_kw: number | null
}

interface OutsideOrdersNeeds {
  clock: Clock
  /** A UUID, never the same twice. */
  newOrderId(): string
  controller: Pick<Controller, 'take' | 'fromOutside'>
}

export class OutsideOrders {
  readonly #needs: OutsideOrdersNeeds

  constructor(needs: OutsideOrdersNeeds) {
    this.#needs = needs
  }

  /** What this source limits each plant to, kW; a plant that is left out has no order of it. */
  limitsOf(source: OutsideSource): Map<number, number> {
    const rows = this.#needs.controller.fromOutside(source)
    return new Map(rows.map(({ logger_id, max_power_kw }) => [logger_id, max_power_kw]))
  }

  /**
   * From now on the source limits these plants so. They are obeyed at once; resolves when the order
   * is durable.
   *
   * @throws where it cannot be stored
   */
  async set(source: OutsideSource, limits: readonly PlantLimit[]): Promise<void> {
    const { clock, newOrderId, controller } = this.#needs
    const now = clock.now().getTime()
    const known = Map.groupBy(controller.fromOutside(source), ({ logger_id }) => logger_id)
    const group_id = newOrderId()
    const rows = limits.flatMap(({ logger_id, max_power_kw }): CurtailmentRow[] => {
      const earlier = known.get(logger_id) ?? []
      // The newest is stored again, if it could not be before.
      if (earlier.length === 1 && earlier[0]!.max_power_kw === max_power_kw) return earlier
      const ended = earlier.map((row) => ({ ...row, released_at: Math.max(now, row.start_at) }))
      if (max_power_kw === null) return ended
      const order = {
        group_id,
        logger_id,
        start_at: now,
        end_at: open_end_at,
        max_power_kw,
        released_at: null,
        source,
      }
      return [...ended, order]
    })
    await controller.take(rows)
  }

  /** The same for a limit of these plants together. One that gets its rated power has no order. */
  limit(source: OutsideSource, requested: RequestedLimit, plants: readonly Plant[]): Promise<void> {
    const limits = limitsOf(requested, plants).map(
      ({ logger_id, max_power_kw, rated_power_kw }): PlantLimit => ({
        logger_id,
        max_power_kw: max_power_kw < rated_power_kw ? max_power_kw : null,
      }),
    )
    return this.set(source, limits)
  }
}

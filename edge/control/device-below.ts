/**
 * A device that stands lower than it should after a curtailment, as one does that rounds limits in
 * a way that nobody declared. The figures are told only where they tell nothing of the permit.
 */
import type { Ceiling } from './ceiling.ts'
import { nameOf } from './controlled-device.ts'
import type { Plant } from './controlled-plants.ts'
import { waterFill } from './share.ts'

/** The first of the plant, and what it holds; null: none stands lower. */
export function belowOf({ devices }: Plant, ceiling: Ceiling): string | null {
  const nth = devices.findIndex(({ limits }) => limits.is_below)
  if (nth < 0) return null
  const { inverter_id, limits } = devices[nth]!
  const name = nameOf(inverter_id)
  const shares_w = waterFill(
    ceiling.ceiling_w,
    devices.map((one) => ({ weight: one.limits.facts.rated_w, max_w: one.limits.static_max_w })),
  )
  const kw = (power_w: number) => `${power_w / 1000} kW`
  const holds = limits.is_below_row ? kw(limits.external_max_w) : 'less'
  const should = ceiling.held_by === 'permit' ? 'it should' : `${kw(shares_w[nth]!)}, as it should`
  return `${name} holds ${holds}, not ${should}: it rounds as nobody declared, or another set that`
}

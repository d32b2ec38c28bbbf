/** The events of dispatch. */
import type { Battery } from '@heliograph/domain/battery'
import type { Clock } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions } from '../conditions.ts'
import { pcsName } from '../control/device-name.ts'
import type { ControlledPcs } from './controlled-pcs.ts'
import type { ControlledUnit } from './controlled-unit.ts'

export interface BatteryAlertsNeeds {
  clock: Clock
  conditions: Conditions
  onEvent(event: LinkEvent | null): void
}

const codes = [
  'setpoint_not_armed',
  'setpoint_not_taken',
  'pcs_counts_in_full',
  'pcs_contrary',
] as const

export class BatteryAlerts {
  readonly #needs: BatteryAlertsNeeds

  constructor(needs: BatteryAlertsNeeds) {
    this.#needs = needs
  }

  /** Ends what held of PCS that the site has no more. */
  apply(batteries: readonly Battery[]): void {
    const there = new Set(
      batteries.flatMap(({ bess_id, pcs }) => pcs.map(({ pcs_idx }) => `${bess_id}.${pcs_idx}`)),
    )
    for (const { source_kind, source_id, code } of this.#needs.conditions.all()) {
      const is_ours = codes.find((one) => one === code)
      if (source_kind !== 'pcs' || !is_ours || there.has(source_id)) continue
      this.#set(source_id, is_ours, null, `PCS ${source_id} is no longer at this site`)
    }
  }

  /** At each tick. */
  look({ bess_id, pcs }: ControlledUnit, now_ms: number): void {
    for (const one of pcs) {
      const { pcs_idx, complaints, failure, is_contrary } = one
      const id = `${bess_id}.${pcs_idx}`
      const wrong = complaints.length > 0 ? complaints.join('; ') : null
      const unarmed = wrong && `the setpoint of PCS ${id} is not fail-safe: ${wrong}`
      this.#set(id, 'setpoint_not_armed', unarmed, `the setpoint of PCS ${id} is fail-safe`)
      const untaken = failure && `PCS ${id} does not take its setpoint: ${failure}`
      this.#set(id, 'setpoint_not_taken', untaken, `PCS ${id} takes its setpoint`)
      const counts = countsInFull({ bess_id, pcs: one }, now_ms)
      const known = `it is known again what PCS ${id} is told, and it counts with that`
      this.#set(id, 'pcs_counts_in_full', counts, known)
      const contrary =
        `PCS ${id} charges where it is told to discharge, or the other way round: it is told 0 W ` +
        'until the connection to it is made anew. Look at the sign of its setpoint, and of what ' +
        'it measures.'
      const right = `PCS ${id} may be told power again`
      this.#set(id, 'pcs_contrary', is_contrary ? contrary : null, right)
    }
  }

  /** @param wrong null: nothing is, and `right` is told */
  #set(source_id: string, code: (typeof codes)[number], wrong: string | null, right: string): void {
    const { conditions, clock, onEvent } = this.#needs
    const said = { at: clock.now().getTime(), message: wrong ?? right, holds: wrong !== null }
    onEvent(conditions.set({ source_kind: 'pcs', source_id, code, severity: 'major' }, said))
  }
}

const reasons = {
  silent: 'does not answer',
  lost: 'answers, and its heartbeat stands still',
  local: 'is commanded on site, or by another',
} as const

/** Why it holds the others back, and what is to be done; null: it does not. */
function countsInFull(
  { bess_id, pcs: { pcs_idx, power } }: { bess_id: number; pcs: ControlledPcs },
  now_ms: number,
): string | null {
  const why = power.unknownWhy(now_ms)
  if (why === null) return null
  const kw = Math.round(power.ceiling_w / 100) / 10
  return (
    `PCS ${bess_id}.${pcs_idx} of battery ${bess_id} ${reasons[why]}: it counts as discharging ` +
    `with all that it can, and holds back ${kw} kW of plants and other batteries. Bring it back; ` +
    'or disconnect it, take it out of site.yaml, and say so at the edge: ' +
    `heliograph-edge limits forget ${pcsName({ bess_id, pcs_idx })}`
  )
}

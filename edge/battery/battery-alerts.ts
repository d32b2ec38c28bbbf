/** The events of dispatch. None of them holds a figure: it could be one of the permit. */
import type { Battery } from '@heliograph/domain/battery'
import type { Clock } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions } from '../conditions.ts'
import type { ControlledUnit } from './controlled-unit.ts'

export interface BatteryAlertsNeeds {
  clock: Clock
  conditions: Conditions
  onEvent(event: LinkEvent | null): void
}

const codes = ['setpoint_not_armed', 'setpoint_not_taken'] as const

export class BatteryAlerts {
  readonly #needs: BatteryAlertsNeeds
  /** By PCS and code: what was said last; that is asked at each tick. */
  readonly #said = new Map<string, string>()

  constructor(needs: BatteryAlertsNeeds) {
    this.#needs = needs
  }

  /** Ends what held of PCS that the site has no more. */
  apply(batteries: readonly Battery[]): void {
    this.#said.clear()
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
  look({ bess_id, pcs }: ControlledUnit): void {
    for (const { pcs_idx, complaints, failure } of pcs) {
      const id = `${bess_id}.${pcs_idx}`
      const wrong = complaints.length > 0 ? complaints.join('; ') : null
      const unarmed = wrong && `the setpoint of PCS ${id} is not fail-safe: ${wrong}`
      this.#set(id, 'setpoint_not_armed', unarmed, `the setpoint of PCS ${id} is fail-safe`)
      const untaken = failure && `PCS ${id} does not take its setpoint: ${failure}`
      this.#set(id, 'setpoint_not_taken', untaken, `PCS ${id} takes its setpoint`)
    }
  }

  /** @param wrong null: nothing is, and `right` is told */
  #set(source_id: string, code: (typeof codes)[number], wrong: string | null, right: string): void {
    const key = `${source_id} ${code}`
    const message = wrong ?? right
    if (this.#said.get(key) === message) return
    this.#said.set(key, message)
    const { conditions, clock, onEvent } = this.#needs
    const source = { source_kind: 'pcs', source_id } as const
    const said = { at: clock.now().getTime(), message }
    const condition = { ...source, code, severity: 'major' } as const
    onEvent(wrong === null ? conditions.fall(source, code, said) : conditions.rise(condition, said))
  }
}

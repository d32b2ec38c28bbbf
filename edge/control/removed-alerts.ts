/** Tells of each device that site.yaml does not have any more and that counts all the same. */
import type { Clock } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions, Source } from '../conditions.ts'
import type { ListedPcs } from './battery-shares.ts'
import { nameOf } from './controlled-device.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import { deviceName } from './limits-text.ts'
import { pcsName, pcsTitle } from './pcs-name.ts'
import { isIdle, type Terms } from './plant-ceilings.ts'

interface RemovedAlertNeeds {
  clock: Clock
  conditions: Conditions
  source: Source
  onEvent(event: LinkEvent | null): void
}

interface Under extends Pick<Terms, 'permit'> {
  rows: ReadonlyMap<number, Terms['rows']>
}

interface Told {
  /** As on the command line. */
  name: string
  title: string
  /** Where it was in site.yaml. */
  where: string
}

const prefix = 'removed_device_counts:'

export class RemovedAlerts {
  readonly #needs: RemovedAlertNeeds
  /** null: not looked at since the start, and what an earlier run told may not hold. */
  #told: string | null = null

  constructor(needs: RemovedAlertNeeds) {
    this.#needs = needs
  }

  /**
   * At each tick: those that keep others from what they could have. No figure is in it.
   *
   * @param rows in force, by plant
   * @param pcs all that count
   */
  look(plants: ControlledPlants, pcs: readonly ListedPcs[], { permit, rows }: Under): void {
    const held = plants.all.filter(({ logger_id }) => {
      return !isIdle({ logger_id }, { permit, rows: rows.get(logger_id) ?? [] })
    })
    const is_joint = permit?.site_w != null
    const removed = [...held, ...(is_joint ? plants.gone : [])].flatMap((plant) =>
      plant.removed.map(({ inverter_id }) => [inverter_id, plant.logger_id] as const),
    )
    const isHeld = ({ logger_id }: ListedPcs) =>
      is_joint || held.some((plant) => plant.logger_id === logger_id)
    const all = [...removed.map(toldOf), ...pcs.filter(isHeld).map(toldOfPcs)]
    const ids = all.map(({ name, where }) => `${name} ${where}`).join()
    if (ids === this.#told) return
    this.#told = ids
    const { conditions, source, clock, onEvent } = this.#needs
    const at = clock.now().getTime()
    const codes = new Set<string>()
    for (const { name, title, where } of all) {
      const code = `${prefix}${name}`
      codes.add(code)
      const message =
        `${title} is not ${where} of site.yaml any more, and counts ` +
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

const toldOf = ([inverter_id, logger_id]: readonly [number, number]): Told => ({
  name: deviceName(inverter_id),
  title: nameOf(inverter_id),
  where: `in plant ${logger_id}`,
})

const toldOfPcs = ({ logger_id, ...pcs }: ListedPcs): Told => ({
  name: pcsName(pcs),
  title: pcsTitle(pcs),
  where: logger_id === null ? 'at the common connection' : `in plant ${logger_id}`,
})

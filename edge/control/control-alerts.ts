/** The events of control. None has the figure of a permit; what was measured is in it. */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { LinkEvent, Severity } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import type { Conditions, Said, Source } from '../conditions.ts'
import type { ControlledPlants } from './controlled-plants.ts'
import type { Foreign } from './device-limits.ts'
import {
  controllerKey,
  deviceName,
  type ListedPcs,
  nameOf,
  pcsName,
  pcsTitle,
} from './device-name.ts'
import type { Excess } from './excess-watch.ts'
import { isIdle, type Terms } from './plant-ceilings.ts'

interface AlertNeeds {
  clock: Clock
  stopwatch: Stopwatch
  conditions: Conditions
  source: Source
  onEvent(event: LinkEvent | null): void
}

const severities = {
  control_contention: 'warning',
  curtailment_not_effective: 'major',
  limit_not_as_set: 'warning',
  // Of earlier versions, in place of the former: it ends.
  device_below_limit: 'warning',
  permit_missing: 'warning',
  no_permit_entry: 'info',
  permit_unenforceable: 'critical',
  permit_exceeded: 'critical',
  control_fault: 'critical',
  control_rows_lost: 'major',
  limit_not_armed: 'major',
} as const satisfies Record<string, Severity>
type Code = keyof typeof severities

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

/** An intermediate figure of a device that is slow to apply its limit is gone by then. */
const not_as_set_ms = 30_000
/** Another master is gone when it changed nothing for so long. */
const contention_ms = 10 * 60_000

export class ControlAlerts {
  readonly #needs: AlertNeeds
  /** By inverter_id: when its limit was last changed by another. */
  readonly #contended_ms = new Map<number, number>()
  /** By inverter_id: since when the limit is not as set. */
  readonly #not_as_set_ms = new Map<number, number>()

  /** Devices that count and are not in site.yaml; null: not looked at since the start. */
  #removed: string | null = null

  constructor(needs: AlertNeeds) {
    this.#needs = needs
  }

  /** Ends what held of plants that the site has no more. */
  apply({ loggers }: Site): void {
    this.#not_as_set_ms.clear()
    const { conditions, stopwatch } = this.#needs
    const plants = new Set(loggers.map(({ logger_id }) => String(logger_id)))
    for (const { source_kind, source_id, code } of conditions.all()) {
      if (!(code in severities)) continue
      if (source_kind === 'logger' && !plants.has(source_id)) {
        const message = `plant ${source_id} is no longer at this site`
        this.#set({ source_kind, source_id }, code as Code, { message, holds: false })
      }
      if (code === 'device_below_limit') {
        this.#set({ source_kind, source_id }, code, {
          message: 'see limit_not_as_set',
          holds: false,
        })
      }
      if (code !== 'control_contention') continue
      const id = Number(source_id)
      const key = source_kind === 'logger' ? controllerKey(id) : id
      this.#contended_ms.set(key, stopwatch.elapsedMs())
    }
  }

  contention(inverter_id: number, foreign: Foreign): void {
    this.#contended_ms.set(inverter_id, this.#needs.stopwatch.elapsedMs())
    const way = foreign === 'lowered' ? 'lowered; it stays so' : 'raised; it is lowered again'
    const message = `the limit of ${nameOf(inverter_id)} was changed by another: ${way}`
    this.#set(inverter(inverter_id), 'control_contention', { message, holds: true })
  }

  notEffective(inverter_id: number, holds: boolean): void {
    const name = nameOf(inverter_id)
    const message = holds
      ? `${name} delivers more than its limit; it counts with all that it can deliver`
      : `${name} keeps to its limit again`
    this.#set(inverter(inverter_id), 'curtailment_not_effective', { message, holds })
  }

  /** @param message null: the device holds what it was set to */
  notAsSet(inverter_id: number, message: string | null): void {
    const set = (text: string, holds: boolean) =>
      this.#set(inverter(inverter_id), 'limit_not_as_set', { message: text, holds })
    if (message === null) {
      this.#not_as_set_ms.delete(inverter_id)
      set(`${nameOf(inverter_id)} holds its limit as set`, false)
      return
    }
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const since_ms = this.#not_as_set_ms.get(inverter_id) ?? now_ms
    this.#not_as_set_ms.set(inverter_id, since_ms)
    if (now_ms - since_ms >= not_as_set_ms) set(message, true)
  }

  notArmed(inverter_id: number, complaints: readonly string[]): void {
    const holds = complaints.length > 0
    const message = holds
      ? `the limit of ${nameOf(inverter_id)} is not fail-safe: ${complaints.join('; ')}`
      : `the limit of ${nameOf(inverter_id)} is fail-safe`
    this.#set(inverter(inverter_id), 'limit_not_armed', { message, holds })
  }

  permitMissing(logger_id: number, holds: boolean): void {
    const message = holds
      ? `no permit is known for plant ${logger_id}: nothing of it is raised`
      : `the permit of plant ${logger_id} is known`
    this.#set(plant(logger_id), 'permit_missing', { message, holds })
  }

  /** Also while nothing is to be limited, so that the server can warn before the first order. */
  noPermitEntry(logger_id: number, holds: boolean): void {
    const message = holds
      ? `plant ${logger_id} has no entry in the permit file: an order lowers it and its end does not raise it`
      : `plant ${logger_id} has an entry in the permit file`
    this.#set(plant(logger_id), 'no_permit_entry', { message, holds })
  }

  /** Of a plant, or of the common connection. */
  permitUnenforceable(logger_id: number | null, holds: boolean): void {
    const what = logger_id === null ? 'the common connection' : `plant ${logger_id}`
    const message = holds
      ? `what cannot be limited now may alone exceed the permit of ${what}`
      : `the permit of ${what} can be enforced again`
    const source = logger_id === null ? this.#needs.source : plant(logger_id)
    this.#set(source, 'permit_unenforceable', { message, holds })
  }

  /** Of a plant, or of the common connection. */
  permitExceeded(logger_id: number | null, excess: Excess | null): void {
    const what = logger_id === null ? 'the common connection' : `plant ${logger_id}`
    const source = logger_id === null ? this.#needs.source : plant(logger_id)
    if (!excess) {
      const message = `the power measured at ${what} is within its permit again`
      this.#set(source, 'permit_exceeded', { message, holds: false })
      return
    }
    const details = { measured_kw: kw(excess.measured_w), excess_kw: kw(excess.excess_w) }
    const message =
      `${details.measured_kw} kW were measured at ${what}, ${details.excess_kw} kW more than its ` +
      'permit less its guard; its limits are lowered further'
    this.#set(source, 'permit_exceeded', { message, holds: true, details })
  }

  /** null: control works. */
  fault(what: string | null): void {
    const message = `control ${what === null ? 'works again' : `fails: ${what}`}`
    this.#set(this.#needs.source, 'control_fault', { message, holds: what !== null })
  }

  /** Each row that was lost may be in force. */
  rowsLost(holds: boolean): void {
    const message = holds
      ? 'rows of curtailment were lost: nothing is raised until the server has told them again'
      : 'the rows of curtailment are known again'
    this.#set(this.#needs.source, 'control_rows_lost', { message, holds })
  }

  /** At each tick. */
  look(now_ms: number): void {
    for (const [inverter_id, at_ms] of this.#contended_ms) {
      if (now_ms - at_ms < contention_ms) continue
      this.#contended_ms.delete(inverter_id)
      const message = `the limit of ${nameOf(inverter_id)} was not changed by another any more`
      this.#set(inverter(inverter_id), 'control_contention', { message, holds: false })
    }
  }

  /**
   * At each tick: those that keep others from what they could have. No figure is in it.
   *
   * @param rows in force, by plant
   * @param pcs all that count
   */
  removed(plants: ControlledPlants, pcs: readonly ListedPcs[], { permit, rows }: Under): void {
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
    if (ids === this.#removed) return
    this.#removed = ids
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

  #set(source: Source, code: Code, now: Omit<Said, 'at'> & { holds: boolean }): void {
    const { conditions, clock, onEvent } = this.#needs
    const condition = { ...source, code, severity: severities[code] }
    onEvent(conditions.set(condition, { at: clock.now().getTime(), ...now }))
  }
}

const kw = (power_w: number) => Math.round(power_w) / 1000

function inverter(inverter_id: number): Source {
  if (inverter_id < 0) return plant(-inverter_id)
  return { source_kind: 'inverter', source_id: String(inverter_id) }
}

function plant(logger_id: number): Source {
  return { source_kind: 'logger', source_id: String(logger_id) }
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

/** What the entries of a control log add up to: all that still counts of what was written. */
import { type CurtailmentRow, rowKey } from '@heliograph/domain/curtailment'
import type { ControlEntry, Found } from './control-entry.ts'
import { type PcsKey, pcsId } from './device-name.ts'

/** Only its source ends an order from outside. */
const isOpen = ({ end_at, released_at, source }: CurtailmentRow, now: number) =>
  source === undefined ? end_at > now : released_at === null

type Of<Is extends ControlEntry['is']> = Extract<ControlEntry, { is: Is }>

interface DeviceState {
  /** As read last; null: never. */
  found: Found | null
  /** Raises that were begun since. */
  begun_w: number
  /** It does not answer; `stays`: its limit holds all the same. */
  gone: 'no' | 'yes' | 'stays'
}

/** The newest entries of a PCS that still count. */
interface PcsState {
  found?: Of<'pcs'>
  /** The highest that was begun since. */
  begun?: Of<'pcs_order'>
}

export class ControlState {
  site: Of<'site'> | null = null
  permit: Of<'permit'> | null = null
  sun: Of<'sun'> | null = null
  permit_file: Of<'permit_file'> | null = null
  readonly rows = new Map<string, Of<'row'>>()
  readonly decisions = new Map<number, Of<'decision'>>()
  readonly #pcs = new Map<string, PcsState>()
  /** The newest entries of each device that still count. */
  readonly #devices = new Map<
    number,
    {
      found?: ControlEntry
      /** The highest of those before the last order, which all may come through yet. */
      begun?: Of<'order'>
      order?: Of<'order'>
      gone?: Of<'gone'>
    }
  >()

  take(entry: ControlEntry): void {
    switch (entry.is) {
      case 'carried':
        this.#clear()
        for (const one of entry.entries) this.take(one)
        return
      case 'site':
        this.site = entry
        this.#forgetOthers(entry)
        return
      case 'permit':
        this.permit = entry
        return
      case 'sun':
        this.sun = entry
        return
      case 'permit_file':
        this.permit_file = entry
        return
      case 'row':
        this.rows.set(rowKey(entry.row), entry)
        return
      case 'decision':
        this.decisions.set(entry.logger_id, entry)
        return
      case 'pcs':
        this.#pcs.set(pcsId(entry), { found: entry })
        return
      case 'pcs_order':
        this.#begin(entry)
        return
      default:
        this.#takeOfDevice(entry)
    }
  }

  /** The entries that lead a new state to where this one is, without rows that are over. */
  carried(now: number): ControlEntry[] {
    const rows = [...this.rows.values()].filter(({ row }) => isOpen(row, now))
    const devices = [...this.#devices.values()].flatMap(({ found, begun, order, gone }) => [
      found,
      begun,
      order,
      gone,
    ])
    const pcs = [...this.#pcs.values()].flatMap(({ found, begun }) => [found, begun])
    const single = [this.site, this.permit_file, this.permit, this.sun]
    return [...single, ...rows, ...this.decisions.values(), ...devices, ...pcs]
      .filter((entry) => entry !== null)
      .filter((entry) => entry !== undefined)
  }

  device(inverter_id: number): DeviceState {
    const { found, begun, order, gone } = this.#devices.get(inverter_id) ?? {}
    return {
      found: found && 'found' in found ? found.found : null,
      begun_w: Math.max(begun?.limit_w ?? 0, order?.limit_w ?? 0),
      gone: !gone ? 'no' : gone.stays ? 'stays' : 'yes',
    }
  }

  pcs(pcs: PcsKey): PcsState {
    return this.#pcs.get(pcsId(pcs)) ?? {}
  }

  #begin(order: Of<'pcs_order'>): void {
    const known = this.pcs(order)
    const is_higher = order.power_w > (known.begun?.power_w ?? Number.NEGATIVE_INFINITY)
    if (is_higher) this.#pcs.set(pcsId(order), { ...known, begun: order })
  }

  #clear(): void {
    this.site = null
    this.permit = null
    this.sun = null
    this.permit_file = null
    for (const map of [this.rows, this.decisions, this.#devices, this.#pcs]) map.clear()
  }

  #forgetOthers({ plants, pcs = [] }: Of<'site'>): void {
    const loggers = new Set(plants.map(({ logger_id }) => logger_id))
    const inverters = new Set(
      plants.flatMap((plant) => plant.inverters.map(({ inverter_id }) => inverter_id)),
    )
    const all_pcs = new Set(pcs.map(pcsId))
    for (const id of this.decisions.keys()) if (!loggers.has(id)) this.decisions.delete(id)
    for (const id of this.#devices.keys()) if (!inverters.has(id)) this.#devices.delete(id)
    for (const id of this.#pcs.keys()) if (!all_pcs.has(id)) this.#pcs.delete(id)
  }

  #takeOfDevice(entry: ControlEntry): void {
    if (!('inverter_id' in entry)) return
    const { inverter_id } = entry
    const device = this.#devices.get(inverter_id) ?? {}
    this.#devices.set(inverter_id, device)
    if (entry.is === 'gone') device.gone = entry
    else if (entry.is === 'order') {
      const { begun, order } = device
      if (order && order.limit_w >= (begun?.limit_w ?? 0)) device.begun = order
      device.order = entry
    } else if (entry.is === 'unsent') {
      if (device.order?.limit_w === entry.limit_w) delete device.order
    } else if ('found' in entry && entry.found !== null) {
      device.found = entry
      delete device.begun
      delete device.order
      delete device.gone
    }
  }
}

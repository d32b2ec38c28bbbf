/**
 * How devices are named: an inverter by its number, the controller of a plant by its plant, a PCS
 * by its battery and its number in that.
 */

/** A device that limits a whole plant goes by its plant, below the numbers of inverters. */
export const controllerKey = (logger_id: number) => -logger_id

/** In a sentence. */
export const nameOf = (inverter_id: number) =>
  inverter_id < 0 ? `the controller of plant ${-inverter_id}` : `inverter ${inverter_id}`

/** As it is written on the command line. */
export const deviceName = (inverter_id: number) =>
  inverter_id < 0 ? `plant-${-inverter_id}` : String(inverter_id)

/** null: it is no such name. */
export function deviceOf(name: string): number | null {
  const [, plant = '', digits = ''] = /^(plant-)?([1-9]\d{0,9})$/.exec(name) ?? []
  return digits === '' ? null : Number(digits) * (plant === '' ? 1 : -1)
}

export interface PcsKey {
  bess_id: number
  pcs_idx: number
}

export interface ListedPcs extends PcsKey {
  /** Where it counts; null: at the common connection alone. */
  logger_id: number | null
  /** The most that it may discharge. */
  max_w: number
}

/** As readings and events name it: `1.0`. */
export const pcsId = ({ bess_id, pcs_idx }: PcsKey) => `${bess_id}.${pcs_idx}`

/** As it is written on the command line: `pcs-1.0`. */
export const pcsName = (pcs: PcsKey) => `pcs-${pcsId(pcs)}`

/** In a sentence. */
export const pcsTitle = ({ bess_id, pcs_idx }: PcsKey) => `PCS ${pcs_idx} of battery ${bess_id}`

/** null: it is no such name. */
export function pcsOf(name: string): PcsKey | null {
  const [, bess_id, pcs_idx] = /^pcs-([1-9]\d{0,9})\.(0|[1-9]\d?)$/.exec(name) ?? []
  if (bess_id === undefined || pcs_idx === undefined) return null
  return { bess_id: Number(bess_id), pcs_idx: Number(pcs_idx) }
}

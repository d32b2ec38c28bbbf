/** How a device that is limited is named: an inverter by its number, a controller by its plant. */

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

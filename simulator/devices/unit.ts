/** A simulated Modbus unit and the exceptions that it answers. */

export interface Unit {
  /** Holding registers. @throws {Refusal} */
  read(address: number, count: number): Uint16Array
  /** Absent on a device without input registers. */
  readInput?(address: number, count: number): Uint16Array
  write(address: number, words: readonly number[]): void
  /** The device does not answer at present. */
  isAway(): boolean
}

/** A unit at its address. */
export interface PlacedUnit extends Unit {
  connection: string
  unit_id: number
}

/** Modbus application protocol specification V1.1b3, section 7. */
const codes = {
  'illegal function': 1,
  'illegal data address': 2,
  'illegal data value': 3,
  'gateway target failed': 11,
} as const

/** The exception that a device answers; the Modbus library reads the code. */
export class Refusal extends Error {
  readonly modbusErrorCode: number
  constructor(reason: keyof typeof codes) {
    super(reason)
    this.modbusErrorCode = codes[reason]
  }
}

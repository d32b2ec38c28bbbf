/** Modbus application protocol specification V1.1b3, section 7. */
const codes = {
  'illegal function': 1,
  'illegal data address': 2,
  'illegal data value': 3,
  'gateway target failed': 11,
} as const

/** What a device answers that does not do as it is asked: the library reads the code. */
export class Refusal extends Error {
  readonly modbusErrorCode: number
  constructor(reason: keyof typeof codes) {
    super(reason)
    this.modbusErrorCode = codes[reason]
  }
}

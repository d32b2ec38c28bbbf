/** Names of alarms that are in no alarm table, one for each code. */
import { readAlarms } from '@heliograph/domain/battery-alarms'
import { bitOf, type Condition } from './conditions.ts'

/** Names of conditions that edges report of a battery and its PCS. */
const names: Readonly<Record<string, string>> = {
  device_offline: 'Device does not answer',
  setpoint_not_armed: 'Setpoint is not fail-safe',
  setpoint_not_taken: 'Setpoint is not accepted',
  pcs_counts_in_full: 'PCS counts with its maximum discharging power',
  pcs_contrary: 'PCS power is opposite to its setpoint',
}

export const unknownName = (word: number, bit: number) => `Unknown alarm: word ${word}, bit ${bit}`

/** Name of a condition; an unknown code is spelled out. */
export function nameOf({ code }: Pick<Condition, 'code'>): string {
  const bit = bitOf({ code })
  if (bit) return unknownName(bit.word, bit.bit)
  const known = names[code] ?? readAlarms.find((one) => one.code === code)?.name
  if (known !== undefined) return known
  const [what = '', ...of] = code.split(':')
  const words = what.replaceAll('_', ' ')
  const subject = of.length === 0 ? '' : `: ${of.join(':')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${subject}`
}

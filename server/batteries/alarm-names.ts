/** What alarms are called that no table of alarm words explains: one name for each code. */
import { readAlarms } from '@heliograph/domain/battery-alarms'
import { bitOf, type Condition } from './conditions.ts'

/** Of what edges tell of a battery and its PCS. */
const names: Readonly<Record<string, string>> = {
  device_offline: 'A device does not answer',
  setpoint_not_armed: 'The setpoint is not fail-safe',
  setpoint_not_taken: 'The setpoint is not taken',
  pcs_counts_in_full: 'The PCS counts with all that it can discharge',
  pcs_contrary: 'The PCS does the contrary of what it is told',
}

export const unknownName = (word: number, bit: number) => `Unknown alarm: word ${word}, bit ${bit}`

/** Of a condition, whatever was said of it; a code that is not known is spelled out. */
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

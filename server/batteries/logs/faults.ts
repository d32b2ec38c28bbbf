/** The fault words of the PCS of a unit, bit by bit. */
import { isAvailable, setBits } from '@heliograph/domain/alarms/decode'
import { iso } from '../../plant/frame.ts'
import { batterySeverities, batterySeverity } from '../active-alarms.ts'
import type { AlarmedPart } from '../alarm-words.ts'
import { bitOf, type Condition, placeOf, unknownCode, unknownName } from '../conditions.ts'
import { oldestOf } from '../current.ts'
import type { PcsFaults } from './schemas.ts'

/** Fault words of the PCS, by index. Includes set bits that are in no table. */
export function pcsFaults(
  parts: readonly AlarmedPart[],
  conditions: readonly Condition[],
): PcsFaults {
  const words = parts.flatMap((part) => wordsOf(part, conditions))
  const active = words.flatMap(({ pcs_idx, word_index, bits }) =>
    bits.map((bit) => ({ pcs_idx, word_index, ...bit })),
  )
  return {
    measured_at: iso(oldestOf(parts)),
    words,
    active,
    active_count: active.length,
    highest_severity:
      batterySeverities.findLast((one) => active.some(({ severity }) => severity === one)) ?? null,
    table_version: words[0]?.table_version ?? null,
  }
}

function wordsOf(part: AlarmedPart, conditions: readonly Condition[]): PcsFaults['words'] {
  const { table, pcs_idx } = part
  return part.words.flatMap((raw, nth) => {
    if (raw === null) return []
    const word_index = nth + 1
    const is_available = isAvailable(table, raw)
    const bits = is_available ? setBits(raw) : []
    return [
      {
        pcs_idx: pcs_idx!,
        word_index,
        register: null,
        raw,
        hex: `0x${raw.toString(16).padStart(table.word_bits / 4, '0')}`,
        is_available,
        bits: bits.map((bit) => faultBit(part, { word: word_index, bit }, conditions)),
        table_id: table.table_id,
        table_version: table.table_version,
      },
    ]
  })
}

function faultBit(
  { table, pcs_idx }: AlarmedPart,
  { word, bit }: { word: number; bit: number },
  conditions: readonly Condition[],
) {
  const row = table.rows.find((one) => one.alarm_word === word && one.bit === bit)
  const since = conditions.find((condition) => {
    const at = bitOf(condition)
    const is_here = at?.word === word && at.bit === bit && placeOf(condition).pcs_idx === pcs_idx
    return is_here && condition.edge === 'rising'
  })
  return {
    bit,
    code: row?.code ?? unknownCode(word, bit),
    name: row?.name ?? unknownName(word, bit),
    severity: batterySeverity(row?.severity ?? 'warning'),
    asserted_since_at: since?.at.toISOString() ?? null,
  }
}

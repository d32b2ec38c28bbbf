/** Alarms of batteries that their readings tell themselves, as conditions. */
import { fireAlarms, heartbeatAlarm, type ReadAlarm } from '@heliograph/domain/battery-alarms'
import type { LinkEvent } from '@heliograph/domain/link'
import type { BessReading } from '@heliograph/domain/readings'
import type { Conditions, Source } from './conditions.ts'

type FireState = BessReading['fire_system_state']

/** The events of one poll. A device that has no count any more cannot have lost it. */
export function heartbeatEvents(
  conditions: Conditions,
  source: Source,
  { count, is_ok, at }: { count: number | null; is_ok: boolean | null; at: number },
): LinkEvent[] {
  if (is_ok === null && count !== null) return []
  return changeOf(conditions, source, { alarm: heartbeatAlarm, is_set: is_ok === false, at })
}

/** What it says counts once two polls in a row agree on it, as bits of alarm words do. */
export function createFireWatch(conditions: Conditions, source: Source) {
  let before: FireState = null
  return (state: FireState, at: number): LinkEvent[] => {
    const is_settled = state !== null && state === before
    before = state
    if (!is_settled) return []
    return fireAlarms.flatMap((alarm) =>
      changeOf(conditions, source, { alarm, is_set: alarm.state === state, at }),
    )
  }
}

function changeOf(
  conditions: Conditions,
  source: Source,
  { alarm, is_set, at }: { alarm: ReadAlarm; is_set: boolean; at: number },
): LinkEvent[] {
  const { code, name, severity } = alarm
  const said = { at, message: is_set ? name : `${name}: over`, details: { name } }
  const event = is_set
    ? conditions.rise({ ...source, code, severity }, said)
    : conditions.fall(source, code, said)
  return event === null ? [] : [event]
}

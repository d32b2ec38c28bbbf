/** Finds the unit ids that answer on a connection, by one read of each. */
import { BusError } from '../bus/bus-error.ts'
import { isNobody, pause_ms, type ReadOnlyBus } from './read-only-bus.ts'

/** Of an id about which nothing is known yet. */
export const first_timeout_ms = 500
/** A gateway waits for a device before it reports that none is there. */
const timeout_ms_max = 3000
const quick_timeout_ms_min = 150
/** A device answers within some times what others on its line take. */
const quick_factor = 6

/** To recognise and describe a unit: about one for each profile, and those of its facts. */
const requests_of_unit = 50
const description_ms_min = 40_000

/** Ids that hardly any plant uses: a device that answers to all of them heeds no id. */
const unlikely_ids = [246, 231, 209]
/** The marker of SunSpec; any answer shows a device, its refusal too. */
const asked_address = 40_000

interface FoundUnits {
  unit_ids: number[]
  /** The device answers to every id: it has an address of its own and heeds no unit id. */
  heeds_no_id: boolean
  /** Ids that were not asked before time ended. */
  left: number[]
}

interface Search {
  unit_ids: readonly number[]
  now_ms(): number
  /** No id is asked within the time before it that the description of the found units takes. */
  ends_at_ms: number
  wait(ms: number): Promise<void>
}

export async function findUnits(bus: ReadOnlyBus, search: Search): Promise<FoundUnits> {
  const { unit_ids, now_ms, ends_at_ms, wait } = search
  const found = new Set<number>()
  const silent = new Set<number>()
  bus.timeout_ms = first_timeout_ms
  bus.onLate = (unit_id, { error, after_ms }) => {
    silent.delete(unit_id)
    if (found.has(unit_id)) return
    if (!isNobody(error)) found.add(unit_id)
    // The first answer may have waited for others: it is measured again.
    if (!isNobody(error) && !is_measured) return
    // The gateway is slower than it was given time: its queue must not grow.
    bus.timeout_ms = Math.min(timeout_ms_max, Math.max(bus.timeout_ms, 1.3 * after_ms))
    is_slow = true
  }
  let is_slow = false
  let is_measured = false
  const is_alive = async (unit_id: number): Promise<boolean> => {
    silent.delete(unit_id)
    const answer = await answerOf(bus, unit_id)
    if (answer === 'silent') silent.add(unit_id)
    return answer === 'device'
  }

  let everywhere = 0
  for (const unit_id of unlikely_ids) {
    if (!(await is_alive(unit_id))) break
    everywhere += 1
  }
  if (everywhere === unlikely_ids.length) {
    return { unit_ids: [unit_ids[0] ?? 1], heeds_no_id: true, left: [] }
  }
  silent.clear()
  /** Ids that it came not to. */
  const sweep = async (ids: readonly number[]): Promise<number[]> => {
    for (const [nth, unit_id] of ids.entries()) {
      if (now_ms() >= ends_at_ms - descriptionMs(bus, found.size)) return ids.slice(nth)
      try {
        if (await is_alive(unit_id)) found.add(unit_id)
        const [first] = found
        if (first === undefined || is_measured) continue
        for (let more = 0; more < 2; more += 1) await is_alive(first)
        is_measured = true
        const answered_ms = bus.answered_ms()
        if (answered_ms && !is_slow) bus.timeout_ms = quickTimeout(answered_ms.min)
      } catch (error) {
        if (error instanceof BusError && error.kind === 'closed') return ids.slice(nth)
        throw error
      }
    }
    return []
  }
  const left = await sweep(unit_ids)
  const was_quick = bus.timeout_ms < first_timeout_ms
  if (silent.size > 0) await wait(Math.min(bus.timeout_ms, first_timeout_ms))
  // Behind a gateway another device may be slower than those that answered.
  if (was_quick && found.size > 1) {
    is_slow = true
    bus.timeout_ms = first_timeout_ms
    await sweep([...silent])
  }
  return { unit_ids: [...found].sort((a, b) => a - b), heeds_no_id: false, left }
}

function descriptionMs(bus: ReadOnlyBus, units: number): number {
  const answer_ms = bus.answered_ms()?.max ?? first_timeout_ms
  return Math.max(description_ms_min, units * requests_of_unit * (answer_ms + pause_ms))
}

const quickTimeout = (fastest_ms: number): number =>
  Math.min(first_timeout_ms, Math.max(quick_timeout_ms_min, quick_factor * fastest_ms))

async function answerOf(
  bus: ReadOnlyBus,
  unit_id: number,
): Promise<'device' | 'nobody' | 'silent'> {
  try {
    await bus.readHoldingRegisters(unit_id, asked_address, 2)
    return 'device'
  } catch (error) {
    if (!(error instanceof BusError) || error.kind === 'closed') throw error
    if (error.kind === 'exception') return isNobody(error) ? 'nobody' : 'device'
    return 'silent'
  }
}

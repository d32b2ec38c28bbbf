import { sumKnown } from '../../../ui/format.ts'
import type { History } from '../../../ui/history.ts'
import { expectedPower } from '../../../ui/quantities.ts'
import { addDays, dayAt, dayStart, type Span } from '../../../ui/site-clock.ts'

const hour_ms = 3_600_000
const day_s = 86_400

interface Steps {
  span: Span
  step_s: number
  timezone: string
}

/** Power of each step by the energy of its hour, or mean of its local day, whose night has none. */
export function expectedSteps(
  hours: ReadonlyMap<number, number | null>,
  { span, step_s, timezone }: Steps,
): History {
  const at_ms = step_s === day_s ? daysOf(span, timezone) : gridOf(span, step_s * 1000)
  const values = at_ms.map((ms) => {
    if (step_s < day_s) return hours.get(Math.floor(ms / hour_ms) * hour_ms) ?? null
    const end_ms = dayStart(addDays(dayAt(ms, timezone), 1), timezone)
    const own = gridOf({ start_ms: ms, end_ms }, hour_ms).map((at) => hours.get(at) ?? null)
    const energy_kwh = sumKnown(own, (kwh) => kwh)
    return energy_kwh === null ? null : energy_kwh / own.length
  })
  return { at_ms, columns: { [expectedPower.name]: values }, gap_ms: 1500 * step_s }
}

/** Steps are whole in UTC, as those of histories. */
function gridOf({ start_ms, end_ms }: Span, step_ms: number): number[] {
  const first = Math.ceil(start_ms / step_ms)
  const count = Math.max(0, Math.ceil(end_ms / step_ms) - first)
  return Array.from({ length: count }, (_, nth) => (first + nth) * step_ms)
}

function daysOf({ start_ms, end_ms }: Span, timezone: string): number[] {
  const days: number[] = []
  let date = dayAt(start_ms, timezone)
  for (let ms = dayStart(date, timezone); ms < end_ms; ms = dayStart(date, timezone)) {
    if (ms >= start_ms) days.push(ms)
    date = addDays(date, 1)
  }
  return days
}

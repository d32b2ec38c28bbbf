import type { LinkEvent } from '@heliograph/domain/link'
import { type Conditions, onceEvent, type Source } from './conditions.ts'
import type { ClockChange } from './plant-clock.ts'

/** Holds while the clock is not trusted, over restarts too. */
const untrusted = 'clock_untrusted'

export function wasTrusted(source: Source, conditions: Conditions): boolean {
  return conditions.activeOf(source).every(({ code }) => code !== untrusted)
}

/** What became of the edge's clock, as an event of the edge; null when it was told before. */
export function clockEvent(
  change: ClockChange,
  source: Source,
  conditions: Conditions,
): LinkEvent | null {
  const { at } = change
  if (change.is === 'jump') {
    const { jump_ms, is_confirmed } = change
    const condition = { ...source, code: 'clock_jumped', severity: 'warning' } as const
    const way = jump_ms > 0 ? 'forward' : 'back'
    const message = `The clock jumped ${way} by ${Math.abs(jump_ms) / 1000} s`
    return onceEvent(condition, { at, message, details: { jump_ms, is_confirmed } })
  }
  if (change.is_trusted) {
    return conditions.fall(source, untrusted, { at, message: 'The clock is trusted again' })
  }
  const message =
    'The clock is not trusted: it jumped, or the server has another time. Readings are suspect. ' +
    'Orders begin when either clock says so and end when both do.'
  return conditions.rise({ ...source, code: untrusted, severity: 'warning' }, { at, message })
}

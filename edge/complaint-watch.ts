import type { LinkEvent } from '@heliograph/domain/link'
import type { Conditions, Source } from './conditions.ts'
import type { Complaint } from './drivers/driver.ts'

const prefix = 'nonsense_value:'
/** A point must have made sense for so long before its condition ends: no flood of events. */
const clean_ms = 60_000

/** What a device answers that cannot be true, as one condition for each point. */
export class ComplaintWatch {
  readonly #source: Source
  readonly #conditions: Conditions
  /** By code: when it was last complained of; of those that hold. */
  readonly #last_at = new Map<string, number>()

  constructor(source: Source, conditions: Conditions, now: number) {
    this.#source = source
    this.#conditions = conditions
    for (const { code } of conditions.activeOf(source)) {
      if (code.startsWith(prefix)) this.#last_at.set(code, now)
    }
  }

  /** The events of one answer. */
  poll(complaints: readonly Complaint[], at: number): LinkEvent[] {
    const events: (LinkEvent | null)[] = []
    for (const { point, reason } of complaints) {
      const code = codeOf(point)
      this.#last_at.set(code, at)
      const condition = { ...this.#source, code, severity: 'warning' } as const
      const message = `${point} makes no sense: ${reason}`
      events.push(this.#conditions.rise(condition, { at, message, details: { point, reason } }))
    }
    for (const [code, last_at] of this.#last_at) {
      if (at - last_at < clean_ms) continue
      this.#last_at.delete(code)
      const message = `${code.slice(prefix.length)} makes sense again`
      events.push(this.#conditions.fall(this.#source, code, { at, message }))
    }
    return events.filter((event) => event !== null)
  }
}

/** A point such as 302[0].POAI within the form that codes of events have. */
function codeOf(point: string): string {
  const name = point.toLowerCase().replace(/[^a-z0-9_.-]+/g, '_')
  return (prefix + name).slice(0, 80)
}

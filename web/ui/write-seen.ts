/** Changes by `If-Match`: nobody overwrites what he has not seen. */
import { etagOf, isCode } from '@heliograph/sdk'

export interface Difference {
  field: string
  before: unknown
  now: unknown
}

export interface Condition {
  'If-Match'?: string
  'Idempotency-Key'?: string
}

/** They follow from others, and tell nobody anything. */
const untold = [
  'version',
  'updated_at',
  'done_at',
  'sla_breached',
  'checklist',
  'checklist_total',
  'checklist_done',
  'checklist_failed',
]

function differencesOf(before: object, now: object): Difference[] {
  const old = before as Record<string, unknown>
  return Object.entries(now)
    .filter(([field]) => !untold.includes(field))
    .map(([field, value]) => ({ field, before: old[field], now: value }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.now))
}

interface SeenWrite<Whole extends object, Answer> {
  /** As the person has it before himself: an answer of the API, unchanged. */
  seen: Whole
  /** What of it must be as it was seen; all unless given. */
  part?: (whole: Whole) => object
  write: (condition: Condition) => Promise<Answer>
  idempotency_key: string
  read: () => Promise<Whole>
  onConflict: (fresh: Whole, differences: Difference[]) => void
}

/** Tries again by itself where nothing has changed that concerns the person. */
export async function writeSeen<Whole extends object, Answer>({
  seen,
  part = (whole) => whole,
  write,
  idempotency_key,
  read,
  onConflict,
}: SeenWrite<Whole, Answer>): Promise<Answer> {
  const named: Condition = { 'Idempotency-Key': idempotency_key }
  for (let current = seen; ; ) {
    const etag = etagOf(current)
    try {
      return await write({ ...named, ...(etag !== undefined && { 'If-Match': etag }) })
    } catch (error) {
      if (!isCode(error, 'precondition_failed')) throw error
      delete named['Idempotency-Key']
      current = await read()
      const found = differencesOf(part(seen), part(current))
      if (found.length === 0) continue
      onConflict(current, found)
      throw error
    }
  }
}

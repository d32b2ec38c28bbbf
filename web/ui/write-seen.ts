/** Changes with `If-Match`, so that changes of other people are not overwritten. */
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

/** Derived fields, which are left out of the differences. */
const derived = [
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
    .filter(([field]) => !derived.includes(field))
    .map(([field, value]) => ({ field, before: old[field], now: value }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.now))
}

interface SeenWrite<Whole extends object, Answer> {
  /** Answer of the API that the page shows. */
  seen: Whole
  /** Part that must be unchanged; defaults to the whole. */
  part?: (whole: Whole) => object
  write: (condition: Condition) => Promise<Answer>
  idempotency_key: string
  read: () => Promise<Whole>
  onConflict: (fresh: Whole, differences: Difference[]) => void
}

/** Retries when the change in between does not concern `part`. */
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

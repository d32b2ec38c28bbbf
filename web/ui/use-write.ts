/** A write by a button: sent once, however often the button is clicked. */
import { etagOf, HeliographError, isCode } from '@heliograph/sdk'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Draft } from './draft.ts'

interface Write<Input, Output> {
  /** The key stays the same for the same input while the outcome is unknown. */
  write(input: Input, idempotency_key: string): Promise<Output>
  /** Notice shown on success; null for none. */
  done?: string | ((output: Output) => string | null)
  /** Topics whose reads are repeated afterwards. */
  changes?: readonly string[]
  /** Deleted on success. */
  draft?: Draft
  onDone?(output: Output): void
}

const isRefusal = (error: unknown) =>
  error instanceof HeliographError && error.status !== null && error.status < 500

/** For `Idempotency-Key`; works also where the page came without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function useWrite<Input, Output>(asked: Write<Input, Output>) {
  const { write, done, changes = [], draft, onDone } = asked
  const queries = useQueryClient()
  // A second click may come before React has disabled the button.
  const is_under_way = useRef(false)
  const unsure = useRef<{ text: string | undefined; key: string } | null>(null)
  const mutation = useMutation({
    mutationFn: (input: Input) => {
      const text = JSON.stringify(input)
      if (unsure.current?.text !== text) unsure.current = null
      unsure.current ??= { text, key: newKey() }
      return write(input, unsure.current.key)
    },
    onError: (error) => {
      if (isRefusal(error)) unsure.current = null
    },
    onSettled: () => {
      is_under_way.current = false
    },
    onSuccess: async (output: Output) => {
      unsure.current = null
      if (done) {
        const message = typeof done === 'string' ? done : done(output)
        if (message !== null) notifications.show({ message, color: 'teal' })
      }
      draft?.drop()
      // Forgets what no page shows, or the next page would begin with the state before.
      for (const topic of changes) queries.removeQueries({ queryKey: [topic], type: 'inactive' })
      onDone?.(output)
      await Promise.all(changes.map((topic) => queries.invalidateQueries({ queryKey: [topic] })))
    },
  })
  const run = (input: Input) => {
    if (is_under_way.current) return
    is_under_way.current = true
    mutation.mutate(input)
  }
  const { isPending, error, reset } = mutation
  return { run, is_pending: isPending, error, reset }
}

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

export interface SeenWrite<Input, Whole extends object>
  extends Omit<Write<Input, Whole>, 'write' | 'onDone'> {
  /** Key of the query that shows the resource. */
  key: readonly unknown[]
  seen: Whole
  /** Part that must be unchanged; defaults to the whole. */
  part?: (whole: Whole) => object
  read: () => Promise<Whole>
  write: (input: Input, condition: Condition) => Promise<Whole>
  onDone?: () => void
  onConflict?: (fresh: Whole) => void
}

/**
 * A change of a resource as it was seen, with `If-Match`. It fails when somebody else changed
 * `part` meanwhile: `differences` lists the fields, and the next try is based on them.
 */
export function useSeenWrite<Input, Whole extends object>(asked: SeenWrite<Input, Whole>) {
  const { key, seen, part = (whole) => whole, read, write, onDone, onConflict, ...rest } = asked
  const queries = useQueryClient()
  const [differences, setDifferences] = useState<Difference[] | null>(null)
  const { reset, ...outcome } = useWrite<Input, Whole>({
    ...rest,
    write: async (input, idempotency_key) => {
      const named: Condition = { 'Idempotency-Key': idempotency_key }
      for (let current = seen; ; ) {
        const etag = etagOf(current)
        try {
          return await write(input, { ...named, ...(etag !== undefined && { 'If-Match': etag }) })
        } catch (error) {
          if (!isCode(error, 'precondition_failed')) throw error
          delete named['Idempotency-Key']
          current = await read()
          const found = differencesOf(part(seen), part(current))
          if (found.length === 0) continue
          setDifferences(found)
          queries.setQueryData(key, current)
          onConflict?.(current)
          throw error
        }
      }
    },
    onDone: (whole) => {
      setDifferences(null)
      queries.setQueryData(key, whole)
      onDone?.()
    },
  })
  const forget = () => {
    reset()
    setDifferences(null)
  }
  return { ...outcome, differences, reset: forget }
}

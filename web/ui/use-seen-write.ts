/** A change of a resource as it was seen. It fails when somebody else changed it meanwhile. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from './use-write.ts'
import { type Condition, type Difference, writeSeen } from './write-seen.ts'

export interface SeenWrite<Input, Whole extends object> {
  /** Key of the query that shows the resource. */
  key: readonly unknown[]
  seen: Whole
  part?: (whole: Whole) => object
  read: () => Promise<Whole>
  write: (input: Input, condition: Condition) => Promise<Whole>
  done?: string
  /** Keys of other queries to repeat afterwards. */
  changes: readonly (readonly unknown[])[]
  onDone?: () => void
  onConflict?: (fresh: Whole) => void
}

/** After a conflict, `differences` lists the fields that changed; the next try is based on them. */
export function useSeenWrite<Input, Whole extends object>(asked: SeenWrite<Input, Whole>) {
  const { key, seen, part, read, write, done, changes, onDone, onConflict } = asked
  const queries = useQueryClient()
  const [differences, setDifferences] = useState<Difference[] | null>(null)
  const { run, is_pending, error, reset } = useWrite<Input, Whole>({
    write: (input, idempotency_key) =>
      writeSeen({
        seen,
        read,
        idempotency_key,
        ...(part && { part }),
        write: (condition) => write(input, condition),
        onConflict: (fresh, found) => {
          setDifferences(found)
          queries.setQueryData(key, fresh)
          onConflict?.(fresh)
        },
      }),
    changes,
    ...(done !== undefined && { done }),
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
  return { run, is_pending, error, differences, reset: forget }
}

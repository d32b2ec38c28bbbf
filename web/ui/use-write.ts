/** A write that a person asks for: once, however often it is clicked. */
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'

export interface Write<Input, Output> {
  write(input: Input): Promise<Output>
  /** Told when it is done. */
  done?: string | ((output: Output) => string)
  /** What is read again afterwards, by the first parts of its keys. */
  changes: readonly (readonly unknown[])[]
  onDone?(output: Output): void
}

export function useWrite<Input, Output>({ write, done, changes, onDone }: Write<Input, Output>) {
  const queries = useQueryClient()
  // A second click comes before React has shown that the first one is under way.
  const is_under_way = useRef(false)
  const mutation = useMutation({
    mutationFn: write,
    onSettled: () => {
      is_under_way.current = false
    },
    onSuccess: async (output: Output) => {
      if (done) {
        const message = typeof done === 'string' ? done : done(output)
        notifications.show({ message, color: 'teal' })
      }
      onDone?.(output)
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })))
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

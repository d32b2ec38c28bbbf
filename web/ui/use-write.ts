/** A write by a button: sent once, however often the button is clicked. */
import { HeliographError } from '@heliograph/sdk'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { newKey } from './new-key.ts'

interface Write<Input, Output> {
  /** The key stays the same for the same input while the outcome is unknown. */
  write(input: Input, idempotency_key: string): Promise<Output>
  /** Notice shown on success; null for none. */
  done?: string | ((output: Output) => string | null)
  /** Key prefixes of the queries to repeat afterwards. */
  changes: readonly (readonly unknown[])[]
  onDone?(output: Output): void
}

/** The server refused the write. */
const isRefusal = (error: unknown) =>
  error instanceof HeliographError && error.status !== null && error.status < 500

export function useWrite<Input, Output>({ write, done, changes, onDone }: Write<Input, Output>) {
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

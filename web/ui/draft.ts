/**
 * Keeps unsent input of forms across links, reloads and ended sessions. A draft stays in its tab,
 * for one person, until it is sent or discarded, or until sign-out.
 */
import type { UseFormReturnType } from '@mantine/form'
import { useDidUpdate } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useUser } from '../queries.ts'
import { changedFields } from './changed-fields.ts'

const prefix = 'draft:'

interface Stored<Typed> {
  typed_at: string
  typed: Typed
}

export interface Draft {
  /** Time of the restored input; null when nothing was restored. */
  typed_at: string | null
  /** Resets the form and deletes the draft. */
  discard: () => void
  /** Deletes the draft after it was sent. */
  drop: () => void
}

function read<Typed>(key: string): Stored<Typed> | null {
  const text = sessionStorage.getItem(key)
  return text === null ? null : JSON.parse(text)
}

function write(key: string, typed: unknown): void {
  const stored = read(key)
  if (stored && JSON.stringify(stored.typed) === JSON.stringify(typed)) return
  try {
    sessionStorage.setItem(key, JSON.stringify({ typed_at: new Date().toISOString(), typed }))
  } catch {
    // The storage is full: the form itself still has the input.
  }
}

/** Deletes all drafts at sign-out. */
export function dropDrafts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  }
}

/** The `name` identifies a form within a page. */
function useStoredDraft<Typed>(name: string) {
  const { user_id } = useUser()
  const [key] = useState(() => `${prefix}${user_id} ${location.pathname} ${name}`)
  const [stored, setStored] = useState(() => read<Typed>(key))
  return {
    stored,
    save: (typed: Typed) => write(key, typed),
    forget: () => sessionStorage.removeItem(key),
    drop: () => {
      sessionStorage.removeItem(key)
      setStored(null)
    },
  }
}

/** Tells whether a form has a draft, so that it is opened again. */
export const useHasDraft = (name: string): boolean => useStoredDraft(name).stored !== null

/** Keeps only changed fields: others show present values when the draft is restored. */
export function useFormDraft<Values extends object>(
  name: string,
  form: UseFormReturnType<Values>,
): Draft {
  const { stored, save, forget, drop } = useStoredDraft<Partial<Values>>(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form opens
  useEffect(() => {
    if (stored) form.setValues(stored.typed)
  }, [])
  useDidUpdate(() => {
    const typed = changedFields(form.getInitialValues(), form.values)
    if (Object.keys(typed).length === 0) forget()
    else save(typed)
  }, [form.values])
  const discard = () => {
    form.reset()
    drop()
  }
  return { typed_at: stored?.typed_at ?? null, discard, drop }
}

/** Like `useState`, but kept as a draft while it differs from `initial`. */
export function useDraft<Value>(name: string, initial: Value) {
  const { stored, save, forget, drop } = useStoredDraft<Value>(name)
  const [value, setValue] = useState(stored ? stored.typed : initial)
  const set = (next: Value) => {
    setValue(next)
    if (JSON.stringify(next) === JSON.stringify(initial)) forget()
    else save(next)
  }
  const discard = () => {
    setValue(initial)
    drop()
  }
  const draft: Draft = { typed_at: stored?.typed_at ?? null, discard, drop }
  return [value, set, draft] as const
}

/**
 * What was typed and not sent outlasts its page: a link, a reload, a session that ended. It stays
 * in this tab, for its person alone, until it is sent or discarded, or until the sign-out.
 */
import type { UseFormReturnType } from '@mantine/form'
import { useDidUpdate } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useUser } from '../queries.ts'
import { changedFields } from './changed-fields.ts'

const prefix = 'draft:'

interface Found<Typed> {
  typed_at: string
  typed: Typed
}

export interface Draft {
  /** When that was typed which is back; null: nothing is. */
  typed_at: string | null
  /** To what it would be without. */
  discard: () => void
  /** It was sent. */
  drop: () => void
}

function read<Typed>(key: string): Found<Typed> | null {
  const text = sessionStorage.getItem(key)
  return text === null ? null : JSON.parse(text)
}

function write(key: string, typed: unknown): void {
  const kept = read(key)
  if (kept && JSON.stringify(kept.typed) === JSON.stringify(typed)) return
  try {
    sessionStorage.setItem(key, JSON.stringify({ typed_at: new Date().toISOString(), typed }))
  } catch {
    // The browser has no room: the page itself still has the text.
  }
}

/** For the sign-out: who comes next finds nothing. */
export function dropDrafts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  }
}

/** The `name` tells forms of a page apart, and what they are about where the address does not. */
function useKept<Typed>(name: string) {
  const { user_id } = useUser()
  const [key] = useState(() => `${prefix}${user_id} ${location.pathname} ${name}`)
  const [found, setFound] = useState(() => read<Typed>(key))
  return {
    found,
    keep: (typed: Typed) => write(key, typed),
    forget: () => sessionStorage.removeItem(key),
    drop: () => {
      sessionStorage.removeItem(key)
      setFound(null)
    },
  }
}

/** Whether something was typed there: what was open is opened again. */
export const useHasDraft = (name: string): boolean => useKept(name).found !== null

/** Of a form only what was changed: the rest is as it is now. */
export function useFormDraft<Values extends object>(
  name: string,
  form: UseFormReturnType<Values>,
): Draft {
  const { found, keep, forget, drop } = useKept<Partial<Values>>(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form opens
  useEffect(() => {
    if (found) form.setValues(found.typed)
  }, [])
  useDidUpdate(() => {
    const typed = changedFields(form.getInitialValues(), form.values)
    if (Object.keys(typed).length === 0) forget()
    else keep(typed)
  }, [form.values])
  const discard = () => {
    form.reset()
    drop()
  }
  return { typed_at: found?.typed_at ?? null, discard, drop }
}

/** As `useState`; `initial` is what stands there while nothing was typed. */
export function useDraft<Value>(name: string, initial: Value) {
  const { found, keep, forget, drop } = useKept<Value>(name)
  const [value, setValue] = useState(found ? found.typed : initial)
  const set = (next: Value) => {
    setValue(next)
    if (JSON.stringify(next) === JSON.stringify(initial)) forget()
    else keep(next)
  }
  const discard = () => {
    setValue(initial)
    drop()
  }
  const draft: Draft = { typed_at: found?.typed_at ?? null, discard, drop }
  return [value, set, draft] as const
}

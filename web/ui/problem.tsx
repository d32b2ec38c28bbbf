/** What went wrong with a form: beside the field where it is of one, else above the button. */

import { HeliographError, type Violation } from '@heliograph/sdk'
import { Alert, List } from '@mantine/core'
import { plainly } from './plainly.ts'
import { inWords } from './words.ts'

interface Fields {
  setFieldError(field: never, message: string): void
  getInputNode(field: never): HTMLElement | null
}

/** A form may be longer than the screen: leads to the first field that something is wrong with. */
export const leadTo = (form: Fields) => (errors: object) =>
  Object.keys(errors)
    .map((field) => form.getInputNode(field as never))
    .find((node) => node !== null)
    ?.focus()

/**
 * Puts what the server found beside the fields, and fails on. `told`: by its code, what concerns
 * a field without naming it.
 */
export async function withFields<Output>(
  form: Fields,
  work: () => Promise<Output>,
  told: Readonly<Record<string, Pick<Violation, 'field' | 'message'>>> = {},
): Promise<Output> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HeliographError) {
      const own = told[error.code]
      const found = own ? [own] : error.violations
      for (const { field, message } of found) form.setFieldError(field as never, inWords(message))
      leadTo(form)(Object.fromEntries(found.map(({ field }) => [field, true])))
    }
    throw error
  }
}

const intoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' })

/** In words of the page where it has some for the code. */
export function Problem({
  error,
  words = {},
}: {
  error: unknown
  words?: Readonly<Record<string, string>>
}) {
  if (!error) return null
  const wrong = error instanceof HeliographError ? error.violations : []
  const own = error instanceof HeliographError ? words[error.code] : undefined
  // What is told beside a field leads there instead.
  const is_all = wrong.length === 0 && own === undefined
  return (
    <Alert color="red" variant="outline" role="alert" {...(is_all && { ref: intoView })}>
      {own ?? (wrong.length === 0 ? plainly(error) : <Wrong violations={wrong} />)}
    </Alert>
  )
}

/** All of it: not every field of a request has one of its own in the form. */
function Wrong({ violations }: { violations: readonly Violation[] }) {
  return (
    <>
      Nothing was saved:
      <List size="sm">
        {violations.map(({ field, message }) => (
          <List.Item key={`${field} ${message}`}>
            {inWords(field ? `${field} ${message}` : message)}
          </List.Item>
        ))}
      </List>
    </>
  )
}

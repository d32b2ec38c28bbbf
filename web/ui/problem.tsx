/** Errors of a form: beside a field, or above the button. */

import { HeliographError, type Violation } from '@heliograph/sdk'
import { Alert, List } from '@mantine/core'
import { plainly } from './plainly.ts'
import { inWords } from './words.ts'

interface Fields {
  setFieldError(field: never, message: string): void
  getInputNode(field: never): HTMLElement | null
}

/** Focuses the first field with an error. */
export const leadTo = (form: Fields) => (errors: object) =>
  Object.keys(errors)
    .map((field) => form.getInputNode(field as never))
    .find((node) => node !== null)
    ?.focus()

/**
 * Shows errors of the server beside their fields, and rethrows. `by_code` names the field of error
 * codes that have none.
 */
export async function withFields<Output>(
  form: Fields,
  work: () => Promise<Output>,
  by_code: Readonly<Record<string, Pick<Violation, 'field' | 'message'>>> = {},
): Promise<Output> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HeliographError) {
      const own = by_code[error.code]
      const found = own ? [own] : error.violations
      for (const { field, message } of found) form.setFieldError(field as never, inWords(message))
      leadTo(form)(Object.fromEntries(found.map(({ field }) => [field, true])))
    }
    throw error
  }
}

const scrollIntoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' })

/** Shows an error; `words` has texts of the page by error code. */
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
  // Errors of fields focus their field instead.
  const is_general = wrong.length === 0 && own === undefined
  return (
    <Alert color="red" variant="outline" role="alert" {...(is_general && { ref: scrollIntoView })}>
      {own ?? (wrong.length === 0 ? plainly(error) : <Wrong violations={wrong} />)}
    </Alert>
  )
}

/** Lists all violations: some concern fields that the form does not show. */
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

/** What went wrong with a form: beside the field where it is of one, else above the button. */

import { HeliographError } from '@heliograph/sdk'
import { Alert } from '@mantine/core'
import { plainly } from './plainly.ts'

interface Fields {
  setFieldError(field: never, message: string): void
}

/** Puts what the server found beside the fields, and fails on. */
export async function withFields<Output>(
  form: Fields,
  work: () => Promise<Output>,
): Promise<Output> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HeliographError) {
      for (const { field, message } of error.violations) {
        form.setFieldError(field as never, message)
      }
    }
    throw error
  }
}

/** In words of the page where it has some for the code. */
export function Problem({
  error,
  words = {},
}: {
  error: unknown
  words?: Readonly<Record<string, string>>
}) {
  if (!error) return null
  const is_told = error instanceof HeliographError && error.violations.some(({ field }) => field)
  const own = error instanceof HeliographError ? words[error.code] : undefined
  const message = plainly(error)
  return (
    <Alert color="red" variant="outline" role="alert">
      {own ?? (is_told ? 'Something is wrong above: see beside the fields.' : message)}
    </Alert>
  )
}

import { HeliographError } from '@heliograph/sdk'

/** What the server finds wrong, by field, to stand beside it. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof HeliographError)) return {}
  return Object.fromEntries(error.violations.map(({ field, message }) => [field, message]))
}

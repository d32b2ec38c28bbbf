import { HeliographError } from '@heliograph/sdk'

/** Violations by field. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof HeliographError)) return {}
  return Object.fromEntries(error.violations.map(({ field, message }) => [field, message]))
}

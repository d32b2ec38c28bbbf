import { HeliographError } from '@heliograph/sdk'

/** Codes whose message speaks to programs. */
const plain: Readonly<Record<string, string>> = {
  network_error: 'The server cannot be reached. Nothing is lost: try again in a moment.',
  forbidden_scope: 'An administrator can change what you may do.',
}

/** What went wrong, for who did not ask how it was asked. */
export function plainly(error: unknown): string {
  if (!(error instanceof HeliographError))
    return error instanceof Error ? error.message : `${error}`
  return plain[error.code] ?? error.message
}

import { HeliographError } from '@heliograph/sdk'

/** Texts for codes whose message is written for programs. */
const plain: Readonly<Record<string, string>> = {
  network_error: 'The server cannot be reached. Your input is kept: try again in a moment.',
  forbidden_scope: 'Ask an administrator for access.',
}

/** Error message for people. */
export function plainly(error: unknown): string {
  if (!(error instanceof HeliographError))
    return error instanceof Error ? error.message : `${error}`
  return plain[error.code] ?? error.message
}

import { HeliographError } from '@heliograph/sdk'

/** What went wrong, for who did not ask how it was asked. */
export function plainly(error: unknown): string {
  if (!(error instanceof HeliographError))
    return error instanceof Error ? error.message : `${error}`
  if (error.code !== 'network_error') return error.message
  return 'The server cannot be reached. Nothing is lost: try again in a moment.'
}

import type { ServerResponse } from 'node:http'
import { unavailable } from './errors.ts'

/** Aborts when the connection closes before the answer was sent. */
export function readerSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const leave = () => {
    if (!response.writableFinished) gone.abort(unavailable())
  }
  if (response.closed) leave()
  else response.once('close', leave)
  return gone.signal
}

/** Long series on their way into the thread, packed piece by piece. */
import { setImmediate } from 'node:timers/promises'
import { day_ms } from '@heliograph/domain/utc-day'
import { stackColumns } from '@heliograph/forecast/feature-table'

const piece_ms = 30 * day_ms

interface Span {
  from_ms: number
  to_ms: number
}

/** The pieces of a span one after the other as one array; requests are answered in between. */
export async function inPieces(
  { from_ms, to_ms }: Span,
  pack: (piece: Span) => Float64Array | Promise<Float64Array>,
): Promise<Float64Array> {
  const pieces: Float64Array[] = []
  for (let at = from_ms; at < to_ms; at += piece_ms) {
    pieces.push(await pack({ from_ms: at, to_ms: Math.min(to_ms, at + piece_ms) }))
    await setImmediate()
  }
  return stackColumns(pieces)
}

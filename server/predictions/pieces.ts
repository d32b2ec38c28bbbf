/** Long series on their way into the thread, packed piece by piece. */
import { setImmediate } from 'node:timers/promises'

const piece_ms = 30 * 86_400_000

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
  const all = new Float64Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

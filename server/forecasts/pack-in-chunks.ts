/** Packs long series for the thread in chunks. */

import { setImmediate } from 'node:timers/promises'
import { day_ms } from '@heliograph/domain/durations'
import { stackColumns } from '@heliograph/forecast/feature-table'
import type { Span } from './course.ts'

const chunk_ms = 30 * day_ms

/** Concatenates the packed chunks of a span, and lets the server answer requests in between. */
export async function packInChunks(
  { from_ms, to_ms }: Span,
  pack: (chunk: Span) => Float64Array | Promise<Float64Array>,
): Promise<Float64Array> {
  const chunks: Float64Array[] = []
  for (let at = from_ms; at < to_ms; at += chunk_ms) {
    chunks.push(await pack({ from_ms: at, to_ms: Math.min(to_ms, at + chunk_ms) }))
    await setImmediate()
  }
  return stackColumns(chunks)
}

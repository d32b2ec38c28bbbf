/**
 * Heavy reads run a few at a time. Clients, and the keys of a client, take turns. They run in
 * worker threads when the program has them.
 */
import type { ServerResponse } from 'node:http'
import { availableParallelism } from 'node:os'
import { finished } from 'node:stream'
import type { Timers } from '@heliograph/domain/clock'
import type { Answer, AnyRequest } from './execute.ts'
import { patience } from './export.ts'
import { FairQueue, type QueueBounds } from './fair-queue.ts'

/** Concurrent heavy reads, which is also the number of threads. The main thread keeps one CPU. */
export const heavy_reads_at_once = Math.max(2, Math.min(4, availableParallelism() - 1))

export const heavy_reads_max: QueueBounds = {
  running: heavy_reads_at_once,
  // A single client cannot occupy all places.
  running_per_client: heavy_reads_at_once - 1,
  waiting: 200,
  waiting_per_client: 32,
  waiting_per_key: 16,
  held_bytes_per_client: 32 * 2 ** 20,
}

/** Appended to the description of heavy operations. */
export const heavy_sentence =
  'May wait for other long reads. Rejected with 503 when too many requests wait. See Long reads.'

export const heavy_introduction = `
## Long reads

Operations that read long series are computed a few at a time, and clients take turns. Up to
${heavy_reads_max.waiting_per_key} requests of one key wait, and up to ${heavy_reads_max.waiting_per_client} of all keys of a client. A further request is
rejected with 503 \`service_unavailable\`; \`Retry-After\` estimates how long the waiting requests
take. A request whose connection closes leaves the queue. An answer that is read at less than
${patience.min_kib_s} KiB/s, counted before compression, loses its connection.
`

export type HeavyReads = ReturnType<typeof createHeavyReads>

export function createHeavyReads(timers: Timers, bounds = heavy_reads_max) {
  const queue = new FairQueue(bounds)
  return {
    /**
     * Computes the answer in its turn, and counts its bytes as held until they are sent. Throws 503
     * when too many requests wait, and the reason of `gone` when it aborts before that turn.
     */
    async answer(
      { client_id, key_id }: AnyRequest['caller'],
      { response, gone }: { response: ServerResponse; gone: AbortSignal },
      compute: () => Promise<Answer>,
    ): Promise<Answer> {
      const client = String(client_id)
      const answer = await queue.run({ client, key: key_id, signal: gone }, compute)
      const bytes = answer.text.length
      const release = queue.hold(client, bytes)
      const longest_ms = 1000 * (patience.wait_s + bytes / (patience.min_kib_s * 1024))
      const cancel = timers.after(longest_ms, () => response.destroy())
      finished(response, () => {
        cancel()
        release()
      })
      return answer
    },
  }
}

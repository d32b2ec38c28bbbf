/** Waiting for what may hang. */
import type { Timers } from '@heliograph/domain/clock'

/** What a job comes to, or `late` where it takes longer; rejects as it does. It goes on then. */
export async function inTime<Of>(
  job: Promise<Of>,
  ms_max: number,
  timers: Timers,
): Promise<Of | 'late'> {
  const late = Promise.withResolvers<'late'>()
  const cancel = timers.after(ms_max, () => late.resolve('late'))
  try {
    return await Promise.race([job, late.promise])
  } finally {
    cancel()
  }
}

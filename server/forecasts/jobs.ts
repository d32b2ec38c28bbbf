/** The forecast jobs; each runs in its own thread. */
import type { JobContext } from '../jobs/job.ts'
import { runPriceForecasts, trainPriceForecasts } from './price-runs.ts'
import { runForecasts } from './production-runs.ts'
import { createThread } from './thread.ts'
import { trainForecasts } from './train.ts'

/** Retrains all models, then forecasts with the improved ones. */
export const trainAll = (context: JobContext): Promise<void> =>
  trainAndRun(context, { only_untried: false })

/** Trains targets without a training, then forecasts where new weather or prices have arrived. */
export const runAll = (context: JobContext): Promise<void> =>
  trainAndRun(context, { only_untried: true })

async function trainAndRun(context: JobContext, which: { only_untried: boolean }): Promise<void> {
  const thread = createThread({ in_background: true })
  const stop = () => void thread.close()
  context.signal.addEventListener('abort', stop)
  try {
    const needs = { ...context, thread }
    await runEach(context.signal, [
      () => trainForecasts(needs, which),
      () => trainPriceForecasts(needs, which),
      () => runForecasts(needs),
      () => runPriceForecasts(needs),
    ])
  } finally {
    context.signal.removeEventListener('abort', stop)
    await thread.close()
  }
}

/** Runs steps in turn; a failed step does not stop the next ones, and is thrown at the end. */
async function runEach(signal: AbortSignal, steps: (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    signal.throwIfAborted()
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'forecasts failed')
}

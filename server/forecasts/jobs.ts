/** The jobs of the forecasts, each with a thread of its own for as long as it runs. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import { runPriceForecasts, trainPriceForecasts } from './price-runs.ts'
import { runForecasts } from './production-runs.ts'
import { createThread, type ForecastThread } from './thread.ts'
import { trainForecasts } from './train.ts'

interface Context {
  db: Database
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** Trains all models anew, then forecasts with those that are better. */
export const trainAll = (context: Context): Promise<void> =>
  threaded(context, async (needs) => {
    const train = [trainForecasts, trainPriceForecasts]
    const all = { only_untried: false }
    const steps = train.map((step) => (each: Needs) => step(each, all))
    await everyOne([...steps, runForecasts, runPriceForecasts], needs)
  })

/** Forecasts where new weather or prices came, and trains what was never tried before. */
export const runAll = (context: Context): Promise<void> =>
  threaded(context, (needs) =>
    everyOne(
      [
        (each) => trainForecasts(each, { only_untried: true }),
        (each) => trainPriceForecasts(each, { only_untried: true }),
        runForecasts,
        runPriceForecasts,
      ],
      needs,
    ),
  )

type Needs = Context & { thread: ForecastThread }

async function threaded(context: Context, work: (needs: Needs) => Promise<void>): Promise<void> {
  const thread = createThread({ in_background: true })
  const stop = () => void thread.close()
  context.signal.addEventListener('abort', stop)
  try {
    await work({ ...context, thread })
  } finally {
    context.signal.removeEventListener('abort', stop)
    await thread.close()
  }
}

/** One after the other; one that fails does not hold up the next, and is thrown at the end. */
async function everyOne(steps: ((needs: Needs) => Promise<void>)[], needs: Needs): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    needs.signal.throwIfAborted()
    try {
      await step(needs)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'forecasts failed')
}

/**
 * Latency of requests during a training. Two cheap reads alternate while the job trains, stores and
 * scores the models of a site with two years of history, and run alone before and after. The limit
 * is on the ratio of their p99. Also the processor time of the thread per model, trained by the job
 * for a day ahead, an hour ahead and the hold-out.
 */

import { createHistogram, monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks'
import { systemClock } from '@heliograph/domain/clock'
import { day_ms } from '@heliograph/domain/durations'
import { addPast } from '@heliograph/server/forecasts/fixtures/history'
import { trainAll } from '@heliograph/server/forecasts/jobs'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limits = { ratio: 2, thread_s: 15 } as const
const idle_ms = quickOr(500, 10_000)
const days = quickOr(26, 729)
const paths = ['/overview', '/predictions/forecast']
const log = { info() {}, warn() {}, error() {} }

interface Waits {
  /** By path, µs. */
  waited: RecordableHistogram[]
  loop_delay_ms: { p99: number; max: number }
}

await using plant = await servedPlant({ inverters: 10, strings: 4 })
const { db } = plant
const to_ms = (Math.floor(Date.now() / day_ms) - 1) * day_ms
await addPast(db, { site_id: 'plant', from_ms: to_ms - days * day_ms, to_ms })
await db.execute('vacuum analyze')
await askFor(quickOr(200, 2000))

const before = await askFor(idle_ms)
const began_ms = threadMs()
const signal = new AbortController().signal
const during = await ask(trainAll({ db, clock: systemClock, log, signal }))
const trained_ms = threadMs() - began_ms
const after = await askFor(idle_ms)

const models = await db.query('select from forecast_models')
if (models.length !== 2) throw new Error(`${models.length} models were trained, not 2`)
const thread_s = trained_ms / 1000 / models.length
const ratios = paths.map((path, nth) => {
  const idle = before.waited[nth]!
  idle.add(after.waited[nth]!)
  const busy = during.waited[nth]!
  const ratio = busy.percentile(99) / idle.percentile(99)
  process.stdout.write(
    `${path} idle: ${told(idle)}; while models train: ${told(busy)}: p99 is ` +
      `${ratio.toFixed(2)} times as long, limit ${limits.ratio}\n`,
  )
  return ratio
})
const delays = [before, after, during].map(
  ({ loop_delay_ms: { p99, max } }) => `${p99.toFixed(0)} and ${max.toFixed(0)} ms`,
)
process.stdout.write(
  `p99 and most of the delays of the event loop: ${delays[0]} before, ${delays[1]} after, ` +
    `${delays[2]} while models train\n` +
    `a model takes ${thread_s.toFixed(1)} s of a core, limit ${limits.thread_s} s\n`,
)
const is_good = thread_s <= limits.thread_s && Math.max(...ratios) <= limits.ratio
process.exitCode = is_good ? 0 : 1

function askFor(ms: number): Promise<Waits> {
  return ask(new Promise((resolve) => setTimeout(resolve, ms)))
}

/** Measures until the promise settles; rethrows its error. */
async function ask(until: Promise<unknown>): Promise<Waits> {
  let is_over = false
  const over = until.finally(() => {
    is_over = true
  })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const waited = paths.map(() => createHistogram())
  while (!is_over) {
    for (const [nth, path] of paths.entries()) {
      const began = performance.now()
      await plant.fetch(path)
      waited[nth]!.record(Math.ceil(1000 * (performance.now() - began)))
    }
  }
  delay.disable()
  await over
  return { waited, loop_delay_ms: { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 } }
}

function told(waited: RecordableHistogram): string {
  const at = (percent: number) => (waited.percentile(percent) / 1000).toFixed(1)
  return `p50 ${at(50)} ms, p99 ${at(99)} ms of ${waited.count}`
}

/** Processor time of all threads but this one. */
function threadMs(): number {
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()]
  return (all.user + all.system - main.user - main.system) / 1000
}

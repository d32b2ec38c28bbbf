import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const outcomes = ['succeeded', 'failed'] as const
export type Outcome = (typeof outcomes)[number]

/** Every job starts with zero runs, so that jobs that never ran are visible. */
export function jobMetrics(registry: Registry, names: readonly string[]) {
  const registers = [registry]
  const runs = new Counter({
    name: 'heliograph_job_runs_total',
    help: 'Runs of jobs by outcome; each retry counts',
    labelNames: ['job', 'outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'heliograph_job_duration_seconds',
    help: 'Duration of job runs, failed runs included',
    labelNames: ['job'],
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  })
  const succeeded_at = new Gauge({
    name: 'heliograph_job_last_success_timestamp_seconds',
    help: 'When a run on this replica last succeeded',
    labelNames: ['job'],
    registers,
  })
  for (const job of names) for (const outcome of outcomes) runs.inc({ job, outcome }, 0)
  return {
    observe(job: string, outcome: Outcome, at_ms: number, elapsed_ms: number) {
      runs.inc({ job, outcome })
      duration.observe({ job }, elapsed_ms / 1000)
      if (outcome === 'succeeded') succeeded_at.set({ job }, at_ms / 1000)
    },
  }
}

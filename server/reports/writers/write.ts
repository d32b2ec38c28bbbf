/** Writes reports in a low-priority thread, so that requests do not wait. */
import type { Timers } from '@heliograph/domain/clock'
import { createWorkerThread } from '../../threads/worker-thread.ts'
import type { ReportDocument, ReportFormat, WriteReport, WrittenReport } from '../document.ts'

/** Timeout; a large report takes a fraction of this on a busy machine. */
const give_up_ms = 120_000

export interface ReportWriter {
  write: WriteReport
  /** Ends the thread at once. */
  close(): Promise<void> | void
}

export interface WriteTask {
  document: ReportDocument
  format: ReportFormat
}

/** Writes one report at a time, in order. With `timers`, a report fails after two minutes. */
export function createReportWriter({ timers }: { timers?: Timers } = {}): ReportWriter {
  const error = () => new Error('the report took longer than two minutes to write')
  const thread = createWorkerThread<WriteTask, WrittenReport>(
    new URL('./worker.ts', import.meta.url),
    {
      name: 'report',
      in_background: true,
      ...(timers ? { give_up: { after_ms: give_up_ms, timers, error } } : {}),
    },
  )
  return {
    write: (document, format) => thread.run({ document, format }),
    close: () => thread.close(),
  }
}

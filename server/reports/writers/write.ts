/** Reports are written in a thread of their own, behind all else: no request waits for one. */
import type { Timers } from '@heliograph/domain/clock'
import { createWorkerThread } from '../../threads/worker-thread.ts'
import type { ReportDocument, ReportFormat, WriteReport, WrittenReport } from '../document.ts'

/** Many times what a large report takes on a busy machine. */
const give_up_ms = 120_000

export interface WriteTask {
  document: ReportDocument
  format: ReportFormat
}

interface ReportWriter {
  /**
   * One report at a time, in the order asked for. Throws why one cannot be written, that it took
   * longer than two minutes, or that the thread ended.
   */
  write: WriteReport
  /** Ends it, whatever it is at. */
  close(): Promise<void>
}

/** With `timers` a report that takes more than two minutes is given up. */
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

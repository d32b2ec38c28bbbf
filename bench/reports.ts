/**
 * Time to write a report in each format: a month of 28 plants with tiles, charts, a heat map, a
 * matrix of days and 840 rows. Also the latency of requests while reports are written one after the
 * other. The limit is on the ratio of their p99 with and without reports, which holds on a busy
 * machine too.
 */
import type { ReportFormat } from '@heliograph/server/reports/document'
import { monthly } from '@heliograph/server/reports/writers/fixtures/sample-documents'
import { createReportWriter } from '@heliograph/server/reports/writers/write'
import { besideWork, startClient } from './fixtures/beside-peer.ts'
import { elapsedMs, median, tell, timesOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 5000
/** Limit of the ratio of p99: the writing thread gives way to the answering one. */
const ratio_max = 2

await using plant = await servedPlant({ inverters: 100, strings: 4 })
using client = startClient(plant)
await using stack = new AsyncDisposableStack()
const writer = stack.adopt(createReportWriter(), (each) => each.close())
// The first starts the thread, which loads what it writes with.
const first_ms = await elapsedMs(() => write('pdf'))
for (const format of ['pdf', 'xlsx', 'csv'] as const) {
  const taken = await timesOf(() => write(format), { rounds: quickOr(1, 5) })
  const worst_ms = Math.max(...taken, format === 'pdf' ? first_ms : 0)
  tell(
    worst_ms <= limit_ms,
    `a month of 28 plants as ${format}: p50 ${median(taken).toFixed(0)} ms, worst ` +
      `${worst_ms.toFixed(0)} ms, limit ${limit_ms} ms`,
  )
}

await besideWork(client, {
  path: '/loggers',
  rounds: quickOr(1, 8),
  meanwhile: 'while a report is written',
  work: () => write('pdf'),
  ratio_max,
})

async function write(format: ReportFormat): Promise<void> {
  const { bytes } = await writer.write(monthly(), format)
  if (bytes.length < 10_000) throw new Error(`a ${format} of ${bytes.length} bytes`)
}

/**
 * Time to write a report in each format: a month of 28 plants with tiles, charts, a heat map, a
 * matrix of days and 840 rows. Also the latency of requests while reports are written one after the
 * other. The limit is on the ratio of their p99 with and without reports, which holds on a busy
 * machine too.
 */
import type { ReportFormat } from '@heliograph/server/reports/document'
import { monthly } from '@heliograph/server/reports/writers/fixtures/sample-documents'
import { createReportWriter } from '@heliograph/server/reports/writers/write'
import { figuresOf, startClient, type Timed, waitsOf } from './fixtures/beside-peer.ts'
import { median, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const limit_ms = 5000
/** Limit of the ratio of p99: the writing thread gives way to the answering one. */
const wait_ratio = 2
const rounds = quickOr(1, 8)
const asked = '/loggers'

const plant = await servedPlant({ inverters: 100, strings: 4 })
const client = startClient(plant)
const writer = createReportWriter()
try {
  // The first starts the thread, which loads what it writes with.
  const first_ms = await write('pdf')
  for (const format of ['pdf', 'xlsx', 'csv'] as const) {
    const taken: number[] = []
    for (let round = 0; round < 5; round += 1) taken.push(await write(format))
    const worst_ms = Math.max(...taken, format === 'pdf' ? first_ms : 0)
    tell(
      worst_ms <= limit_ms,
      `a month of 28 plants as ${format}: p50 ${median(taken).toFixed(0)} ms, worst ` +
        `${worst_ms.toFixed(0)} ms, limit ${limit_ms} ms`,
    )
  }

  await client.ask(asked, 50)
  const [without, meanwhile]: [Timed[], Timed[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    without.push(await client.ask(asked, 100))
    let is_writing = true
    const writing = write('pdf').finally(() => {
      is_writing = false
    })
    while (is_writing) meanwhile.push(await client.ask(asked, 10))
    await writing
  }
  const [idle, busy] = [figuresOf(without), figuresOf(meanwhile)]
  const ratio = busy.p99_ms / idle.p99_ms
  tell(
    ratio <= wait_ratio,
    `requests (${asked}): ${waitsOf(idle)}; while a report is written ${waitsOf(busy)}: p99 is ` +
      `${ratio.toFixed(2)} times as long, limit ${wait_ratio}`,
  )
} finally {
  client.stop()
  await writer.close()
  await plant.close()
}

async function write(format: ReportFormat): Promise<number> {
  const began = performance.now()
  const { bytes } = await writer.write(monthly(), format)
  if (bytes.length < 10_000) throw new Error(`a ${format} of ${bytes.length} bytes`)
  return performance.now() - began
}

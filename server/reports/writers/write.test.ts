import assert from 'node:assert/strict'
import test from 'node:test'
import { documentOf, longTable, metrics, monthly } from './fixtures/sample-documents.ts'
import { createReportWriter } from './write.ts'

test('each format comes from the thread, in order, and a bad document is rejected', async (t) => {
  const writer = createReportWriter()
  t.after(() => writer.close())
  const document = documentOf([metrics, longTable(20)])
  const [pdf, bad, xlsx, csv] = await Promise.allSettled([
    writer.write(document, 'pdf'),
    writer.write({ ...document, timezone: 'Europe/Nowhere' }, 'pdf'),
    writer.write(document, 'xlsx'),
    writer.write(document, 'csv'),
  ])
  assert.match(String(bad.status === 'rejected' && bad.reason), /time zone/)
  const written = [pdf, xlsx, csv].map((one) => {
    assert.equal(one.status, 'fulfilled')
    return (one as PromiseFulfilledResult<Awaited<ReturnType<typeof writer.write>>>).value
  })
  assert.deepEqual(
    written.map(({ bytes, file_extension, content_type, page_count }) => [
      Buffer.from(bytes.subarray(0, 4)).toString('latin1'),
      file_extension,
      content_type.split('/')[1],
      page_count,
    ]),
    [
      ['%PDF', 'pdf', 'pdf', 1],
      ['PK\u0003\u0004', 'xlsx', 'vnd.openxmlformats-officedocument.spreadsheetml.sheet', null],
      ['\u00ef\u00bb\u00bfM', 'csv', 'csv; charset=utf-8', null],
    ],
  )
})

test('a report that takes too long is rejected', async (t) => {
  let giveUp = () => {}
  const timers = {
    after(delay_ms: number, callback: () => void) {
      assert.equal(delay_ms, 120_000)
      giveUp = callback
      return () => {}
    },
  }
  const writer = createReportWriter({ timers })
  t.after(() => writer.close())
  const failed = assert.rejects(writer.write(monthly(), 'pdf'), /longer than two minutes/)
  giveUp()
  await failed
})

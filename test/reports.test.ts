/** Every report of the catalogue, ordered over HTTP, made by the jobs and downloaded. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test, { after, before } from 'node:test'
import { type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { templates } from '../server/reports/catalog.ts'
import { makeReports } from '../server/reports/making.ts'
import { reportPeriods, templatePeriodOf } from '../server/reports/periods.ts'
import { createReportWriter } from '../server/reports/writers/write.ts'
import { silent } from './postgres.ts'

let site: ServedSite
const key = `svc_live_0123456789ab_${'5e'.repeat(32)}`

before(async () => {
  site = await servedSite()
  await site.db.execute('update api_keys set write_per_minute = 100000')
})
after(() => site.close())

const ask = (method: 'GET' | 'POST', path: string, payload?: object) =>
  site.app.inject({
    method,
    url: path.startsWith('/v1/') ? path : `/v1/sites/demo/reports${path}`,
    headers: { authorization: `Bearer ${key}` },
    ...(payload && { payload }),
  })

const begins: Record<string, string> = { pdf: '%PDF-', xlsx: 'PK', csv: '' }

async function make(): Promise<void> {
  const failures: unknown[] = []
  await makeReports({
    db: site.db,
    clock: site.clock,
    log: { ...silent, error: (what: unknown) => void failures.push(what) },
    signal: new AbortController().signal,
    catalog: templates,
    writer: createReportWriter(),
  })
  assert.deepEqual(failures, [])
}

for (const { template_id, formats, periods } of templates) {
  test(`${template_id} of a site without readings is made in each of its formats`, async () => {
    const period = reportPeriods.find((each) => periods.includes(templatePeriodOf[each]))
    const files = new Map<string, string>()
    for (const format of formats) {
      const order = { name: 'Empty', template_id, format, period, frequency: 'daily' }
      const body = { ...order, recipients: ['one@example.com'] }
      const made = await ask('POST', '/subscriptions', body)
      assert.equal(made.statusCode, 201, made.payload)
      const asked = await ask('POST', `/subscriptions/${made.json().sub_id}/run`)
      assert.equal(asked.statusCode, 202, asked.payload)
      files.set(String(asked.headers['location']), format)
    }
    await make()
    const { data } = (await ask('GET', '/runs?limit=100')).json()
    for (const [address, format] of files) {
      const file = await ask('GET', address)
      assert.equal(file.statusCode, 200, file.payload)
      const run = data.find((each: { download_url: string }) => each.download_url === address)
      const digest = createHash('sha256').update(file.rawPayload).digest('hex')
      assert.deepEqual([run.status, run.sha256], ['succeeded', digest])
      assert.ok(file.rawPayload.subarray(0, 5).toString().startsWith(begins[format]!), format)
      assert.equal(run.page_count === null, format !== 'pdf')
    }
  })
}

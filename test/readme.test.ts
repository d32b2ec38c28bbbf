/** The examples of README.md that change something are requests that the server takes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { maintenanceSite } from '@heliograph/server/features/fixtures/maintenance-site'

interface Example {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body: string | null
}

/** The calls of curl in a chapter. */
function examplesOf(chapter: string): Example[] {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, own = ''] = text.split(`\n## ${chapter}\n`)
  const [until = ''] = own.split('\n## ')
  const lines = until.replaceAll('\\\n', ' ')
  return [...lines.matchAll(/^curl (?:[^'"\n]|'[^']*'|"[^"]*")*$/gm)].map(([call]) => {
    const [, path = ''] = /"\$API([^"]*)"/.exec(call) ?? []
    const [, body = null] = /-d '([^']*)'/.exec(call) ?? []
    const [, method = body === null ? 'GET' : 'POST'] = /-X (\w+)/.exec(call) ?? []
    return { method: method as Example['method'], path, body }
  })
}

test('alerts, work and reports are asked for as README.md says', async (t) => {
  const site = await maintenanceSite()
  t.after(site.close)
  const [alert] = await site.db.query<{ alert_id: number }>(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
    values ('demo', 'x', 'string_zero_current', 'T', 'M.', 'production', 'major', 'active',
      'string', '1.3', now(), now(), now(), now(), now()) returning alert_id`)
  const known: Record<string, unknown> = { ALERT_ID: alert!.alert_id }
  const filled = (text: string) =>
    text.replace(/[A-Z]+_ID/g, (name) => String(known[name] ?? assert.fail(`no ${name} yet`)))
  const examples = examplesOf('Alerts, work, reports')
  assert.equal(examples.length, 11)
  for (const { method, path, body } of examples) {
    // There is a file once the job has made it: test/reports.test.ts.
    if (path.endsWith('/file')) continue
    const sent = body === null ? {} : { body: JSON.parse(filled(body)) }
    const answer = await site.ask(method, filled(path), sent)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    const { wo_id, sub_id, run_id } = answer.body
    if (wo_id) known['WO_ID'] = wo_id
    if (sub_id) known['SUB_ID'] = sub_id
    if (run_id) known['RUN_ID'] = run_id
  }
  assert.deepEqual(Object.keys(known), ['ALERT_ID', 'WO_ID', 'SUB_ID', 'RUN_ID'])
  const orders = (await site.ask('GET', '/work-orders')).body.data
  assert.deepEqual(orders[0].alert_ids, [alert!.alert_id])
})

/** A person orders a report once, over free dates: it needs no subscription. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOfFile } from '../access/fixtures/served-platform.ts'

const platform = platformOfFile()
const path = '/platform/report-runs'
const order = {
  site_id: 'first',
  template_id: 'losses',
  start_date: '2026-05-02',
  end_date: '2026-05-14',
  format: 'pdf',
}

test('an operator orders a report over free dates, and its run is listed', async () => {
  const { db, person } = platform
  await db.execute(
    `update sites set inventory = '{"timezone": "Europe/Berlin"}' where site_id = 'first'`,
  )
  const operator = await person('operator', 'operator@example.com')
  const viewer = await person('viewer', 'viewer@example.com')
  const ask = async (by: typeof operator, change: object = {}) => {
    const { status, body } = await by.ask('POST', path, { body: { ...order, ...change } })
    const fields = body.error?.details?.errors?.map(({ field }: { field: string }) => field)
    return { status, body, told: [status, ...(fields ?? [body.error?.code])] }
  }
  assert.deepEqual((await ask(viewer)).told, [403, 'forbidden_role'])
  const { status, body } = await ask(operator)
  assert.equal(status, 202, JSON.stringify(body))

  const { body: runs } = await operator.ask('GET', '/v1/sites/first/reports/runs')
  assert.equal(runs.meta.count, 1)
  const [run] = runs.data
  assert.deepEqual(
    [run.run_id, run.status, run.trigger, run.subscription_id, run.template_id, run.requested_by],
    [body.run_id, 'queued', 'manual', null, 'losses', 'The operator'],
  )
  assert.deepEqual(
    [run.period_start_at, run.period_end_at],
    ['2026-05-01T22:00:00.000Z', '2026-05-14T22:00:00.000Z'],
  )
  const { body: subscriptions } = await operator.ask('GET', '/v1/sites/first/reports/subscriptions')
  assert.equal(subscriptions.meta.count, 0)

  const faults: [change: object, field: string][] = [
    [{ site_id: 'foreign' }, 'site_id'],
    [{ template_id: 'none' }, 'template_id'],
    [{ format: 'csv', template_id: 'none' }, 'template_id'],
    [{ start_date: '2026-05-15' }, 'start_date'],
    [{ start_date: '2025-05-01' }, 'start_date'],
    [{ start_date: '2026-02-30' }, 'start_date'],
    [{ end_date: '2999-01-01' }, 'end_date'],
    [{ timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ logger_ids: [77] }, 'logger_ids.0'],
    [{ parameters: { nonsense: 1 } }, 'parameters.nonsense'],
  ]
  for (const [change, field] of faults) {
    assert.deepEqual((await ask(operator, change)).told, [422, field], JSON.stringify(change))
  }
  await db.execute(`update sites set safe_mode_since_at = now() where site_id = 'first'`)
  assert.deepEqual((await ask(operator)).told, [409, 'conflict_safe_mode'])
  await db.execute(`update sites set safe_mode_since_at = null where site_id = 'first'`)

  for (let nth = 1; nth < 20; nth += 1) assert.equal((await ask(operator)).status, 202)
  assert.deepEqual((await ask(operator)).told, [409, 'conflict_state'])
})

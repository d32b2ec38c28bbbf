/** Orders and their defects: what is over keeps what it saw to, and each change shows on both. */
import assert from 'node:assert/strict'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { noon } from '../../fixtures/served-site.ts'
import { type OrderSite, orderSite, violations } from './fixtures/order-site.ts'

let site: OrderSite

before(async () => {
  site = await orderSite()
  await site.db.query(`
    insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
      source_type, source_id, logger_id, inverter_id, string_index, started_at, detected_at,
      last_seen_at, created_at, updated_at)
    select 'demo', 'x:' || n, 'x', 'X', 'x', 'equipment', 'major', 'active', 'inverter', '1',
      1, 1, n, now(), now(), now(), now(), now()
    from generate_series(2, 3) n`)
})
beforeEach(() => site.db.query('delete from notification_reads; delete from om_notifications'))
afterEach(() => site.clock.set(noon))
after(() => site.close())

const change = (wo_id: number, body: Record<string, unknown>, if_match?: string) =>
  site.ask('PUT', `/work-orders/${wo_id}`, { body, if_match })
const put = (defect_id: number, body: object) => site.ask('PUT', `/defects/${defect_id}`, { body })
const read = async (wo_id: number) => (await site.ask('GET', `/work-orders/${wo_id}`)).body
const defectOf = async (id: number) => (await site.ask('GET', `/defects/${id}`)).body
const report = async (body: object = {}) => {
  const given = { title: 'Crack', severity: 'low', ...body }
  const answer = await site.ask('POST', '/defects', { body: given })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
const verify = async (defect_id: number) => {
  await put(defect_id, { status: 'resolved' })
  await put(defect_id, { status: 'verified' })
  return defectOf(defect_id)
}
const approve = async (wo_id: number) => {
  await change(wo_id, { status: 'in_progress' })
  await change(wo_id, { status: 'completed' })
  await site.ask('POST', `/work-orders/${wo_id}/approve`, { body: {} })
}
const messageOf = ({ body }: { body: { error: { details: { errors: { message: string }[] } } } }) =>
  body.error.details.errors[0]!.message
const toldTo = async () => {
  const rows = await site.db.query<{ title: string; recipient: string | null }>(
    'select title, recipient from om_notifications order by notification_id',
  )
  return rows.map(({ title, recipient }) => `${recipient}: ${title}`)
}

test('a verified defect joins no order, and leaves none', async () => {
  const { defect_id, number } = await report()
  const free = await verify(defect_id)
  const joined = await site.ask('POST', '/work-orders', {
    body: { title: 'x', defect_ids: [defect_id] },
  })
  assert.deepEqual(violations(joined), ['defect_ids.0 not_allowed_value'])
  assert.match(messageOf(joined), new RegExp(`${number} is verified`))
  const { wo_id } = await site.create()
  assert.equal((await change(wo_id, { defect_ids: [defect_id] })).status, 422)
  assert.deepEqual(await defectOf(defect_id), free)

  const seen_to = await report({ wo_id })
  const beside = await report({ wo_id })
  const verified = await verify(seen_to.defect_id)
  const less = await change(wo_id, { defect_ids: [] })
  assert.deepEqual([less.status, less.body.defect_ids], [200, [seen_to.defect_id]])
  assert.deepEqual(await defectOf(seen_to.defect_id), verified)
  assert.equal((await defectOf(beside.defect_id)).wo_id, null)
  const again = await change(wo_id, { defect_ids: [] })
  assert.deepEqual([again.body.version, again.etag], [less.body.version, less.etag])
  assert.equal((await change(wo_id, { defect_ids: [seen_to.defect_id] })).status, 200)
})

test('an approved order keeps its defects, from both sides', async () => {
  const { wo_id, number } = await site.create()
  const { defect_id } = await report({ wo_id })
  await approve(wo_id)
  const approved = await read(wo_id)
  const next = await site.create()
  for (const other of [null, next.wo_id]) {
    const taken = await put(defect_id, { wo_id: other })
    assert.equal(taken.status, 409)
    assert.deepEqual(taken.body.error.details, {
      defect_id,
      wo_id,
      current_state: 'approved',
      allowed_from: ['open', 'assigned', 'in_progress', 'on_hold', 'completed', 'cancelled'],
      message: `${number} is approved and keeps its defects`,
    })
  }
  const joined = await change(next.wo_id, { defect_ids: [defect_id] })
  assert.deepEqual(violations(joined), ['defect_ids.0 not_allowed_value'])
  assert.match(messageOf(joined), new RegExp(`${number}, which is approved`))
  assert.deepEqual(await read(wo_id), approved)
  assert.equal((await put(defect_id, { wo_id, status: 'in_progress' })).status, 200)
})

test('an order whose defects change is another version of it', async () => {
  const first = await site.create()
  const second = await site.create()
  const versions = () =>
    Promise.all([first, second].map(async ({ wo_id }) => (await read(wo_id)).version))
  site.clock.set('2026-06-21T10:30:00Z')
  const { defect_id } = await report({ wo_id: first.wo_id })
  const { version, updated_at, defect_ids } = await read(first.wo_id)
  assert.deepEqual([version, updated_at, defect_ids], [2, '2026-06-21T10:30:00.000Z', [defect_id]])
  assert.equal((await change(first.wo_id, { title: 'Late' }, first.etag)).status, 412)
  await put(defect_id, { wo_id: second.wo_id })
  assert.deepEqual(await versions(), [3, 2])
  await put(defect_id, { wo_id: second.wo_id, title: 'Same order' })
  assert.deepEqual(await versions(), [3, 2])
  await put(defect_id, { wo_id: null })
  assert.deepEqual(await versions(), [3, 3])
  await change(first.wo_id, { defect_ids: [defect_id] })
  await change(first.wo_id, { status: 'cancelled' })
  await change(second.wo_id, { defect_ids: [defect_id] })
  const cancelled = await read(first.wo_id)
  assert.deepEqual([cancelled.defect_ids, cancelled.version], [[], 6])
  assert.equal((await read(second.wo_id)).version, 4)
})

test('who asks for a defect while another gets it is told which order has it', async () => {
  const { defect_id } = await report()
  const [first, second] = [await site.create(), await site.create()]
  const asking = await site.db.transaction(async (tx) => {
    await tx.execute('update defects set wo_id = $2 where defect_id = $1', [defect_id, first.wo_id])
    const asked = change(second.wo_id, { defect_ids: [defect_id] })
    for (let waiting = 0; waiting === 0; ) {
      const [found] = await site.db.query<{ count: number }>(
        `select count(*) from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database()`,
      )
      waiting = found!.count
    }
    return { asked }
  })
  const answer = await asking.asked
  assert.deepEqual(violations(answer), ['defect_ids.0 not_allowed_value'])
  assert.equal(messageOf(answer), `belongs to ${first.number}, which is open`)
})

test('orders that take and give defects at once wait for each other, and none fails', async () => {
  const orders = [await site.create(), await site.create()]
  const made = await Promise.all([0, 1, 2, 3].map(() => report()))
  const answers = await Promise.all(
    made.flatMap(({ defect_id }, nth) => [
      put(defect_id, { wo_id: orders[nth % 2]!.wo_id }),
      put(defect_id, { wo_id: orders[(nth + 1) % 2]!.wo_id }),
      change(orders[nth % 2]!.wo_id, { defect_ids: [] }),
    ]),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
})

test('people are told of a defect whose order changes it', async () => {
  const { defect_id, number } = await report({ assigned_to: 'Ada' })
  const { wo_id, number: order } = await site.create({ defect_ids: [defect_id] })
  await change(wo_id, { defect_ids: [defect_id], labour_h: 1 })
  await change(wo_id, { defect_ids: [] })
  assert.deepEqual(await toldTo(), [
    `Ada: ${number} was reported`,
    `Ada: ${number} was changed`,
    `null: ${order} was created`,
    `Ada: ${number} was changed`,
  ])
})

test('who gets an order and who loses it are told', async () => {
  const { wo_id, number } = await site.create({ assigned_to: 'ada', assigned_to_name: 'Ada B.' })
  await change(wo_id, { assigned_to: 'bob' })
  await change(wo_id, { contractor: 'Sunny' })
  await change(wo_id, { team: 'South', contractor: null })
  await change(wo_id, { status: 'open' })
  assert.deepEqual(await toldTo(), [
    `ada: ${number} is assigned to Ada B.`,
    `ada: ${number} is no longer assigned to Ada B.`,
    `bob: ${number} is assigned to bob`,
    `Sunny: ${number} is assigned to Sunny`,
    `Sunny: ${number} is no longer assigned to Sunny`,
    `South: ${number} is assigned to South`,
    `bob: ${number} is no longer assigned to bob`,
    `South: ${number} is no longer assigned to South`,
  ])
})

test('a defect that is reported of alerts has the device on which they agree', async () => {
  const [a, b] = await site.db.query<{ alert_id: number }>('select alert_id from alerts')
  const about = async (body: object) => {
    const { location_id, logger_id, inverter_id, string_index } = await report(body)
    return [location_id, logger_id, inverter_id, string_index]
  }
  assert.deepEqual(await about({ alert_ids: [a!.alert_id] }), [2, 1, 1, 2])
  assert.deepEqual(await about({ alert_ids: [a!.alert_id, b!.alert_id] }), [2, 1, 1, null])
  assert.deepEqual(await about({ alert_ids: [a!.alert_id], logger_id: 1 }), [2, 1, null, null])
})

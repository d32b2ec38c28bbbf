/**
 * Every object that has PUT is read, changed in one field and written back whole. Its read-only
 * fields are ignored as they were read, and refused by name where they differ.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keepAlerts } from '../../server/alerts/fixtures/kept-alerts.ts'
import { addBatteries, addBatteryReadings } from '../../server/batteries/fixtures/battery-site.ts'
import { addPrices, assignMarket } from '../../server/batteries/fixtures/schedule-site.ts'
import { endpoints } from '../../server/endpoints.ts'
import { type MaintenanceSite, maintenanceSite } from '../../server/fixtures/maintenance-site.ts'

let site: MaintenanceSite
let schedule_id: number

before(async () => {
  site = await maintenanceSite()
  const { db, clock, ask } = site
  await keepAlerts(db)
  await addBatteries(db)
  await addBatteryReadings(db, new Date(clock.now().getTime() - 1000).toISOString())
  await assignMarket(db)
  await addPrices(db, { date: '2026-06-21' })
  const attachments = [
    { file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://files.example.com/a.jpg' },
  ]
  const about = { inverter_id: 1, string_index: 3, alert_ids: [1], attachments }
  const order = { ...about, title: 'Fuse', assigned_to: 'ada', assigned_to_name: 'Ada' }
  const item = { title: 'Insulation', type: 'measurement', unit: 'MΩ', min_value: 1 }
  const made = [
    await ask('POST', '/work-orders', { body: { ...order, checklist: [item] } }),
    await ask('POST', '/defects', { body: { ...about, title: 'Crack', severity: 'low' } }),
    await ask('POST', '/bess/1/optimize'),
  ]
  for (const { status, body } of made) assert.equal(status, 201, JSON.stringify(body))
  schedule_id = made.at(-1)!.body.schedule_id
})
after(() => site.close())

// biome-ignore lint/suspicious/noExplicitAny: objects of any operation
type Json = any

interface Case {
  /** Of the object in the answer to GET, and in that to PUT. */
  get: string
  put: string
  object(answer: Json): Json
  change: Record<string, unknown>
}

const orderItem = ({ checklist }: Json) => checklist[0]
const lastHour = ({ hours }: Json) => hours[23]
const whole = (answer: Json) => answer

const cases: Readonly<Record<string, Case>> = {
  work_order_change: {
    get: '/work-orders/1',
    put: '/work-orders/1',
    object: whole,
    change: { assigned_to: 'bob' },
  },
  work_order_item_change: {
    get: '/work-orders/1',
    put: '/work-orders/1/items/1',
    object: orderItem,
    change: { note: 'Measured after rain.' },
  },
  defect_change: {
    get: '/defects/1',
    put: '/defects/1',
    object: whole,
    change: { severity: 'high' },
  },
  bess_schedule_hour_revise: {
    get: '/bess/schedules/{schedule_id}',
    put: '/bess/schedules/{schedule_id}/hours/23',
    object: lastHour,
    change: { power_kw: 0 },
  },
}

/** An action on a notification: it takes no body. */
const without_object = ['om_notification_read']

test('every operation with PUT is written back', () => {
  const puts = endpoints.filter(({ method }) => method === 'PUT')
  assert.deepEqual(
    puts.map(({ operation_id }) => operation_id).toSorted(),
    [...Object.keys(cases), ...without_object].toSorted(),
  )
})

const pathOf = (path: string) => path.replace('{schedule_id}', String(schedule_id))

for (const [operation_id, { get, put, object, change }] of Object.entries(cases)) {
  const write = (body: unknown) => site.ask('PUT', pathOf(put), { body })
  const read = async () => {
    const { status, body } = await site.ask('GET', pathOf(get))
    assert.equal(status, 200, JSON.stringify(body))
    return object(body)
  }

  test(`${operation_id}: what was read is written back, with one change and with none`, async () => {
    const seen = await read()
    const unchanged = await write(seen)
    assert.equal(unchanged.status, 200, JSON.stringify(unchanged.body))
    const changed = { ...(await read()), ...change }
    const answer = await write(changed)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const after = object(answer.body)
    for (const [field, value] of Object.entries(change)) assert.deepEqual(after[field], value)
  })

  test(`${operation_id}: each read-only field that differs is refused by name`, async () => {
    const seen = await read()
    const { object: schema, body } = endpoints.find((one) => one.operation_id === operation_id)!
    const writable = Object.keys((body as unknown as { properties: object }).properties)
    const fields = Object.keys(schema!.properties).filter((name) => !writable.includes(name))
    assert.ok(fields.length > 3)
    for (const field of fields) {
      const { status, body: answer } = await write({ ...seen, [field]: 'other' })
      assert.equal(status, 422, field)
      const errors = answer.error.details.errors
      assert.deepEqual(
        errors.map((error: Json) => [error.location, error.field, error.code]),
        [['body', field, 'read_only_field']],
      )
    }
    assert.deepEqual(await read(), seen, 'a refused write changes nothing')
  })
}

test('an attachment is added to those that were read', async () => {
  for (const path of ['/work-orders/1', '/defects/1']) {
    const { body } = await site.ask('GET', path)
    const file = { file_name: 'b.jpg', content_type: 'image/jpeg', url: 'https://x.example/b.jpg' }
    const attachments = [...body.attachments, file]
    const added = await site.ask('PUT', path, { body: { ...body, attachments } })
    assert.equal(added.status, 200, JSON.stringify(added.body))
    assert.equal(added.body.attachments.length, 2)
    assert.deepEqual(added.body.attachments[0], body.attachments[0])
  }
})

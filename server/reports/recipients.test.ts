/** Recipients of reports: nothing but a question is mailed to an address that has not agreed. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { confirmByLink, confirmByOperator } from '../mail/recipients.ts'
import { type ServedReports, servedReports } from './fixtures/served-reports.ts'
import { makeReports } from './making.ts'
import { planReports } from './planning.ts'

let served: ServedReports
before(async () => {
  served = await servedReports()
})
beforeEach(async () => {
  await served.clear()
  await served.db.execute('delete from mail_recipients; delete from users')
})
after(() => served.close())

interface Mail {
  recipient: string
  subject: string
  link_path: string
}

const mails = () =>
  served.db.query<Mail>('select recipient, subject, link_path from mail_outbox order by mail_id')

const tokenOf = ({ link_path }: Mail) => link_path.split('#')[1]!
const question = 'Confirm your subscription to plant reports'

async function due(day: string) {
  served.at(`${day}T05:00:00Z`)
  await planReports(served.server)
  await makeReports(served.server)
}

const pending = async () =>
  (await served.ask('GET', '/subscriptions')).body.data[0].pending_recipients

test('an address gets one request to confirm, and reports after it has confirmed', async () => {
  const recipients = ['Stranger@example.com', 'other@example.com']
  const made = await served.subscribe({ recipients })
  assert.deepEqual(made.pending_recipients, recipients)
  await served.subscribe({ recipients })
  await due('2026-06-22')
  const asked = await mails()
  assert.deepEqual(
    asked.map(({ recipient, subject }) => [recipient, subject]),
    [
      ['stranger@example.com', question],
      ['other@example.com', question],
    ],
    'two subscriptions, a run of each, and one question',
  )
  const now = new Date('2026-06-22T06:00:00Z')
  const confirmed = await confirmByLink(served.db, tokenOf(asked[0]!), now)
  assert.deepEqual(confirmed, { email: 'stranger@example.com', client: 'Owner' })
  assert.equal(await confirmByLink(served.db, tokenOf(asked[0]!), now), null, 'good once')
  assert.deepEqual(await pending(), ['other@example.com'])
  await due('2026-06-23')
  const sent = (await mails()).slice(2)
  assert.deepEqual(
    sent.map(({ recipient }) => recipient),
    ['Stranger@example.com', 'Stranger@example.com'],
  )
  assert.ok(sent.every(({ subject }) => subject !== question))
})

test('a link expires after seven days, and the next run sends a new request', async () => {
  await served.subscribe({ recipients: ['late@example.com'] })
  const [first] = await mails()
  assert.equal(await confirmByLink(served.db, 'f'.repeat(64), new Date('2026-06-22')), null)
  assert.equal(await confirmByLink(served.db, tokenOf(first!), new Date('2026-06-28T11:00Z')), null)
  await due('2026-06-27')
  assert.equal((await mails()).length, 1)
  await due('2026-06-29')
  const again = await mails()
  assert.equal(again.length, 2)
  assert.ok(await confirmByLink(served.db, tokenOf(again[1]!), new Date('2026-06-30')))
})

test('people of the client and addresses confirmed by the operator get no request', async () => {
  await served.db.execute(`insert into users (id, client_id, role, name, email, email_verified)
    values ('user_000000000001', 1, 'viewer', 'Ada', 'ada@example.com', true)`)
  await confirmByOperator(served.db, { client_id: 1, email: 'Owner@example.com' }, new Date())
  const recipients = ['Ada@example.com', 'owner@example.com']
  const made = await served.subscribe({ recipients })
  assert.deepEqual(made.pending_recipients, [])
  await due('2026-06-22')
  assert.deepEqual(
    (await mails()).map(({ recipient }) => recipient),
    recipients,
  )
  await served.db.execute('update users set disabled_at = now()')
  assert.deepEqual(await pending(), ['Ada@example.com'])
})

test('at most 100 requests to confirm are sent per day', async () => {
  const { sub_id } = await served.subscribe({ recipients: ['first@example.com'] })
  for (let turn = 0; turn < 4; turn += 1) {
    const recipients = Array.from({ length: 40 }, (_, nth) => `r${turn}-${nth}@example.com`)
    const { status } = await served.ask('PATCH', `/subscriptions/${sub_id}`, {
      body: { recipients },
    })
    assert.equal(status, 200)
  }
  assert.equal((await mails()).length, 100)
  await due('2026-06-22')
  assert.equal((await mails()).length, 100)
  await due('2026-06-23')
  assert.equal((await mails()).length, 140, 'the others are asked the day after')
})

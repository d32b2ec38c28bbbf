import assert from 'node:assert/strict'
import test from 'node:test'
import { mailInForce, mailProblems } from './mail-settings.ts'
import { parseAlerting } from './settings.ts'

test('what a site does not say is as usual', () => {
  assert.deepEqual(mailInForce(undefined), { recipients: [], escalation: null, storm_count: 5 })
  assert.deepEqual(mailInForce({ recipients: [{ address: 'ops@example.com' }] }).recipients, [
    {
      address: 'ops@example.com',
      min_severity: 'critical',
      quiet_hours: null,
      digest: 'immediate',
      digest_at: '07:00',
      critical_at_once: true,
    },
  ])
})

test('every fault is named at its place', () => {
  const problems = mailProblems({
    recipients: [
      { address: 'ops@example.com', quiet_hours: { from: '22:00', to: '6:00h' } },
      { address: 'OPS@example.com', quiet_hours: { from: '24:00', to: '06:00' } },
      { address: 'Ops <ops@example.com>', quiet_hours: { from: '22:00', to: '22:00' } },
      { address: 'a@example.com', digest: 'hourly', digest_at: '07:60' },
    ],
    escalation: { after_min: 5, to: ['boss@example.com\r\n'] },
  })
  assert.deepEqual(
    problems.map(({ path }) => path.join('.')),
    [
      'mail.recipients.0.quiet_hours.to',
      'mail.recipients.1.quiet_hours.from',
      'mail.recipients.2.quiet_hours',
      'mail.recipients.3.digest_at',
      'mail.recipients.3.digest_at',
      'mail.recipients.1.address',
      'mail.recipients.2.address',
      'mail.escalation.to.0',
    ],
  )
})

test('it is a part of the file of a site', () => {
  const read = parseAlerting(`
mail:
  recipients:
    - { address: ops@example.com, min_severity: major, quiet_hours: { from: '22:00', to: '06:00' } }
    - { address: boss@example.com, digest: daily, digest_at: '08:30', critical_at_once: false }
  escalation: { after_min: 30, to: [boss@example.com] }
  storm_count: 10`)
  assert.ok('content' in read)
  const { recipients, escalation } = mailInForce(read.content.mail)
  assert.deepEqual(
    recipients.map(({ digest }) => digest),
    ['immediate', 'daily'],
  )
  assert.equal(escalation?.after_min, 30)
  const wrong = parseAlerting('mail: { recipients: [{ address: a@b.example, digest: weekly }] }')
  assert.deepEqual('faults' in wrong && wrong.faults.map(({ field }) => field), [
    'mail.recipients[0].digest',
  ])
})

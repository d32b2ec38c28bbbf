import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { mailDay } from './fixtures/mail-day.ts'

const ops = 'ops@example.com'
const boss = 'boss@example.com'
const to = (address: string, given: object = {}) => ({ recipients: [{ address, ...given }] })

test('critical alerts are told once each, raised and resolved, others to nobody', () => {
  const day = mailDay(to(ops))
  day.put(1)
  day.put(2, { severity: 'major' })
  assert.deepEqual(day.round(), [`${ops}: raised 1`])
  assert.deepEqual(day.round(), [])
  day.resolve(1)
  day.resolve(2)
  assert.deepEqual(day.round(), [`${ops}: resolved 1`])
  assert.deepEqual(day.round(), [])
})

test('each recipient is told from the severity on that it wants', () => {
  const recipients = [
    { address: ops, min_severity: 'warning' as const },
    { address: boss, min_severity: 'major' as const },
  ]
  const day = mailDay({ recipients })
  for (const [nth, severity] of (['info', 'warning', 'major', 'critical'] as const).entries()) {
    day.put(nth + 1, { severity })
  }
  assert.deepEqual(day.round(), [
    ...[2, 3, 4].map((alert_id) => `${ops}: raised ${alert_id}`),
    ...[3, 4].map((alert_id) => `${boss}: raised ${alert_id}`),
  ])
})

test('what gets critical is told to who was told of less, and once to who was not', () => {
  const day = mailDay({
    recipients: [{ address: ops, min_severity: 'warning' }, { address: boss }],
  })
  day.put(1, { severity: 'warning' })
  assert.deepEqual(day.round(), [`${ops}: raised 1`])
  day.put(1, { severity: 'major' })
  assert.deepEqual(day.round(), [])
  day.put(1, { severity: 'critical' })
  assert.deepEqual(day.round(), [`${ops}: worsened 1`, `${boss}: raised 1`])
  day.put(1, { severity: 'major' })
  day.put(1, { severity: 'critical' })
  assert.deepEqual(day.round(), [])
})

test('what is suppressed is told when nothing explains it any more, and not before', () => {
  const day = mailDay({ ...to(ops), escalation: { after_min: 10, to: [boss] } })
  for (const [nth, reason] of (['night', 'maintenance', 'curtailment'] as const).entries()) {
    day.put(nth + 1, { suppressed_reason: reason })
  }
  assert.deepEqual(day.until('2026-06-01T12:00:00Z'), [])
  day.resolve(3)
  day.put(1, { suppressed_reason: null })
  assert.deepEqual(day.until('2026-06-01T12:11:00Z'), [
    `06-01T12:00 ${ops}: raised 1`,
    `06-01T12:10 ${boss}: escalated 1`,
    '06-01T12:10 notification: 1',
  ])
})

test('whoever was told is told of the end, also where it was explained by then', () => {
  const day = mailDay(to(ops))
  day.put(1)
  day.round()
  day.put(1, { suppressed_reason: 'maintenance' })
  day.resolve(1)
  assert.deepEqual(day.round(), [`${ops}: resolved 1`])
})

test('in quiet hours only critical alerts are told, and what is left is told after them', () => {
  const quiet_hours = { from: '22:00', to: '06:00' }
  const day = mailDay(to(ops, { min_severity: 'warning', quiet_hours }), {
    timezone: 'Europe/Berlin',
    from: '2026-06-01T19:59:00Z',
  })
  day.put(1, { severity: 'warning' })
  assert.deepEqual(day.until('2026-06-01T20:00:00Z'), [`06-01T19:59 ${ops}: raised 1`])
  day.put(2, { severity: 'major' })
  day.put(3, { severity: 'warning' })
  day.put(4)
  day.resolve(1)
  assert.deepEqual(day.until('2026-06-02T01:00:00Z'), [`06-01T20:00 ${ops}: raised 4`])
  day.resolve(3)
  day.resolve(4)
  assert.deepEqual(day.until('2026-06-02T05:00:00Z'), [
    `06-02T01:00 ${ops}: resolved 4`,
    `06-02T04:00 ${ops}: resolved 1`,
    `06-02T04:00 ${ops}: raised 2`,
  ])
})

test('what waits is not told while something explains it', () => {
  const quiet_hours = { from: '10:00', to: '11:00' }
  const day = mailDay(to(ops, { min_severity: 'warning', quiet_hours }))
  day.put(1, { severity: 'warning' })
  assert.deepEqual(day.until('2026-06-01T10:30:00Z'), [])
  day.put(1, { suppressed_reason: 'maintenance' })
  assert.deepEqual(day.until('2026-06-01T12:00:00Z'), [])
  day.put(1, { suppressed_reason: null })
  assert.deepEqual(day.round(), [`${ops}: raised 1`])
})

test('escalation wakes a recipient, the end of it does not', () => {
  const quiet_hours = { from: '10:00', to: '11:00' }
  const recipients = to(ops, { quiet_hours, critical_at_once: false })
  const day = mailDay({ ...recipients, escalation: { after_min: 15, to: [ops] } })
  day.put(1)
  assert.deepEqual(day.until('2026-06-01T10:30:00Z'), [
    `06-01T10:15 ${ops}: escalated 1`,
    '06-01T10:15 notification: 1',
  ])
  day.resolve(1)
  assert.deepEqual(day.until('2026-06-01T12:00:00Z'), [`06-01T11:00 ${ops}: resolved 1`])
})

test('critical alerts wait as well where a recipient wants that', () => {
  const quiet_hours = { from: '22:00', to: '06:00' }
  const day = mailDay(to(ops, { quiet_hours, critical_at_once: false }), {
    from: '2026-06-01T23:00:00Z',
  })
  day.put(1)
  assert.deepEqual(day.until('2026-06-02T07:00:00Z'), [`06-02T06:00 ${ops}: raised 1`])
})

test('quiet hours end by the clocks of the site, also in the night when they change', () => {
  const quiet_hours = { from: '22:00', to: '06:00' }
  const options = (from: string) => ({ timezone: 'Europe/Berlin', from })
  const told = (from: string, end: string) => {
    const day = mailDay(to(ops, { min_severity: 'info', quiet_hours }), options(from))
    day.put(1, { severity: 'info' })
    return day.until(end)
  }
  assert.deepEqual(told('2026-03-28T22:00:00Z', '2026-03-29T08:00:00Z'), [
    `03-29T04:00 ${ops}: raised 1`,
  ])
  assert.deepEqual(told('2026-10-24T21:00:00Z', '2026-10-25T08:00:00Z'), [
    `10-25T05:00 ${ops}: raised 1`,
  ])
})

test('an hourly digest tells in one mail what came up, what went, and what did both', () => {
  const day = mailDay(to(ops, { min_severity: 'info', digest: 'hourly' }))
  day.put(1, { severity: 'warning' })
  day.put(2, { severity: 'info' })
  assert.deepEqual(day.until('2026-06-01T10:30:00Z'), [])
  day.resolve(2)
  day.put(3)
  assert.deepEqual(day.until('2026-06-01T11:30:00Z'), [
    `06-01T10:30 ${ops}: raised 3`,
    `06-01T11:00 ${ops}: raised 1, raised 2`,
  ])
  day.resolve(1)
  assert.deepEqual(day.until('2026-06-01T14:00:00Z'), [`06-01T12:00 ${ops}: resolved 1`])
})

test('a daily digest is one mail a day, on days of 23, 24 and 25 hours', () => {
  const settings = to(ops, { min_severity: 'info', digest: 'daily', digest_at: '02:30' })
  for (const [from, end, due] of [
    ['2026-06-01T10:00:00Z', '2026-06-03T10:00:00Z', '06-02T00:30'],
    ['2026-03-28T10:00:00Z', '2026-03-30T10:00:00Z', '03-29T01:30'],
    ['2026-10-24T10:00:00Z', '2026-10-26T10:00:00Z', '10-25T00:30'],
  ] as const) {
    const day = mailDay(settings, { timezone: 'Europe/Berlin', from })
    for (const alert_id of [1, 2, 3]) day.put(alert_id, { severity: 'info' })
    assert.deepEqual(day.until(end), [`${due} ${ops}: raised 1, raised 2, raised 3`])
  }
})

test('a digest that is due in quiet hours comes after them', () => {
  const quiet_hours = { from: '22:00', to: '08:00' }
  const day = mailDay(to(ops, { min_severity: 'info', digest: 'daily', quiet_hours }))
  day.put(1, { severity: 'info' })
  assert.deepEqual(day.until('2026-06-02T12:00:00Z'), [`06-02T08:00 ${ops}: raised 1`])
})

test('a storm of alerts is one mail to each', () => {
  const day = mailDay({ recipients: [{ address: ops }, { address: boss }], storm_count: 3 })
  for (const alert_id of [1, 2, 3]) day.put(alert_id)
  assert.equal(day.round().length, 6)
  for (const alert_id of [4, 5, 6, 7]) day.put(alert_id)
  const all = 'raised 4, raised 5, raised 6, raised 7'
  assert.deepEqual(day.round(), [`${ops}: ${all}`, `${boss}: ${all}`])
})

test('what nobody acknowledges is escalated, once', () => {
  const day = mailDay({ ...to(ops), escalation: { after_min: 15, to: [boss, ops] } })
  for (const alert_id of [1, 2, 3]) day.put(alert_id)
  day.put(4, { severity: 'major' })
  day.until('2026-06-01T10:14:00Z')
  day.put(2, { status: 'acknowledged' })
  day.resolve(3)
  assert.deepEqual(day.until('2026-06-01T12:00:00Z'), [
    `06-01T10:14 ${ops}: resolved 3`,
    `06-01T10:15 ${boss}: escalated 1`,
    `06-01T10:15 ${ops}: escalated 1`,
    '06-01T10:15 notification: 1',
  ])
  day.resolve(1)
  assert.deepEqual(day.round(), [`${ops}: resolved 1`, `${boss}: resolved 1`])
  assert.deepEqual(day.round(), [])
})

test('it is escalated so long after it became critical, and after nothing explains it', () => {
  const escalation = { after_min: 15, to: [boss] }
  const told = ['06-01T11:15 boss@example.com: escalated 1', '06-01T11:15 notification: 1']
  const worse = mailDay({ recipients: [], escalation })
  worse.put(1, { severity: 'major' })
  assert.deepEqual(worse.until('2026-06-01T11:00:00Z'), [])
  worse.put(1, { severity: 'critical' })
  assert.deepEqual(worse.until('2026-06-01T12:00:00Z'), told)
  const explained = mailDay({ recipients: [], escalation })
  explained.put(1)
  assert.deepEqual(explained.until('2026-06-01T10:10:00Z'), [])
  explained.put(1, { suppressed_reason: 'maintenance' })
  assert.deepEqual(explained.until('2026-06-01T11:00:00Z'), [])
  explained.put(1, { suppressed_reason: null })
  assert.deepEqual(explained.until('2026-06-01T12:00:00Z'), told)
})

test('what comes again is told again, but for a lesser one within the hour', () => {
  const day = mailDay(to(ops, { min_severity: 'warning' }))
  day.put(1)
  day.put(2, { severity: 'warning' })
  day.until('2026-06-01T10:10:00Z')
  for (const alert_id of [1, 2]) day.resolve(alert_id)
  day.until('2026-06-01T10:20:00Z')
  for (const alert_id of [1, 2]) day.reopen(alert_id)
  assert.deepEqual(day.until('2026-06-01T12:00:00Z'), [
    `06-01T10:20 ${ops}: raised 1`,
    `06-01T11:00 ${ops}: raised 2`,
  ])
})

test('who is made a recipient is told what is open, not what was', () => {
  const before_day = mailDay({ recipients: [] })
  before_day.put(1)
  before_day.resolve(1)
  assert.deepEqual(before_day.round(), [])
  const day = mailDay(to(ops))
  day.put(1)
  day.resolve(1)
  day.put(2)
  assert.deepEqual(day.round(), [`${ops}: raised 2`])
})

test('whatever happens, nobody is told the same twice, and of no end without a beginning', () => {
  const severity = fc.constantFrom('info', 'warning', 'major', 'critical')
  const step = fc.record({
    alert_id: fc.integer({ min: 1, max: 4 }),
    what: fc.constantFrom('put', 'resolve', 'reopen', 'acknowledge', 'suppress', 'unsuppress'),
    severity,
    minutes: fc.integer({ min: 0, max: 400 }),
  })
  const recipient = fc.record({
    min_severity: severity,
    digest: fc.constantFrom('immediate' as const, 'hourly' as const, 'daily' as const),
    quiet_hours: fc.constantFrom({ from: '22:00', to: '06:00' }, { from: '00:00', to: '23:59' }),
    critical_at_once: fc.boolean(),
  })
  const options = { timezone: 'Europe/Berlin', from: '2026-10-24T12:00:00Z' }
  const property = fc.property(recipient, fc.array(step, { maxLength: 25 }), (given, steps) => {
    const escalation = { after_min: 30, to: [boss] }
    const day = mailDay({ ...to(ops, given), escalation }, options)
    const told = new Set<string>()
    const occurrences = new Map<number, number>()
    const status = new Map<number, string>()
    let at_ms = Date.parse(options.from)
    for (const { alert_id, what, severity: given_severity, minutes } of steps) {
      const state = status.get(alert_id)
      if (what === 'put' && state !== 'resolved') {
        day.put(alert_id, { severity: given_severity })
        status.set(alert_id, 'open')
      } else if (what === 'resolve' && state === 'open') {
        day.resolve(alert_id)
        status.set(alert_id, 'resolved')
      } else if (what === 'reopen' && state === 'resolved') {
        day.reopen(alert_id)
        status.set(alert_id, 'open')
        occurrences.set(alert_id, (occurrences.get(alert_id) ?? 1) + 1)
      } else if (what === 'acknowledge' && state === 'open') {
        day.put(alert_id, { status: 'acknowledged' })
      } else if (state === 'open') {
        day.put(alert_id, { suppressed_reason: what === 'suppress' ? 'night' : null })
      }
      at_ms += minutes * 60_000
      for (const line of day.until(new Date(at_ms).toISOString())) {
        const [, address = '', items = ''] = /^\S+ (\S+): (.+)$/.exec(line)!
        for (const item of items.split(', ')) {
          const of = Number(item.split(' ').at(-1))
          const key = `${address} ${item} ${occurrences.get(of) ?? 1}`
          assert.ok(!told.has(key), `${key} twice`)
          told.add(key)
          const begun = ['raised', 'escalated'].map((kind) => key.replace('resolved', kind))
          if (item.startsWith('resolved'))
            assert.ok(
              begun.some((one) => told.has(one)),
              key,
            )
        }
      }
    }
  })
  fc.assert(property, { numRuns: 30 })
})

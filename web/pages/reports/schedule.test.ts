import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import { bodyOf, newValues, rules, valuesOf, whenText } from './schedule.ts'

const subscription = (change: Partial<ReportSubscription>) =>
  ({
    name: 'Month',
    enabled: true,
    frequency: 'monthly',
    day_of_week: null,
    day_of_month: 1,
    time_of_day: '06:00',
    timezone: 'Europe/Berlin',
    period: 'previous_month',
    format: 'pdf',
    recipients: ['owner@example.com'],
    logger_ids: null,
    parameters: {},
    ...change,
  }) as ReportSubscription
const when = (change: Partial<ReportSubscription>) => whenText(subscription(change))

test('when it is due is told in words', () => {
  const rest = ', 06:00 (Europe/Berlin), period previous month'
  assert.equal(when({}), `monthly on the 1.${rest}`)
  assert.equal(when({ day_of_month: 'last' }), `monthly on the last day${rest}`)
  const weekly = { frequency: 'weekly', day_of_week: 7, day_of_month: null } as const
  assert.equal(when(weekly), `weekly on Sunday${rest}`)
  const daily = { frequency: 'daily', day_of_month: null, period: 'previous_day' } as const
  assert.equal(when(daily), 'daily, 06:00 (Europe/Berlin), period previous day')
})

const given = ['day_of_week', 'day_of_month', 'logger_ids', 'recipients', 'parameters'] as const
const pick = (one: Partial<ReportSubscription>) => given.map((name) => one[name])

test('what was not changed is sent as it was', () => {
  const each: Partial<ReportSubscription>[] = [
    { day_of_month: 28, logger_ids: [3, 1], parameters: { currency: 'EUR' } },
    { frequency: 'quarterly', day_of_month: 'last' },
    { frequency: 'weekly', day_of_week: 7, day_of_month: null },
    { frequency: 'daily', day_of_month: null },
  ]
  for (const change of each) {
    const one = subscription(change)
    assert.deepEqual(pick(bodyOf(valuesOf(one))), pick(one))
  }
})

test('only the day that the frequency has is sent', () => {
  const values = valuesOf(subscription({ day_of_month: 'last' }))
  assert.equal(bodyOf({ ...values, frequency: 'daily' }).day_of_month, null)
  const weekly = bodyOf({ ...values, frequency: 'weekly', day_of_week: '2' })
  assert.deepEqual([weekly.day_of_week, weekly.day_of_month], [2, null])
})

test('a new one is about all plants, in a form that the report has', () => {
  const template = { name: 'Curtailment', formats: ['xlsx', 'csv'] } as ReportTemplate
  const body = bodyOf(newValues(template, 'Europe/Berlin', 'ada@example.com'))
  assert.deepEqual(
    [body.format, body.logger_ids, body.recipients],
    ['xlsx', null, ['ada@example.com']],
  )
})

test('what is wrong is told in words', () => {
  assert.equal(rules.name('  '), 'Enter a name.')
  assert.equal(rules.name('Month'), null)
  assert.equal(rules.recipients([]), 'Enter at least one e-mail address.')
  assert.equal(rules.recipients(['ada@example.com', 'bob']), 'bob is not a valid e-mail address.')
  assert.equal(rules.recipients(['ada@example.com']), null)
  assert.equal(rules.time_of_day('06:00'), null)
  for (const no_time of ['', '6:00', '24:00', '12:60']) {
    assert.equal(rules.time_of_day(no_time), 'Enter a time such as 06:00.', no_time)
  }
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { backOff, dueDays, type FetchedDay } from './due.ts'

const market = { timezone: 'Europe/Berlin', publication_local: '12:57' }
const due = (now: string, fetched: Record<string, [at: string, is_complete: boolean]>) => {
  const days = new Map<string, FetchedDay>(
    Object.entries(fetched).map(([date, [at, is_complete]]) => {
      return [date, { fetched_at: new Date(at), is_complete }]
    }),
  )
  return dueDays(market, { from: '2026-06-20', fetched: days, now: new Date(now) })
}
const past = {
  '2026-06-20': ['2026-06-21T06:30Z', true],
  '2026-06-21': ['2026-06-20T11:00Z', true],
} as const satisfies Record<string, [string, boolean]>

test('tomorrow is due once it should be published, a past without prices at once', () => {
  assert.deepEqual(due('2026-06-21T10:56Z', {}), ['2026-06-21', '2026-06-20'])
  assert.deepEqual(due('2026-06-21T10:57Z', {}), ['2026-06-22', '2026-06-21', '2026-06-20'])
  assert.deepEqual(due('2026-06-21T10:57Z', { ...past }), ['2026-06-22'])
})

test('a day that is not whole is asked for again, the older the more rarely', () => {
  const from = (now: string, at: string) => due(now, { ...past, '2026-06-22': [at, false] })
  assert.deepEqual(from('2026-06-21T11:10Z', '2026-06-21T11:05Z'), [])
  assert.deepEqual(from('2026-06-21T11:10Z', '2026-06-21T11:00Z'), ['2026-06-22'])
  const late = (now: string, at: string) => from(now, at).includes('2026-06-22')
  assert.equal(late('2026-06-26T11:10Z', '2026-06-26T11:00Z'), false)
  assert.equal(late('2026-06-26T11:10Z', '2026-06-25T11:00Z'), true)
  assert.equal(late('2026-08-10T11:10Z', '2026-08-08T11:00Z'), false)
  assert.equal(late('2026-08-10T11:10Z', '2026-07-08T11:00Z'), true)
})

test('a whole day is looked at once more after its delivery', () => {
  const of_21st = (now: string, at: string) =>
    due(now, { ...past, '2026-06-21': [at, true], '2026-06-22': [now, true] })
  assert.deepEqual(of_21st('2026-06-22T05:59Z', '2026-06-20T11:00Z'), [])
  assert.deepEqual(of_21st('2026-06-22T06:00Z', '2026-06-20T11:00Z'), ['2026-06-21'])
  assert.deepEqual(of_21st('2026-06-22T06:10Z', '2026-06-22T06:00Z'), [])
})

test('failures are waited out, twice as long each, an hour at most', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 100].map((count) => backOff(count) / 60_000),
    [10, 20, 40, 60, 60],
  )
})

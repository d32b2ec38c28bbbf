import assert from 'node:assert/strict'
import test from 'node:test'
import { isQuiet, lastDigest } from './mail-times.ts'

const berlin = 'Europe/Berlin'

test('quiet hours are by the clocks of the site, over midnight or not', () => {
  const night = { from: '22:00', to: '06:30' }
  const quiet = (at: string, hours = night, timezone = berlin) =>
    isQuiet(hours, new Date(at), timezone)
  assert.deepEqual(
    ['19:59', '20:00', '22:00', '04:29', '04:30'].map((time) => quiet(`2026-06-01T${time}:00Z`)),
    [false, true, true, true, false],
  )
  assert.equal(quiet('2026-12-01T20:59:59Z'), false, 'an hour later in winter')
  assert.equal(quiet('2026-12-01T21:00:00Z'), true)
  const lunch = { from: '12:00', to: '13:00' }
  assert.deepEqual(
    ['11:59', '12:00', '12:59', '13:00'].map((time) => quiet(`2026-06-01T${time}Z`, lunch, 'UTC')),
    [false, true, true, false],
  )
  assert.equal(isQuiet(null, new Date('2026-06-01T00:00:00Z'), berlin), false)
})

test('quiet hours on the nights when clocks change', () => {
  const at = (time: string, to: string) => isQuiet({ from: '01:00', to }, new Date(time), berlin)
  // From 02:00 to 03:00 at 01:00Z: what would end within the skipped hour ends with it.
  assert.equal(at('2026-03-29T00:59:00Z', '02:30'), true)
  assert.equal(at('2026-03-29T01:00:00Z', '02:30'), false)
  // 02:00 to 03:00 twice, at 00:00Z and 01:00Z: what ends within ends twice.
  assert.equal(at('2026-10-25T00:29:00Z', '02:30'), true)
  assert.equal(at('2026-10-25T00:30:00Z', '02:30'), false)
  assert.equal(at('2026-10-25T01:29:00Z', '02:30'), true)
  assert.equal(at('2026-10-25T01:30:00Z', '02:30'), false)
})

test('a digest is due at full hours, or once a day', () => {
  const last = (digest: 'immediate' | 'hourly' | 'daily', at: string, timezone = berlin) =>
    lastDigest({ digest, digest_at: '07:00' }, new Date(at), timezone)?.toISOString() ?? null
  assert.equal(last('immediate', '2026-06-01T10:00:00Z'), null)
  assert.equal(last('hourly', '2026-06-01T10:00:00Z'), '2026-06-01T10:00:00.000Z')
  assert.equal(last('hourly', '2026-06-01T10:59:59.999Z'), '2026-06-01T10:00:00.000Z')
  assert.equal(last('hourly', '2026-06-01T10:29:00Z', 'Asia/Kolkata'), '2026-06-01T09:30:00.000Z')
  assert.equal(last('daily', '2026-06-01T04:59:59Z'), '2026-05-31T05:00:00.000Z')
  assert.equal(last('daily', '2026-06-01T05:00:00Z'), '2026-06-01T05:00:00.000Z')
  assert.equal(last('daily', '2026-06-01T23:30:00Z'), '2026-06-01T05:00:00.000Z')
  // The clocks went forward at 01:00Z, and back on the other day.
  assert.equal(last('daily', '2026-03-29T04:59:59Z'), '2026-03-28T06:00:00.000Z')
  assert.equal(last('daily', '2026-03-29T05:00:00Z'), '2026-03-29T05:00:00.000Z')
  assert.equal(last('daily', '2026-10-25T05:59:59Z'), '2026-10-24T05:00:00.000Z')
  assert.equal(last('daily', '2026-10-25T06:00:00Z'), '2026-10-25T06:00:00.000Z')
})

test('a digest in the hour that clocks skip or show twice is due once', () => {
  const dues = (from: string, to: string) => {
    const found = new Set<string>()
    for (let ms = Date.parse(from); ms < Date.parse(to); ms += 60_000) {
      const due = lastDigest({ digest: 'daily', digest_at: '02:30' }, new Date(ms), berlin)!
      assert.ok(due.getTime() <= ms)
      found.add(due.toISOString())
    }
    return [...found]
  }
  assert.deepEqual(dues('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z'), [
    '2026-03-28T01:30:00.000Z',
    '2026-03-29T01:30:00.000Z',
  ])
  assert.deepEqual(dues('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z'), [
    '2026-10-24T00:30:00.000Z',
    '2026-10-25T00:30:00.000Z',
  ])
})

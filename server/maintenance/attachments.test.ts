import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '../http/errors.ts'
import { attached } from './attachments.ts'

const one = { file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://example.com/a.jpg' }
const monday = new Date('2026-06-22T08:00:00Z')
const tuesday = new Date('2026-06-23T08:00:00Z')

test('what stays keeps its id and its time; what is new comes after it', () => {
  const before = attached([], [one, { ...one, size_bytes: 9 }], monday)
  assert.deepEqual(
    before.map(({ attachment_id }) => attachment_id),
    [1, 2],
  )
  const after = attached(before, [{ ...one, attachment_id: 2, file_name: 'b.jpg' }, one], tuesday)
  assert.deepEqual(
    after.map(({ attachment_id, file_name, uploaded_at }) => [
      attachment_id,
      file_name,
      uploaded_at,
    ]),
    [
      [2, 'b.jpg', monday.toISOString()],
      [3, 'a.jpg', tuesday.toISOString()],
    ],
  )
})

test('an id that is not there, or stands twice, is refused', () => {
  const before = attached([], [one], monday)
  for (const ids of [[2], [1, 1]]) {
    const given = ids.map((attachment_id) => ({ ...one, attachment_id }))
    assert.throws(() => attached(before, given, tuesday), ApiError)
  }
})

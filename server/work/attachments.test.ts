import assert from 'node:assert/strict'
import test from 'node:test'
import type { ApiError } from '../http/errors.ts'
import {
  type AttachedList,
  attached,
  type GivenAttachment,
  nothingAttached,
} from './attachments.ts'

const one = { file_name: 'a.jpg', content_type: 'image/jpeg', url: 'https://example.com/a.jpg' }
const monday = new Date('2026-06-22T08:00:00Z')
const tuesday = new Date('2026-06-23T08:00:00Z')

const idsOf = ({ attachments }: AttachedList) =>
  attachments.map(({ attachment_id, uploaded_at }) => [attachment_id, uploaded_at])

test('what stays keeps its id and its time; what is new comes after all that ever were', () => {
  const first = attached(nothingAttached, [one, { ...one, size_bytes: 9 }, one], monday)
  const at = monday.toISOString()
  assert.deepEqual(
    idsOf(first),
    [1, 2, 3].map((id) => [id, at]),
  )
  const less = attached(first, [{ ...one, attachment_id: 2 }], tuesday)
  assert.deepEqual(less.attachments, [first.attachments[1]])
  const later = tuesday.toISOString()
  assert.deepEqual(idsOf(attached(less, [{ ...one, attachment_id: 2 }, one], tuesday)), [
    [2, at],
    [4, later],
  ])
  const none = attached(less, [], tuesday)
  assert.deepEqual(idsOf(attached(none, [one], tuesday)), [[4, later]])
})

const refused = (before: AttachedList, given: readonly GivenAttachment[], field: string) =>
  assert.throws(
    () => attached(before, given, tuesday),
    (error: ApiError) => {
      const { errors } = error.details as { errors: { field: string }[] }
      assert.deepEqual(
        errors.map((found) => found.field),
        [`attachments.${field}`],
      )
      return true
    },
  )

test('an id that is not there, or stands twice, is refused', () => {
  const before = attached(nothingAttached, [one], monday)
  refused(before, [{ ...one, attachment_id: 2 }], '0.attachment_id')
  refused(
    before,
    [1, 1].map((attachment_id) => ({ ...one, attachment_id })),
    '1.attachment_id',
  )
})

test('under its id it becomes no other file', () => {
  const before = attached(nothingAttached, [one, { ...one, size_bytes: 9 }], monday)
  for (const other of [
    { file_name: 'b.jpg' },
    { content_type: 'image/png' },
    { url: 'https://example.com/b' },
    { size_bytes: 8 },
    { size_bytes: null },
  ]) {
    const [name] = Object.keys(other)
    refused(before, [{ ...one, ...other, attachment_id: 2 }], `0.${name}`)
  }
})

test('an address has a port that there is', () => {
  refused(nothingAttached, [{ ...one, url: 'https://example.com:65536/' }], '0.url')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Gap } from '@heliograph/sdk'
import { outagesOf } from './outages.ts'

const at = (clock: string) => `2026-11-23T${clock}Z`
let ids = 0
function gap(source_id: string, from: string, to: string | null, more: Partial<Gap> = {}): Gap {
  ids += 1
  const end_at = to && at(to)
  const duration_s = to ? (Date.parse(at(to)) - Date.parse(at(from))) / 1000 : 60
  return {
    gap_id: ids,
    source_type: 'inverter',
    source_id,
    cause: 'communication',
    start_at: at(from),
    end_at,
    duration_s,
    ...more,
  } as Gap
}
const told = (gaps: Gap[]) =>
  outagesOf(gaps).map(({ start_at, end_at, gaps: own }) => [
    start_at.slice(11, 19),
    end_at?.slice(11, 19) ?? null,
    own.map(({ source_id }) => source_id).join(' '),
  ])

test('an outage of the edge is one row, whatever number of devices it has', () => {
  assert.deepEqual(
    told([
      gap('1', '10:00:05', '10:08:10'),
      gap('2', '10:00:00', '10:08:05'),
      gap('node', '09:58:00', '10:11:00'),
      gap('3', '10:00:03', '10:08:20'),
    ]),
    [['09:58:00', '10:11:00', '1 2 node 3']],
  )
})

test('other causes and other times are outages of their own, the newest first', () => {
  assert.deepEqual(
    told([
      gap('1', '10:00:00', '10:08:00'),
      gap('2', '10:00:00', '10:08:00', { cause: 'device_fault' }),
      gap('3', '10:00:00', '14:00:00'),
      gap('4', '12:00:00', '12:08:00'),
      gap('5', '12:00:00', null),
      gap('6', '12:01:00', null),
    ]),
    [
      ['12:00:00', '12:08:00', '4'],
      ['12:00:00', null, '5 6'],
      ['10:00:00', '10:08:00', '1'],
      ['10:00:00', '10:08:00', '2'],
      ['10:00:00', '14:00:00', '3'],
    ],
  )
})

test('it lasts from its first device to its last', () => {
  const [outage] = outagesOf([gap('1', '10:00:00', '10:08:00'), gap('2', '10:01:00', '10:09:00')])
  assert.equal(outage!.duration_s, 540)
  assert.deepEqual(outagesOf([]), [])
})

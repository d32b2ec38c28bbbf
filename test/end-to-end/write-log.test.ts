import assert from 'node:assert/strict'
import test from 'node:test'
import { writeTable } from './write-log.ts'

test('a table has the newest writes of each device, and counts those before', () => {
  const of = (device: string, at: number, allowed_w: number | null) => {
    return { at, device, address: 40_149, words: [0, at], allowed_w }
  }
  const found = { ...of('SMA', 0, 40_000), address: null, words: [] }
  const writes = [found, of('SMA', 1000, 20_000), of('B', 1500, null), of('SMA', 2000, 30_000)]
  assert.deepEqual(writeTable(writes, 2).split('\n'), [
    'device  after  register          words   allows',
    'SMA            1 earlier writes',
    'SMA     1.0 s  40149             0 1000  20.000 kW',
    'SMA     2.0 s  40149             0 2000  30.000 kW',
    'B       1.5 s  40149             0 1500',
  ])
  assert.equal(writeTable([], 2), 'no writes')
  assert.match(writeTable([found], 2), /as found/)
})

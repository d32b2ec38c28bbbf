import assert from 'node:assert/strict'
import test from 'node:test'
import { type AlertedGap, alertOfGap, type GapAlert } from './gap-alerts.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 5, 21, hour))
const gap = (of: Partial<AlertedGap> = {}): AlertedGap => ({
  logger_id: 1,
  source_type: 'inverter',
  source_id: '7',
  cause: 'unknown',
  start_at: at(10),
  end_at: at(12),
  ...of,
})
const alert = (alert_id: number, of: Partial<GapAlert>): GapAlert => ({
  alert_id,
  code: 'inverter_offline',
  source_type: 'inverter',
  source_id: '7',
  part: null,
  started_at: at(10),
  ended_at: at(12),
  ...of,
})
const logger = { source_type: 'logger', source_id: '1' } as const

test('what says most of a gap is its alert', () => {
  const edge = alert(1, { code: 'edge_offline', source_type: 'edge', source_id: 'e1' })
  const plant = alert(2, { code: 'logger_offline', ...logger })
  const cause = alert(3, { code: 'data_gap', ...logger, part: 'open_unknown' })
  const own = alert(4, {})
  assert.equal(alertOfGap([edge, plant, cause, own], gap()), 4)
  assert.equal(alertOfGap([edge, plant, cause], gap()), 3)
  assert.equal(alertOfGap([edge, plant, cause], gap({ cause: 'clock_jump' })), 2)
  assert.equal(alertOfGap([edge, plant, cause], gap({ logger_id: 2 })), 1)
  assert.equal(alertOfGap([], gap()), null)
})

test('another source, and another time, is another matter', () => {
  const own = alert(1, {})
  assert.equal(alertOfGap([own], gap({ source_id: '8' })), null)
  assert.equal(alertOfGap([own], gap({ source_type: 'meter' })), null)
  assert.equal(alertOfGap([own], gap({ start_at: at(12), end_at: at(13) })), null)
  assert.equal(alertOfGap([own], gap({ start_at: at(8), end_at: at(10) })), null)
  assert.equal(alertOfGap([own], gap({ start_at: at(8), end_at: null })), 1)
  const later = gap({ start_at: at(13), end_at: at(14) })
  assert.deepEqual(
    [alertOfGap([own], later), alertOfGap([alert(2, { ended_at: null })], later)],
    [null, 2],
  )
})

test('each kind of source has the alert of its silence', () => {
  const of = (source_type: AlertedGap['source_type'], source_id: string) =>
    gap({ source_type, source_id })
  const silent = (code: GapAlert['code'], more: Partial<GapAlert>) => [alert(1, { code, ...more })]
  const combiner = silent('device_offline', { part: 'C-1' })
  assert.equal(alertOfGap(combiner, of('string', 'C-1')), 1)
  assert.equal(alertOfGap(combiner, of('string', 'C-2')), null)
  const node = silent('node_offline', { source_type: 'node', source_id: 'ts-1' })
  assert.equal(alertOfGap(node, of('sensor_node', 'ts-1')), 1)
  const station = silent('device_offline', { source_type: 'station', source_id: '2' })
  assert.equal(alertOfGap(station, of('weather_sensor', '2')), 1)
  assert.equal(alertOfGap(station, of('meter', '2')), null)
})

test('holes that are too short for an alert are in none of missing readings', () => {
  const cause = alert(1, { code: 'data_gap', ...logger, part: 'unrecoverable_unknown' })
  const minutes = (count: number) => gap({ end_at: new Date(at(10).getTime() + count * 60_000) })
  assert.deepEqual([alertOfGap([cause], minutes(29)), alertOfGap([cause], minutes(30))], [null, 1])
  const of_site = { ...cause, source_type: 'site', source_id: 'demo' } as const
  assert.equal(alertOfGap([of_site], gap({ logger_id: null })), 1)
})

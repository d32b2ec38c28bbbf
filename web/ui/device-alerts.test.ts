import assert from 'node:assert/strict'
import test from 'node:test'
import type { Alert } from '@heliograph/sdk'
import { alertsOf } from './device-places.ts'

const alert = (logger_id: number | null, inverter_id: number | null, string_index: number | null) =>
  ({ logger_id, inverter_id, string_index }) as Alert

test('a device has its own alerts and those of what belongs to it', () => {
  const [plant, inverter, string] = [alert(1, null, null), alert(1, 2, null), alert(1, 2, 0)]
  const all = [plant, inverter, string, alert(2, 3, 0), alert(null, null, null)]
  assert.deepEqual(alertsOf(all, { logger_id: 1 }), [plant, inverter, string])
  assert.deepEqual(alertsOf(all, { inverter_id: 2 }), [inverter, string])
  assert.deepEqual(alertsOf(all, { inverter_id: 2, string_index: 0 }), [string])
})

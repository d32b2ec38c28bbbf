import type { SensorNode } from './node.ts'
import type { RelaySwitching } from './relays.ts'

const none = { role: null, warn_high_c: null, alarm_high_c: null, relay: null }

export const nodeExample: SensorNode = {
  node_id: 'ts-1',
  name: 'Transformer station 1',
  location_id: 6,
  logger_id: 1,
  type: 'transformer_station',
  manufacturer: null,
  model: null,
  serial_number: null,
  status: 'online',
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.140Z',
  age_s: 12.4,
  quality: 'good',
  last_seen_at: '2026-06-21T10:00:00.000Z',
  report_interval_s: 30,
  channels: [
    {
      ...none,
      channel: 'oil',
      kind: 'temperature',
      label: 'Top oil',
      role: 'oil',
      unit: '°C',
      value: 61.5,
      warn_high_c: 85,
      alarm_high_c: 95,
    },
    { ...none, channel: 'air', kind: 'humidity', label: 'Air', unit: '%', value: 40 },
    {
      ...none,
      channel: 'fan-1',
      kind: 'fan_current',
      label: 'Exhaust fan',
      unit: 'A',
      value: 1.9,
      relay: 'fan-relay',
    },
    { ...none, channel: 'door', kind: 'door', label: 'Door', unit: null, value: 0 },
    { ...none, channel: 'fan-relay', kind: 'relay', label: 'Fan contactor', unit: null, value: 1 },
  ],
  relay_count: 1,
  fan_count: 1,
  created_at: '2026-01-05T08:00:00.000Z',
  updated_at: '2026-05-11T14:30:00.000Z',
  retired_at: null,
}

export const nodeReadingExample = {
  measured_at: '2026-06-21T10:00:00Z',
  quality: 'good' as const,
  channel_values: [61.5, 40, 1.9, 0, 1],
  values: { oil: 61.5, air: 40, 'fan-1': 1.9, door: 0, 'fan-relay': 1 },
}

export const switchingExample: RelaySwitching = {
  command_id: 12,
  node_id: 'ts-1',
  location_id: 6,
  channel: 'fan-relay',
  label: 'Fan contactor',
  command: 'on',
  previous_state: false,
  resulting_state: true,
  source: 'automation',
  reason: 'oil above 60 °C',
  switched_at: '2026-06-21T09:12:30.000Z',
  received_at: '2026-06-21T09:12:31.120Z',
}

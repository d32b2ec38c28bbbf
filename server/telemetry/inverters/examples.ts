import { inverterExample, measuredIn } from '../../plant/device-examples.ts'
import type { AlarmDecoding, AlarmTableRow } from './alarms.ts'

export const inverterReadingExample = {
  measured_at: '2026-06-21T10:00:05Z',
  quality: 'good' as const,
  ...measuredIn('inverter', inverterExample),
  mppt_voltage_v: [842, 844],
  mppt_current_a: [20.1, 19.9],
  mppt_power_kw: [16.9, 16.8],
  mppt_temperature_c: null,
  mppt_energy_total_kwh: [40612.1, 40622.4],
}

export const alarmRowExample: AlarmTableRow = {
  table_id: 'sunspec-inverter',
  manufacturer: 'SunSpec Alliance',
  model_family: 'Models 101 to 103 and 111 to 113',
  alarm_word: 1,
  bit: 7,
  code: 'OVER_TEMP',
  name: 'Overtemperature',
  description: 'The inverter is too hot.',
  severity: 'major',
  category: 'temperature',
  cause: null,
  recommended_action: null,
  auto_clears: null,
  stops_production: null,
  sunspec_event: 'OVER_TEMP',
  table_version: '1',
}

export const decodingExample: AlarmDecoding = {
  input: { alarm_1: 128, alarm_2: 1, alarm_3: null, alarm_4: null, alarm_5: null },
  tables: [
    {
      table_id: 'sunspec-inverter',
      manufacturer: 'SunSpec Alliance',
      model_family: 'Models 101 to 103 and 111 to 113',
      table_version: '1',
    },
  ],
  alarms: [{ ...alarmRowExample, word: 1 }],
  unknown_bits: [{ table_id: 'sunspec-inverter', word: 2, bit: 0, mask: 1 }],
  not_available: [{ table_id: 'sunspec-inverter', word: 3, value: 4_294_967_295 }],
  highest_severity: 'major',
}

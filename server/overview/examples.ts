import { BatteryGlance } from '../batteries/current.ts'
import { exampleOf } from '../http/example.ts'
import {
  inverterExample,
  loggerExample,
  nodeNowExample,
  siteExample,
  stringGlanceExample,
} from '../plant/device-examples.ts'
import { Overview } from './overview.ts'
import { PlantStatus } from './status.ts'
import { StationNow } from './weather.ts'

const measured = { measured_at: '2026-06-21T10:00:01.000Z', age_s: 6.4 } as const

export const statusExample = exampleOf(PlantStatus, {
  ...measured,
  quality: 'suspect',
  energy_today_kwh: 3480.2,
  energy_source: 'inverter_counter',
  day_start_at: '2026-06-20T22:00:00.000Z',
  poa_irradiance_w_m2: 861,
  module_temperature_c: 47.2,
  ambient_temperature_c: 24.8,
  health_status: 'degraded',
  health_reasons: ['inverter_fault:7', 'inverter_disconnected:9'],
})

const stationExample = exampleOf(StationNow, {
  ...measured,
  station_id: 1,
  name: 'Met station',
  received_at: '2026-06-21T10:00:01.120Z',
  poa_irradiance_w_m2: 861,
  sensors: [
    { sensor_id: 'poa', name: 'Pyranometer', quantity: 'poa_irradiance', value: 861, unit: 'W/m²' },
  ],
})

export const overviewExample = exampleOf(Overview, {
  site: siteExample,
  generated_at: '2026-06-21T10:00:07.400Z',
  status: statusExample,
  loggers: [loggerExample],
  inverters: [inverterExample],
  strings: [stringGlanceExample],
  sensors: [nodeNowExample],
  weather: [stationExample],
  bess: [
    exampleOf(BatteryGlance, {
      ...measured,
      received_at: '2026-06-21T10:00:01.310Z',
      operating_mode: 'schedule',
      state: 'charging',
      power_kw: -280.4,
      setpoint_kw: -280,
      soc_pct: 41.6,
    }),
  ],
  alerts: { active: 2, acknowledged: 1, critical: 0 },
  missing_sections: [],
})

import { BatteryGlance } from '../batteries/current.ts'
import { exampleOf } from '../http/example.ts'
import {
  inverterExample,
  loggerExample,
  nodeNowExample,
  stringGlanceExample,
} from '../plant/device-examples.ts'
import { Overview } from './overview.ts'
import { PlantStatus } from './status.ts'
import { StationNow } from './weather.ts'

const measured = { measured_at: '2026-06-21T10:00:01.000Z' } as const

export const statusExample = exampleOf(PlantStatus, {
  ...measured,
  quality: 'suspect',
  energy_today_kwh: 3480.2,
  health_reasons: ['inverter_fault:7', 'inverter_disconnected:9'],
})

const stationExample = exampleOf(StationNow, {
  ...measured,
  station_id: 1,
  name: 'Met station',
  received_at: '2026-06-21T10:00:01.120Z',
  sensors: [
    { sensor_id: 'poa', name: 'Pyranometer', quantity: 'poa_irradiance', value: 861, unit: 'W/m²' },
  ],
})

export const overviewExample = exampleOf(Overview, {
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
  missing_sections: [],
})

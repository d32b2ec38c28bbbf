/** A site that is read as fast as the settings allow: twelve inverters, two buses. */
import type { Site } from '@heliograph/domain/site'
import { smallSite } from '@heliograph/simulator/fixtures/site'

const [logger] = smallSite.loggers
const [inverter] = logger!.inverters
const [field] = smallSite.connections

const inverter_count = 12

export const loadSite: Site = {
  ...smallSite,
  site_id: 'load',
  poll: { inverter_s: 0.25, weather_s: 0.5, meter_s: 0.25, logger_s: 0.5 },
  connections: [field!, { ...field!, connection_id: 'field-2' }],
  loggers: [
    {
      ...logger!,
      rated_power_kw: inverter_count * inverter!.rated_ac_power_kw,
      inverters: Array.from({ length: inverter_count }, (_, nth) => ({
        ...inverter!,
        inverter_id: nth + 1,
        unit_id: nth + 1,
        connection: nth < 6 ? 'field' : 'field-2',
      })),
    },
  ],
}

import type { Logger, WeatherSensor } from '@heliograph/sdk'
import { Group, Stack } from '@mantine/core'
import { useMay, useOverview, useRead, useSite } from '../../queries.ts'
import { facing, PlantState } from '../../ui/badges.tsx'
import { column, DataTable, numeric, tableOf, wrapped } from '../../ui/data-table.tsx'
import { InverterTable } from '../../ui/device-tables.tsx'
import { DeviceAlerts } from '../../ui/devices.tsx'
import {
  formatAge,
  formatDate,
  formatEnergy,
  formatPower,
  formatQuantity,
  inWords,
  none,
} from '../../ui/format.ts'
import { historyOf } from '../../ui/history.ts'
import { OverTime } from '../../ui/over-time.tsx'
import { type Fact, Facts, noted, Page, Section, Time } from '../../ui/page.tsx'
import { plantQuantities } from '../../ui/quantities.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import type { SitePageProps } from '../pages.ts'

export default function PlantPage({ logger_id: text }: SitePageProps) {
  const { site_id } = useSite()
  const overview = useOverview()
  const plant = overview.data?.loggers.find(({ logger_id }) => String(logger_id) === text)
  const title = plant?.name ?? `Plant ${text}`
  return (
    <Page title={title}>
      <Answered query={overview}>
        {({ inverters }) => {
          if (!plant) return <Empty title={`No plant ${text} at this site`} />
          const { logger_id } = plant
          return (
            <Stack>
              <Group>
                <PlantState plant={plant} />
              </Group>
              <DeviceAlerts logger_id={logger_id} />
              <Section title="Now">
                <Facts rows={nowOf(plant)} cols={4} />
              </Section>
              <OverTime
                name={title}
                historyOf={(shown) =>
                  historyOf('loggersHistoryList', { site_id, logger_id }, shown)
                }
                quantities={plantQuantities}
                first={['ac_power_kw', 'available_power_kw', 'poa_irradiance_w_m2']}
                choices={[1, 2, 3, 7]}
              />
              <Section title="Inverters">
                <InverterTable inverters={inverters.filter((one) => one.logger_id === logger_id)} />
              </Section>
              <Instruments logger_id={logger_id} />
              <Section title="Details">
                <Facts rows={factsOf(plant)} cols={4} />
              </Section>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

const limitOf = (plant: Logger) =>
  `limit ${formatPower(plant.power_limit_kw)} (${formatQuantity(plant.limit_pct_of_rated, '%', 0)})`

const nowOf = (plant: Logger): Fact[] => [
  ['Power', formatPower(plant.ac_power_kw)],
  ['Available', formatPower(plant.available_power_kw)],
  ['Energy today', formatEnergy(plant.energy_today_kwh)],
  ['Yield today', formatQuantity(plant.specific_yield_today_kwh_kwp, 'kWh/kWp', 2)],
  ['Irradiance', formatQuantity(plant.poa_irradiance_w_m2, 'W/m²', 0)],
  ['Panel temperature', formatQuantity(plant.module_temperature_c, '°C')],
  ['Curtailment', plant.curtailment_active ? limitOf(plant) : 'None'],
  ['Last data', formatAge(plant.age_s)],
]

const partsOf = (plant: Logger) =>
  `${plant.inverter_count} inverters, ${plant.string_count} strings, ${plant.module_count} panels`

const factsOf = (plant: Logger): Fact[] => [
  ['Rated power', formatPower(plant.rated_power_kw)],
  ['DC capacity', formatQuantity(plant.dc_capacity_kwp, 'kWp')],
  ['Orientation', facing(plant)],
  ['Consists of', partsOf(plant)],
  ['In service since', formatDate(plant.commissioned_date)],
  ['Connection', plant.comm_state],
  ['Edge agent last seen', <Time key="seen" at={plant.last_seen_at} />],
  ['Edge buffer', `${plant.buffer_depth_frames ?? none} unsent frames`],
]

const reasons: Record<NonNullable<WeatherSensor['reject_reason']>, string> = {
  not_measured: 'Rejected: no measurement',
  out_of_range: 'Rejected: out of range',
  stuck: 'Rejected: stuck value',
  disagrees: 'Rejected: disagrees with others',
}

const quantities: Partial<Record<WeatherSensor['quantity'], string>> = {
  poa_irradiance: 'Irradiance, panel plane',
  ghi: 'Global horizontal irradiance',
  dhi: 'Diffuse horizontal irradiance',
}

const key = ({ station_id, sensor_id }: WeatherSensor) => `${station_id} ${sensor_id}`

const table = tableOf<WeatherSensor>('Weather instruments', 560, key, [
  wrapped('Instrument', ({ name, quantity }) =>
    noted(name, quantities[quantity] ?? inWords(quantity)),
  ),
  numeric('Value', ({ value, unit }) => formatQuantity(value, unit)),
  numeric('Deviation from average', ({ deviation_from_average_pct: deviation }) =>
    formatQuantity(deviation, '%'),
  ),
  column('Quality', ({ reject_reason, included_in_average }) =>
    reject_reason ? reasons[reject_reason] : included_in_average ? 'Used' : 'Not in the average',
  ),
  column('Calibrated', ({ calibrated_date }) => formatDate(calibrated_date)),
])

function Instruments({ logger_id }: { logger_id: number }) {
  const enabled = useMay()('weather:read')
  const options = { refetchInterval: 15_000, enabled }
  const { data } = useRead('weather', 'weatherGet', { logger_id }, options)
  if (!data || data.sensors.length === 0) return null
  return (
    <Section title="Weather instruments">
      <DataTable {...table} rows={data.sensors} />
    </Section>
  )
}

import type { Logger } from '@heliograph/sdk'
import { Group, Stack } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { useOverview } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { DayPicker } from '../../ui/day-picker.tsx'
import { DeviceAlerts } from '../../ui/device-alerts.tsx'
import { Facts } from '../../ui/facts.tsx'
import {
  formatAge,
  formatDate,
  formatEnergy,
  formatPower,
  formatQuantity,
} from '../../ui/format.ts'
import { loggerHistory } from '../../ui/history.ts'
import { InverterTable } from '../../ui/inverter-table.tsx'
import { Page } from '../../ui/page.tsx'
import { facing, PlantState } from '../../ui/plant-words.tsx'
import { plantQuantities } from '../../ui/quantities.ts'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useDaySpan } from '../../ui/use-day-span.ts'
import type { SitePageProps } from '../pages.ts'
import { Instruments } from './instruments.tsx'

const HistoryChart = lazy(() => import('../../ui/history-chart.tsx'))

export default function PlantPage({ site_id, logger_id }: SitePageProps) {
  const overview = useOverview(site_id)
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 7)
  const find = ({ loggers }: { loggers: readonly Logger[] }) =>
    loggers.find((logger) => String(logger.logger_id) === logger_id)
  const title = (overview.data && find(overview.data)?.name) ?? `Plant ${logger_id}`
  return (
    <Page title={title}>
      <Answered query={overview}>
        {(data) => {
          const plant = find(data)
          if (!plant) return <Empty title={`No plant ${logger_id} at this site`} />
          const own = data.inverters.filter((one) => one.logger_id === plant.logger_id)
          return (
            <Stack>
              <Group>
                <PlantState plant={plant} />
              </Group>
              <DeviceAlerts site_id={site_id} logger_id={plant.logger_id} />
              <Section title="Now">
                <Facts rows={nowOf(plant)} cols={4} />
              </Section>
              <Section title="Over time">
                <Stack gap="sm">
                  <DayPicker chosen={chosen} choices={[1, 2, 3, 7]} />
                  <Suspense fallback={<Loading />}>
                    <HistoryChart
                      name={title}
                      history={loggerHistory(site_id, plant.logger_id, chosen.span)}
                      quantities={plantQuantities}
                      first={['ac_power_kw', 'available_power_kw', 'poa_irradiance_w_m2']}
                      timezone={timezone}
                    />
                  </Suspense>
                </Stack>
              </Section>
              <Section title="Inverters">
                <InverterTable site_id={site_id} inverters={own} />
              </Section>
              <Instruments site_id={site_id} logger_id={plant.logger_id} />
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

const nowOf = (plant: Logger): [string, string][] => [
  ['Power', formatPower(plant.ac_power_kw)],
  ['Available', formatPower(plant.available_power_kw)],
  ['Energy today', formatEnergy(plant.energy_today_kwh)],
  ['Yield today', formatQuantity(plant.specific_yield_today_kwh_kwp, 'kWh/kWp', 2)],
  ['Irradiance', formatQuantity(plant.poa_irradiance_w_m2, 'W/m²', 0)],
  ['Panel temperature', formatQuantity(plant.module_temperature_c, '°C')],
  [
    'Curtailment',
    plant.curtailment_active
      ? `limit ${formatPower(plant.power_limit_kw)} (${formatQuantity(plant.limit_pct_of_rated, '%', 0)})`
      : 'None',
  ],
  ['Last data', formatAge(plant.age_s)],
]

const factsOf = (plant: Logger): [string, ReactNode][] => [
  ['Rated power', formatPower(plant.rated_power_kw)],
  ['DC capacity', formatQuantity(plant.dc_capacity_kwp, 'kWp')],
  ['Orientation', facing(plant)],
  [
    'Consists of',
    `${plant.inverter_count} inverters, ${plant.string_count} strings, ${plant.module_count} panels`,
  ],
  ['In service since', formatDate(plant.commissioned_date)],
  ['Connection', plant.comm_state],
  ['Edge agent last seen', <Time key="seen" at={plant.last_seen_at} />],
  ['Edge buffer', `${plant.buffer_depth_frames ?? '–'} unsent frames`],
]

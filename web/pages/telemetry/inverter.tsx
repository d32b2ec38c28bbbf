import type { Inverter } from '@heliograph/sdk'
import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { useOverview } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { DayPicker } from '../../ui/day-picker.tsx'
import { DeviceAlerts } from '../../ui/device-alerts.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Facts } from '../../ui/facts.tsx'
import { inverterHistory } from '../../ui/history.ts'
import { Page } from '../../ui/page.tsx'
import { InverterState, limitWords } from '../../ui/plant-words.tsx'
import { inverterQuantities, mpptQuantities } from '../../ui/quantities.ts'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty, Loading } from '../../ui/states.tsx'
import { useDaySpan } from '../../ui/use-day-span.ts'
import type { SitePageProps } from '../pages.ts'
import { Alarms } from './inverter/alarms.tsx'
import { factsOf, nowOf } from './inverter/facts.ts'
import { Strings } from './inverter/strings.tsx'

const HistoryChart = lazy(() => import('../../ui/history-chart.tsx'))

export default function InverterPage({ site_id, inverter_id }: SitePageProps) {
  const overview = useOverview(site_id)
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 3)
  const devices = useDevices(site_id)
  const title = devices.inverterName(Number(inverter_id))
  return (
    <Page
      title={title}
      actions={
        <Anchor component={Link} href={`/sites/${site_id}/compare?devices=${inverter_id}`}>
          Compare
        </Anchor>
      }
    >
      <Answered query={overview}>
        {({ inverters, strings }) => {
          const inverter = inverters.find((one) => String(one.inverter_id) === inverter_id)
          if (!inverter) return <Empty title={`No inverter ${inverter_id} at this site`} />
          const { mppt_count } = inverter
          return (
            <Stack>
              <Heading site_id={site_id} inverter={inverter} />
              <DeviceAlerts site_id={site_id} inverter_id={inverter.inverter_id} />
              <Alarms site_id={site_id} inverter={inverter} />
              <Section title="Now">
                <Facts rows={nowOf(inverter)} cols={4} />
              </Section>
              <Section title="Over time">
                <Stack gap="sm">
                  <DayPicker chosen={chosen} choices={[1, 2, 3]} />
                  <Suspense fallback={<Loading />}>
                    <HistoryChart
                      name={title}
                      history={inverterHistory(site_id, inverter.inverter_id, chosen.span)}
                      quantities={[...inverterQuantities, ...mpptQuantities(mppt_count)]}
                      first={['ac_power_kw', 'available_power_kw']}
                      timezone={timezone}
                    />
                  </Suspense>
                </Stack>
              </Section>
              <Strings
                site_id={site_id}
                inverter={inverter}
                now={strings.filter((one) => one.inverter_id === inverter.inverter_id)}
              />
              <Section title="Details">
                <Facts rows={factsOf(inverter)} cols={4} />
              </Section>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

function Heading({ site_id, inverter }: { site_id: string; inverter: Inverter }) {
  const { logger_id, limited_by } = inverter
  const { plantName } = useDevices(site_id)
  return (
    <Group gap="sm">
      <InverterState inverter={inverter} />
      {limited_by && limited_by !== 'none' && (
        <Badge color="yellow">Limit: {limitWords(limited_by)}</Badge>
      )}
      <Text size="sm">
        of{' '}
        <Anchor
          size="sm"
          underline="always"
          component={Link}
          href={`/sites/${site_id}/plants/${logger_id}`}
        >
          {plantName(logger_id)}
        </Anchor>
      </Text>
    </Group>
  )
}

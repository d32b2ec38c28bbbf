import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { useMay, useOverview } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { DayPicker } from '../../ui/day-picker.tsx'
import { DeviceAlerts } from '../../ui/device-alerts.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Facts } from '../../ui/facts.tsx'
import { formatQuantity } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { StringState } from '../../ui/plant-words.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, Empty, Loading } from '../../ui/states.tsx'
import { useDaySpan } from '../../ui/use-day-span.ts'
import { useMayRead } from '../overview/may-read.ts'
import type { SitePageProps } from '../pages.ts'
import { StringFacts } from './string/facts.tsx'

const ExpectedCharts = lazy(() => import('./string/expected.tsx'))
const MeasuredCharts = lazy(() => import('./string/measured.tsx'))

export default function StringPage({ site_id, inverter_id, string_index }: SitePageProps) {
  const overview = useOverview(site_id)
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 1)
  const { inverterName } = useDevices(site_id)
  const mayRead = useMayRead()
  const of = { site_id, inverter_id: Number(inverter_id), string_index: Number(string_index) }
  const name = inverterName(of.inverter_id)
  const Charts = mayRead('diagnostics:read') ? ExpectedCharts : MeasuredCharts
  return (
    <Page title={`String ${string_index} of ${name}`} actions={<DefectLink {...of} />}>
      <Answered query={overview}>
        {({ strings }) => {
          const now = strings.find(
            (one) => one.inverter_id === of.inverter_id && one.string_index === of.string_index,
          )
          if (!now) return <Empty title={`${name} has no string ${string_index}`} />
          return (
            <Stack>
              <Group gap="sm">
                <StringState status={now.status} />
                <Text size="sm">
                  of{' '}
                  <Anchor
                    size="sm"
                    underline="always"
                    component={Link}
                    href={`/sites/${site_id}/inverters/${inverter_id}`}
                  >
                    {name}
                  </Anchor>
                </Text>
              </Group>
              <DeviceAlerts {...of} />
              <Section title="Now">
                <Facts
                  cols={4}
                  rows={[
                    ['Current', formatQuantity(now.current_a, 'A', 2)],
                    ['Voltage', formatQuantity(now.voltage_v, 'V', 0)],
                    ['Power', formatQuantity(now.power_kw, 'kW', 2)],
                  ]}
                />
              </Section>
              <StringFacts {...of} />
              <DayPicker chosen={chosen} choices={[1]} />
              <Suspense fallback={<Loading />}>
                <Charts {...of} span={chosen.span} timezone={timezone} />
              </Suspense>
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

function DefectLink(props: { site_id: string; inverter_id: number; string_index: number }) {
  const may = useMay()
  if (!may('om:write')) return null
  const { site_id, inverter_id, string_index } = props
  const query = `inverter_id=${inverter_id}&string_index=${string_index}`
  return (
    <Button variant="default" component={Link} href={`/sites/${site_id}/defects/new?${query}`}>
      Report a defect
    </Button>
  )
}

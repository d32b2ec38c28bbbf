import { Group, Stack, Text } from '@mantine/core'
import { useMay, useOverview, useSite } from '../../queries.ts'
import { facing, StringHealthBadge, StringState } from '../../ui/badges.tsx'
import { DayPicker, useDaySpan } from '../../ui/days.tsx'
import { DeviceAlerts, useDevices } from '../../ui/devices.tsx'
import { formatEnergy, formatQuantity, formatSigned, inWords, none } from '../../ui/format.ts'
import { loaded } from '../../ui/lazy-chart.tsx'
import { type Fact, Facts, Page, Section, SiteButton, SiteLink } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useStrings } from '../../ui/strings.ts'
import type { SitePageProps } from '../pages.ts'

const StringCharts = loaded(() => import('./string/charts.tsx'))

export default function StringPage({ inverter_id, string_index }: SitePageProps) {
  const overview = useOverview()
  const { timezone } = useSite()
  const may = useMay()
  const chosen = useDaySpan(timezone, 1)
  const { inverterName } = useDevices()
  const of = { inverter_id: Number(inverter_id), string_index: Number(string_index) }
  const name = inverterName(of.inverter_id)
  const query = `inverter_id=${of.inverter_id}&string_index=${of.string_index}`
  return (
    <Page
      title={`String ${string_index} of ${name}`}
      actions={
        may('om:write') && (
          <SiteButton variant="default" to={`/defects/new?${query}`}>
            Report a defect
          </SiteButton>
        )
      }
    >
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
                  <SiteLink to={`/inverters/${inverter_id}`} size="sm" underline="always">
                    {name}
                  </SiteLink>
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
              <StringCharts {...of} span={chosen.span} />
            </Stack>
          )
        }}
      </Answered>
    </Page>
  )
}

function StringFacts({ inverter_id, string_index }: { inverter_id: number; string_index: number }) {
  const { stringOf, weekOf } = useStrings(inverter_id)
  const string = stringOf(string_index)
  const week = weekOf(string_index)
  const rows: Fact[] = [
    ['MPPT', string?.mppt_index ?? none],
    ['Panels', string ? `${string.module_count} × ${string.panel_model ?? 'unknown'}` : none],
    ['Capacity', formatQuantity(string?.dc_capacity_kwp, 'kWp', 2)],
    ['Orientation', string ? facing(string) : none],
  ]
  if (week) {
    rows.push(
      ['Status, 7 days', <StringHealthBadge key="status" status={week.status} />],
      ['Power vs peers', formatSigned(week.deviation_pct)],
      ['Energy, 7 days', formatEnergy(week.energy_kwh)],
      ['Without current in daylight', formatQuantity(week.zero_current_min, 'min', 0)],
    )
    if (week.excluded_reason) rows.push(['Reason', inWords(week.excluded_reason)])
    if (week.affected_by_string_index !== null) {
      rows.push(['Affected by', `string ${week.affected_by_string_index} of the same MPPT`])
    }
  }
  return (
    <Section title="Details">
      <Facts rows={rows} cols={4} />
    </Section>
  )
}

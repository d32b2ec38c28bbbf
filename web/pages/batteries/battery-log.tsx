/** Log and settings of a battery. */
import { Button, Tabs } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { useUnits } from './battery/reads.ts'
import { AlarmLog } from './battery-log/alarm-log.tsx'
import { Decisions } from './battery-log/decisions.tsx'
import { Protection } from './battery-log/protection.tsx'
import { Setpoints } from './battery-log/setpoints.tsx'
import { Setup } from './battery-log/setup.tsx'

const tabs = [
  { value: 'decisions', label: 'Decisions', Panel: Decisions },
  { value: 'setpoints', label: 'Setpoints', Panel: Setpoints },
  { value: 'alarms', label: 'Alarms', Panel: AlarmLog },
  { value: 'protection', label: 'Protection', Panel: Protection },
  { value: 'setup', label: 'Device settings', Panel: Setup },
]

export default function BatteryLog({ site_id, bess_id: text }: SitePageProps) {
  const bess_id = Number(text)
  const { get, set } = useFilters()
  const units = useUnits(site_id)
  const unit = units.data?.data.find((one) => one.bess_id === bess_id)
  if (units.data && !unit) return <NotFound />
  const shown = tabs.find(({ value }) => value === get('tab')) ?? tabs[0]!
  return (
    <Page
      title={`Log and settings of ${unit?.name ?? 'the battery'}`}
      actions={
        <Button component={Link} href={`/sites/${site_id}/batteries/${bess_id}`} variant="default">
          Battery
        </Button>
      }
    >
      <Tabs
        value={shown.value}
        onChange={(tab) => set({ tab: tab === tabs[0]!.value ? null : tab, day: null, days: null })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value, Panel }) => (
          <Tabs.Panel key={value} value={value}>
            <Panel site_id={site_id} bess_id={bess_id} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

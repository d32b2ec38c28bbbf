/** Alerts, the most severe first. */

import type { Alert } from '@heliograph/sdk'
import { Button, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'
import { AlertDrawer } from './drawer.tsx'
import { AlertFigures } from './figures.tsx'
import { AlertFilters, isShown, statusesOf, worstFirst } from './filters.tsx'
import { NoteDialog, type Step } from './note-dialog.tsx'
import { AlertRow } from './row.tsx'
import { SelectionBar } from './selection-bar.tsx'

const at_once = 50

export default function Alerts({ site_id }: SitePageProps) {
  const filters = useFilters()
  const status = statusesOf(filters.get('show'))
  const alerts = useRead('alerts', 'alertsList', { site_id, status }, 15_000)
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const [step, setStep] = useState<Step | null>(null)
  const select = (id: number, is_selected: boolean) => {
    const next = new Set(selected)
    if (is_selected) next.add(id)
    else next.delete(id)
    setSelected(next)
  }
  const listOf = (title: string, list: Alert[]) => (
    <AlertGroup {...{ site_id, title, list, selected, select }} />
  )
  return (
    <Page title="Alerts">
      <AlertFilters site_id={site_id} />
      <Answered query={alerts}>
        {({ data, meta }) => {
          const shown = data.filter((one) => isShown(one, filters)).sort(worstFirst)
          const chosen = shown.filter(({ alert_id }) => selected.has(alert_id))
          return (
            <Stack gap="md">
              <AlertFigures alerts={shown} count={meta.count} received={data.length} />
              {shown.length === 0 && <NoAlerts is_filtered={data.length > 0} show={status} />}
              {listOf(
                status.includes('resolved') ? 'Resolved' : 'Needs attention',
                shown.filter(({ suppressed }) => !suppressed),
              )}
              {listOf(
                'Suppressed',
                shown.filter(({ suppressed }) => suppressed),
              )}
              {chosen.length > 0 && (
                <SelectionBar
                  {...{ site_id, chosen }}
                  onStep={(kind) => setStep({ kind, alerts: chosen })}
                  onClear={() => setSelected(new Set())}
                />
              )}
            </Stack>
          )
        }}
      </Answered>
      <AlertDrawer
        {...{ site_id, listed: alerts.data?.data ?? [] }}
        onStep={(kind, alert) => setStep({ kind, alerts: [alert] })}
      />
      <NoteDialog
        {...{ site_id, step }}
        onClose={() => setStep(null)}
        onDone={() => setSelected(new Set())}
      />
    </Page>
  )
}

function NoAlerts({ is_filtered, show }: { is_filtered: boolean; show: readonly string[] }) {
  if (is_filtered) return <Empty title="No alerts match the filters" />
  if (show.includes('resolved')) return <Empty title="No resolved alerts" />
  if (!show.includes('acknowledged')) return <Empty title="No unacknowledged alerts" />
  return <Empty title="No active alerts">Rules are evaluated every minute.</Empty>
}

interface AlertGroupProps {
  site_id: string
  title: string
  list: Alert[]
  selected: ReadonlySet<number>
  select: (id: number, is_selected: boolean) => void
}

function AlertGroup({ site_id, title, list, selected, select }: AlertGroupProps) {
  const [shown_count, setShown] = useState(at_once)
  if (list.length === 0) return null
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {title} ({list.length})
      </Title>
      {list.slice(0, shown_count).map((alert) => (
        <AlertRow
          key={alert.alert_id}
          {...{ site_id, alert }}
          is_selected={selected.has(alert.alert_id)}
          onSelect={(is_selected) => select(alert.alert_id, is_selected)}
        />
      ))}
      {list.length > shown_count && (
        <Button variant="default" onClick={() => setShown(shown_count + at_once)}>
          Show {Math.min(at_once, list.length - shown_count)} more
        </Button>
      )}
    </Stack>
  )
}

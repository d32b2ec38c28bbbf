import type { BatteryDeviation, BessSchedule } from '@heliograph/sdk'
import { Alert, Button, Card, Group, SegmentedControl, Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../queries.ts'
import { column, DataTable, numeric, tableOf } from '../../ui/data-table.tsx'
import { Stepper } from '../../ui/days.tsx'
import { WriteButton } from '../../ui/form.tsx'
import { formatMoney, formatPower, inUnit } from '../../ui/format.ts'
import { Muted, Page, Part, SiteButton, Time, useNow } from '../../ui/page.tsx'
import { addDays, dayAt, isDate } from '../../ui/site-clock.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { ScheduleBadge, slow_ms, useSchedules, useUnit } from './battery/shared.tsx'
import { deviationReason } from './battery/words.ts'
import { deviationsOf, summaryOf } from './battery-day/deviation-words.ts'
import { PlanModal } from './battery-day/dialogs.tsx'
import { isInForce } from './battery-day/handover.ts'
import { Hours, ScheduleView } from './battery-day/schedule-view.tsx'

const days_ahead = 2

export default function BatteryDay({ bess_id: text }: SitePageProps) {
  const bess_id = Number(text)
  const { get, set } = useFilters()
  const today = dayAt(useNow(60_000), 'UTC')
  const asked = get('day')
  const day = isDate(asked) ? asked : today
  const { unit, name, is_missing } = useUnit(bess_id)
  const [is_planning, setPlanning] = useState(false)
  if (is_missing) return <NotFound />
  const may_plan = day >= today && day <= addDays(today, days_ahead) && !unit?.retired_at
  return (
    <Page
      title={`Plan of ${name}`}
      actions={
        <>
          <SiteButton to={`/batteries/${bess_id}`} variant="default">
            Battery
          </SiteButton>
          {may_plan && (
            <WriteButton scope="bess:write" variant="default" onClick={() => setPlanning(true)}>
              Create plan
            </WriteButton>
          )}
        </>
      }
    >
      <DayChoice day={day} today={today} onDay={(next) => set({ day: next })} />
      <Plans key={day} bess_id={bess_id} day={day} may_plan={may_plan} />
      {day <= today && <Deviations bess_id={bess_id} day={day} />}
      {is_planning && <PlanModal bess_id={bess_id} day={day} onClose={() => setPlanning(false)} />}
    </Page>
  )
}

interface DayChoiceProps {
  day: string
  today: string
  onDay: (day: string) => void
}

function DayChoice({ day, today, onDay }: DayChoiceProps) {
  const names = ['Yesterday', 'Today', 'Tomorrow', '+2 days']
  const near = names.map((label, nth) => ({ value: addDays(today, nth - 1), label }))
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Stepper
          names={['Previous day', 'Next day']}
          is_last={day >= addDays(today, days_ahead)}
          onStep={(by) => onDay(addDays(day, by))}
        >
          <SegmentedControl
            aria-label="Day"
            size="xs"
            value={near.some(({ value }) => value === day) ? day : ''}
            onChange={onDay}
            data={near}
          />
        </Stepper>
      </Group>
      <Muted>
        {day}: plans cover a UTC day, local time <Time at={`${day}T00:00:00Z`} /> to{' '}
        <Time at={`${addDays(day, 1)}T00:00:00Z`} />.
      </Muted>
    </Stack>
  )
}

const wasApproved = (schedule: BessSchedule) =>
  isInForce(schedule) || schedule.status === 'completed'

function Plans({ bess_id, day, may_plan }: { bess_id: number; day: string; may_plan: boolean }) {
  const [chosen_id, setChosen] = useState<number | null>(null)
  return (
    <Answered query={useSchedules(bess_id, day)}>
      {({ data }) => {
        const main = data.filter((one) => one.status === 'proposed' || wasApproved(one))
        const offered = main.length > 0 ? main : data.slice(0, 1)
        const shown = offered.find((one) => one.schedule_id === chosen_id) ?? offered[0]
        if (!shown) {
          return (
            <Empty heading="Plan" title="No plan for this day">
              {may_plan
                ? 'The battery is dispatched only by an approved plan. Other commands may still move it.'
                : 'No plan was dispatched. Other commands may have moved the battery.'}
            </Empty>
          )
        }
        return (
          <Stack>
            {offered.length > 1 && <Both offered={offered} shown={shown} onChoose={setChosen} />}
            {shown.status === 'rejected' && (
              <Alert color="red" title={`Rejected by ${shown.rejected_by ?? 'somebody'}`}>
                {shown.reject_reason ?? 'No reason given'}
              </Alert>
            )}
            <ScheduleView key={shown.schedule_id} listed={shown} />
          </Stack>
        )
      }}
    </Answered>
  )
}

interface BothProps {
  offered: readonly BessSchedule[]
  shown: BessSchedule
  onChoose: (schedule_id: number) => void
}

const Both = ({ offered, shown, onChoose }: BothProps) => (
  <Group gap="xs" role="group" aria-label="Which plan">
    {offered.map(({ schedule_id, status }) => (
      <Button
        key={schedule_id}
        size="sm"
        variant={schedule_id === shown.schedule_id ? 'outline' : 'default'}
        aria-pressed={schedule_id === shown.schedule_id}
        onClick={() => onChoose(schedule_id)}
        rightSection={<ScheduleBadge status={status} />}
      >
        Plan {schedule_id}
      </Button>
    ))}
  </Group>
)

const table = tableOf<BatteryDeviation>('Hours against the plan', 640, 'hour', [
  column('Hour', Hours),
  numeric('Planned', ({ planned_power_kw }) => planned_power_kw, formatPower),
  numeric('Actual', ({ actual_avg_power_kw }) => actual_avg_power_kw, formatPower),
  numeric('Deviation', ({ deviation_kwh }) => deviation_kwh, inUnit('kWh')),
  numeric('Cost', ({ cost_amount, currency }) => formatMoney(cost_amount, currency)),
  column('Reason', ({ reason }) => deviationReason(reason)),
])

function Deviations({ bess_id, day }: { bess_id: number; day: string }) {
  const asked = { bess_id, target_date: day }
  const deviations = useRead('bess', 'bessDeviationsList', asked, slow_ms)
  const [is_whole, setWhole] = useState(false)
  return (
    <Part title="Plan vs actual">
      <Answered query={deviations}>
        {({ data }) => {
          const { strayed } = deviationsOf(data)
          const rows = is_whole ? data : strayed
          return (
            <Card padding="sm">
              <Text>{summaryOf(data)}</Text>
              {data.length > strayed.length && (
                <Switch
                  label="Show all hours"
                  checked={is_whole}
                  mt="xs"
                  onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
                />
              )}
              {rows.length > 0 && <DataTable {...table} rows={rows} />}
            </Card>
          )
        }}
      </Answered>
    </Part>
  )
}

import type { BessSchedule } from '@heliograph/sdk'
import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Group,
  SegmentedControl,
  Stack,
  VisuallyHidden,
} from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useNow } from '../../ui/use-now.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { useSchedules, useUnits } from './battery/reads.ts'
import { scheduleColors, scheduleWords } from './battery/words.ts'
import { Deviations } from './battery-day/deviations.tsx'
import { isInForce } from './battery-day/handover.ts'
import { PlanModal } from './battery-day/plan-modal.tsx'
import { ScheduleView } from './battery-day/schedule-view.tsx'

const day_ms = 86_400_000
const days_ahead = 2
const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * day_ms).toISOString().slice(0, 10)

export default function BatteryDay({ site_id, bess_id: text }: SitePageProps) {
  const bess_id = Number(text)
  const { get, set } = useFilters()
  const today = new Date(useNow(60_000)).toISOString().slice(0, 10)
  const asked = get('day') ?? ''
  const day = Number.isNaN(Date.parse(asked)) ? today : asked
  const units = useUnits(site_id)
  const unit = units.data?.data.find((one) => one.bess_id === bess_id)
  const [is_planning, setPlanning] = useState(false)
  if (units.data && !unit) return <NotFound />
  const may_plan = day >= today && day <= dayAfter(today, days_ahead) && !unit?.retired_at
  return (
    <Page
      title={`Plan of ${unit?.name ?? 'the battery'}`}
      actions={
        <>
          <Button
            component={Link}
            href={`/sites/${site_id}/batteries/${bess_id}`}
            variant="default"
          >
            Battery
          </Button>
          {may_plan && (
            <WriteButton scope="bess:write" variant="default" onClick={() => setPlanning(true)}>
              Create plan
            </WriteButton>
          )}
        </>
      }
    >
      <DayChoice day={day} today={today} onDay={(next) => set({ day: next })} />
      <Plans key={day} {...{ site_id, bess_id, day, may_plan }} />
      {day <= today && <Deviations site_id={site_id} bess_id={bess_id} day={day} />}
      {is_planning && (
        <PlanModal {...{ site_id, bess_id, day }} onClose={() => setPlanning(false)} />
      )}
    </Page>
  )
}

interface DayChoiceProps {
  day: string
  today: string
  onDay: (day: string) => void
}

function DayChoice({ day, today, onDay }: DayChoiceProps) {
  const near = [-1, 0, 1, 2].map((ahead) => dayAfter(today, ahead))
  const names = ['Yesterday', 'Today', 'Tomorrow', '+2 days']
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Previous day"
          onClick={() => onDay(dayAfter(day, -1))}
        >
          <IconChevronLeft size={18} />
        </ActionIcon>
        <SegmentedControl
          aria-label="Day"
          size="xs"
          value={near.includes(day) ? day : ''}
          onChange={onDay}
          data={near.map((value, nth) => ({ value, label: names[nth] ?? value }))}
        />
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Next day"
          disabled={day >= dayAfter(today, days_ahead)}
          onClick={() => onDay(dayAfter(day, 1))}
        >
          <IconChevronRight size={18} />
        </ActionIcon>
      </Group>
      <Muted>
        {day}: plans cover a UTC day, local time <Time at={`${day}T00:00:00Z`} /> to{' '}
        <Time at={`${dayAfter(day, 1)}T00:00:00Z`} />.
      </Muted>
    </Stack>
  )
}

interface PlansProps {
  site_id: string
  bess_id: number
  day: string
  may_plan: boolean
}

const wasApproved = (schedule: BessSchedule) =>
  isInForce(schedule) || schedule.status === 'completed'

function Plans({ site_id, bess_id, day, may_plan }: PlansProps) {
  const schedules = useSchedules(site_id, bess_id, day)
  const [chosen_id, setChosen] = useState<number | null>(null)
  return (
    <Answered query={schedules}>
      {({ data }) => {
        const main = data.filter((one) => one.status === 'proposed' || wasApproved(one))
        const offered = main.length > 0 ? main : data.slice(0, 1)
        const shown = offered.find((one) => one.schedule_id === chosen_id) ?? offered[0]
        if (!shown) {
          return (
            <>
              <VisuallyHidden>
                <h2>Plan</h2>
              </VisuallyHidden>
              <Empty title="No plan for this day">
                {may_plan
                  ? 'The battery is dispatched only by an approved plan. Other commands may still move it.'
                  : 'No plan was dispatched. Other commands may have moved the battery.'}
              </Empty>
            </>
          )
        }
        return (
          <Stack>
            {offered.length > 1 && <Both offered={offered} shown={shown} onChoose={setChosen} />}
            {shown.status === 'rejected' && <Rejected schedule={shown} />}
            <ScheduleView key={shown.schedule_id} site_id={site_id} listed={shown} />
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

function Both({ offered, shown, onChoose }: BothProps) {
  return (
    <Group gap="xs" role="group" aria-label="Which plan">
      {offered.map(({ schedule_id, status }) => (
        <Button
          key={schedule_id}
          size="sm"
          variant={schedule_id === shown.schedule_id ? 'outline' : 'default'}
          aria-pressed={schedule_id === shown.schedule_id}
          onClick={() => onChoose(schedule_id)}
          rightSection={
            <Badge color={scheduleColors[status] ?? 'gray'}>{scheduleWords(status)}</Badge>
          }
        >
          Plan {schedule_id}
        </Button>
      ))}
    </Group>
  )
}

function Rejected({ schedule }: { schedule: BessSchedule }) {
  const { rejected_by, reject_reason } = schedule
  return (
    <Alert color="red" variant="outline" title={`Rejected by ${rejected_by ?? 'somebody'}`}>
      {reject_reason ?? 'No reason given'}
    </Alert>
  )
}

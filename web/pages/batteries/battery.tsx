import { type BatteryDashboard, isCode } from '@heliograph/sdk'
import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { Figure } from '../../ui/figure.tsx'
import { formatAge, formatEnergy, formatMoney, formatNumber, formatPower } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { Alarms } from './battery/alarms.tsx'
import { Clusters } from './battery/clusters.tsx'
import { Details } from './battery/details.tsx'
import { OverTime } from './battery/over-time.tsx'
import { Pcs } from './battery/pcs.tsx'
import { live_ms } from './battery/reads.ts'
import {
  inSentence,
  limitationWords,
  powerWords,
  scheduleColors,
  scheduleWords,
  stateWords,
} from './battery/words.ts'

const DayCourse = lazy(() => import('./battery/day-course.tsx'))

export default function Battery({ site_id, bess_id: text }: SitePageProps) {
  const bess_id = Number(text)
  const dashboard = useRead('bess', 'bessDashboardGet', { site_id, bess_id }, live_ms)
  if (!/^\d+$/.test(text ?? '')) return <NotFound />
  if (isCode(dashboard.error, 'not_found')) return <NotFound />
  return (
    <Page
      title={dashboard.data?.unit.name ?? 'Battery'}
      actions={
        <>
          <Button
            component={Link}
            href={`/sites/${site_id}/batteries/${bess_id}/log`}
            variant="default"
          >
            Log and settings
          </Button>
          <Button component={Link} href={`/sites/${site_id}/batteries/${bess_id}/day`}>
            Plan
          </Button>
        </>
      }
    >
      <Answered query={dashboard}>
        {(data) => (
          <>
            <State dashboard={data} />
            <Limits dashboard={data} />
            <Alarms site_id={site_id} bess_id={bess_id} />
            <Today dashboard={data} />
            <Suspense fallback={<Loading />}>
              <DayCourse dashboard={data} />
            </Suspense>
            <OverTime site_id={site_id} unit={data.unit} />
            <Clusters site_id={site_id} bess_id={bess_id} />
            <Pcs site_id={site_id} bess_id={bess_id} />
            <Details unit={data.unit} />
          </>
        )}
      </Answered>
    </Page>
  )
}

function State({ dashboard: { unit, current } }: { dashboard: BatteryDashboard }) {
  const { soc_pct, age_s, quality, measured_at, local_remote } = current
  const is_bad = quality === 'stale' || quality === 'missing' || current.state === 'fault'
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Badge color={is_bad ? 'red' : 'teal'}>{stateWords(current)}</Badge>
        {unit.retired_at !== null && <Badge color="gray">Out of service</Badge>}
        {local_remote === 'local' && <Badge color="yellow">Local control</Badge>}
        <Muted>
          Measured <Time at={measured_at} style="time" />, {formatAge(age_s)}
        </Muted>
      </Group>
      <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
        <Figure
          label="State of charge"
          value={soc_pct === null ? '–' : `${formatNumber(soc_pct)} %`}
          note={
            <>
              <Progress
                value={soc_pct ?? 0}
                size="lg"
                my={4}
                color="teal"
                aria-label="State of charge"
              />
              Window {formatNumber(unit.soc_min_pct, 0)} to {formatNumber(unit.soc_max_pct, 0)} %
            </>
          }
        />
        <Figure
          label="Now"
          value={powerWords(current.power_kw)}
          note={
            current.setpoint_kw === null
              ? 'Setpoint unknown'
              : `Setpoint: ${inSentence(powerWords(current.setpoint_kw))}`
          }
        />
        <Figure
          label="Available energy"
          value={formatEnergy(current.available_energy_kwh)}
          note={`${formatEnergy(current.energy_to_full_kwh)} until full`}
        />
        <Figure
          label="State of health"
          value={current.soh_pct === null ? '–' : `${formatNumber(current.soh_pct)} %`}
          note={`${formatNumber(current.cycle_count, 0)} full cycles`}
        />
      </SimpleGrid>
    </Stack>
  )
}

/** Present power limits, with the reason when they are below the rating. */
function Limits({ dashboard: { unit, envelope } }: { dashboard: BatteryDashboard }) {
  const sides = [
    {
      name: 'Discharge',
      kw: envelope.max_discharge_power_kw,
      rated_kw: unit.rated_discharge_power_kw,
      why: envelope.limited_by_discharge,
      min: envelope.max_discharge_duration_min,
    },
    {
      name: 'Charge',
      kw: envelope.max_charge_power_kw,
      rated_kw: unit.rated_charge_power_kw,
      why: envelope.limited_by_charge,
      min: envelope.max_charge_duration_min,
    },
  ]
  return (
    <SimpleGrid cols={2} spacing="sm">
      {sides.map(({ name, kw, rated_kw, why, min }) => (
        <Card key={name} withBorder padding="sm">
          <Muted>Maximum {name.toLowerCase()}</Muted>
          <Text className="figure" fw={600} fz={20}>
            {formatPower(kw)}
          </Text>
          <Text size="sm">
            {why === 'none'
              ? `${limitationWords(why)}.`
              : `${limitationWords(why)}: rated ${formatPower(rated_kw)}.`}
            {min !== null && ` Lasts ${minutesWords(min)} at this power.`}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  )
}

const minutesWords = (min: number) =>
  min < 120 ? `${formatNumber(min, 0)} min` : `${formatNumber(min / 60)} h`

function Today({ dashboard: { today, schedule, unit } }: { dashboard: BatteryDashboard }) {
  const has_plan = today.planned_discharged_kwh > 0 || today.planned_charged_kwh > 0
  return (
    <Stack gap="xs">
      <Group>
        <Title order={2} size="h3">
          Today
        </Title>
        <Badge color={scheduleColors[unit.schedule_status_today ?? ''] ?? 'gray'}>
          {scheduleWords(schedule?.status ?? unit.schedule_status_today)}
        </Badge>
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure
          label="Revenue"
          value={formatMoney(today.earnings_amount, today.currency)}
          note="discharge minus charge, at market prices"
        />
        <Figure
          label="Discharged"
          value={formatEnergy(today.discharged_kwh)}
          note={has_plan && `planned ${formatEnergy(today.planned_discharged_kwh)}`}
        />
        <Figure
          label="Charged"
          value={formatEnergy(today.charged_kwh)}
          note={has_plan && `planned ${formatEnergy(today.planned_charged_kwh)}`}
        />
      </SimpleGrid>
    </Stack>
  )
}

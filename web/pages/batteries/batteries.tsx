import type {
  BatteryFleetSummary,
  BatteryUnit,
  BessApprovals,
  BessOptimizations,
} from '@heliograph/sdk'
import { Badge, Card, Group, List, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { heliograph } from '../../api.ts'
import { useRead, useSite } from '../../queries.ts'
import { Choice } from '../../ui/filters.tsx'
import { Dialog, WriteButton } from '../../ui/form.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower, inWords } from '../../ui/format.ts'
import { figures, Heading, Muted, Notice, Page, Time, useNow } from '../../ui/page.tsx'
import { addDays, dayAt } from '../../ui/site-clock.ts'
import { Answered, Empty, Failure } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { live_ms, ScheduleBadge, schedulesOf, useSchedules, useUnits } from './battery/shared.tsx'
import { powerWords, stateWords, statusColors } from './battery/words.ts'

export default function Batteries() {
  const fleet = useRead('bess', 'bessFleetSummaryGet', {}, live_ms)
  return (
    <Page title="Batteries">
      <Answered query={useUnits()}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty heading="Units" title="No batteries">
              A battery appears as soon as its edge agent has reported it.
            </Empty>
          ) : (
            <Stack>
              {fleet.data && <Together fleet={fleet.data} />}
              {data.filter(({ retired_at }) => retired_at === null).length > 1 && (
                <AllUnits units={data} />
              )}
              <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
                {data.map((unit) => (
                  <UnitCard key={unit.bess_id} unit={unit} />
                ))}
              </SimpleGrid>
            </Stack>
          )
        }
      </Answered>
    </Page>
  )
}

function Together({ fleet }: { fleet: BatteryFleetSummary }) {
  const { active_alarm_counts: alarms, unit_count } = fleet
  const bad = alarms.critical + alarms.major
  const out = formatPower(fleet.max_discharge_power_kw)
  const into = formatPower(fleet.max_charge_power_kw)
  const offline = unit_count - fleet.online_count
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      {figures([
        [
          'State of charge',
          fleet.soc_pct === null ? '–' : `${formatNumber(fleet.soc_pct)} %`,
          `${formatEnergy(fleet.available_energy_kwh)} available`,
        ],
        ['Now', powerWords(fleet.power_kw), `maximum ${out} discharge, ${into} charge`],
        [
          'Revenue today',
          formatMoney(fleet.earnings_today_amount, fleet.currency),
          'discharge minus charge, at market prices',
        ],
        [
          'Alarms',
          bad + alarms.warning,
          offline > 0 ? `${offline} of ${unit_count} offline` : 'All online',
          (bad > 0 || offline > 0) && 'bad',
        ],
      ])}
    </SimpleGrid>
  )
}

const utcDay = (at_ms: number) => dayAt(at_ms, 'UTC')

function UnitCard({ unit }: { unit: BatteryUnit }) {
  const { site_id } = useSite()
  const { bess_id, name, status, retired_at } = unit
  const { data: now } = useRead('bess', 'bessCurrentGet', { bess_id }, live_ms)
  const soc_pct = now?.soc_pct ?? null
  const tomorrow = addDays(utcDay(useNow(60_000)), 1)
  const coming = useSchedules(bess_id, tomorrow).data?.data ?? []
  const next = coming.find(({ status }) => status === 'approved' || status === 'proposed')
  return (
    <Card component={Link} href={`/sites/${site_id}/batteries/${bess_id}`}>
      <Group justify="space-between">
        <Heading>{name}</Heading>
        <Badge color={retired_at ? 'gray' : (statusColors[status] ?? 'gray')}>
          {retired_at ? 'Out of service' : inWords(status)}
        </Badge>
      </Group>
      <Muted>
        {formatEnergy(unit.usable_energy_kwh)} usable, {formatPower(unit.rated_discharge_power_kw)}
      </Muted>
      <Group justify="space-between" mt="sm" align="baseline">
        <Text className="figure" fz={28} fw={600} lh={1.2}>
          {soc_pct === null ? '–' : `${formatNumber(soc_pct)} %`}
        </Text>
        <Text className="figure">{now ? powerWords(now.power_kw) : '–'}</Text>
      </Group>
      <Progress
        value={soc_pct ?? 0}
        size="lg"
        mt={4}
        aria-label={`State of charge of ${name}`}
        color={soc_pct !== null && soc_pct < unit.soc_min_pct + 5 ? 'orange' : 'teal'}
      />
      <Group gap="xs" mt="sm">
        <Text size="sm">{now && stateWords(now)}</Text>
        <ScheduleBadge prefix="Today: " status={unit.schedule_status_today} />
        <ScheduleBadge prefix="Tomorrow: " status={next?.status ?? null} />
        {now !== undefined && now.alarm_count > 0 && (
          <Badge color="red">
            {now.alarm_count} {now.alarm_count === 1 ? 'alarm' : 'alarms'}
          </Badge>
        )}
      </Group>
    </Card>
  )
}

function AllUnits({ units }: { units: readonly BatteryUnit[] }) {
  const { site_id } = useSite()
  const now_ms = useNow(60_000)
  const [ahead, setAhead] = useState('1')
  const [is_asked, setAsked] = useState(false)
  const target_date = addDays(utcDay(now_ms), Number(ahead))
  const [planned, setPlanned] = useState<BessOptimizations | null>(null)
  const [approved, setApproved] = useState<BessApprovals | null>(null)
  const plan = useWrite({
    write: () => heliograph.bessOptimizeAll({ site_id, target_date }),
    changes: ['bess'],
    done: ({ data }: BessOptimizations) =>
      `${data.length} ${data.length === 1 ? 'plan' : 'plans'} proposed.`,
    onDone: setPlanned,
  })
  const nameOf = (id: number) =>
    units.find(({ bess_id }) => bess_id === id)?.name ?? `Battery ${id}`
  return (
    <Card padding="sm">
      <Group justify="space-between">
        <Group>
          <Text fw={600}>All batteries</Text>
          <Choice
            label="Day of the plans"
            choices={{ 0: 'Today', 1: 'Tomorrow' }}
            value={ahead}
            onChange={setAhead}
          />
          <Muted>
            <Time at={`${target_date}T00:00:00Z`} />, 24 hours
          </Muted>
        </Group>
        <Group gap="xs">
          <WriteButton
            scope="bess:write"
            variant="default"
            loading={plan.is_pending}
            onClick={() => plan.run(undefined)}
          >
            Plan all
          </WriteButton>
          <WriteButton scope="bess:write" onClick={() => setAsked(true)}>
            Approve all
          </WriteButton>
        </Group>
      </Group>
      {plan.error && <Failure error={plan.error} />}
      <Lines
        title="Some units were skipped"
        lines={planned?.skipped.map(({ bess_id, message }) => `${nameOf(bess_id)}: ${message}`)}
      />
      <Lines
        title="Some units were skipped"
        lines={approved?.skipped.map(
          ({ schedule_id, message, remedy }) => `Plan ${schedule_id}: ${message} ${remedy}`,
        )}
      />
      <Lines
        title="Plans of later days must be created again"
        lines={approved?.broken_schedules.map(
          (plan) =>
            `${nameOf(plan.bess_id)}: plan ${plan.schedule_id} of ${plan.target_date} cannot be ` +
            `carried out in full from ${formatNumber(plan.soc_start_pct)} %.`,
        )}
      />
      {is_asked && (
        <ApproveAll
          units={units}
          target_date={target_date}
          nameOf={nameOf}
          onApproved={setApproved}
          onClose={() => setAsked(false)}
        />
      )}
    </Card>
  )
}

function Lines({ title, lines = [] }: { title: string; lines?: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <Notice title={title}>
      <List size="sm">
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Notice>
  )
}

interface ApproveAllProps {
  units: readonly BatteryUnit[]
  target_date: string
  nameOf: (bess_id: number) => string
  onApproved: (answer: BessApprovals) => void
  onClose: () => void
}

function ApproveAll({ units, target_date, nameOf, onApproved, onClose }: ApproveAllProps) {
  const { site_id } = useSite()
  const approve = useWrite({
    write: () => heliograph.bessSchedulesApproveAll({ site_id, target_date }),
    changes: ['bess'],
    done: ({ approved }: BessApprovals) => `${approved.length} approved.`,
    onDone: (answer) => {
      onApproved(answer)
      onClose()
    },
  })
  const proposed = useQueries({
    queries: units.map(({ bess_id }) => schedulesOf(site_id, bess_id, target_date)),
    combine: (answers) =>
      answers.flatMap(({ data }) => data?.data.filter(({ status }) => status === 'proposed') ?? []),
  })
  return (
    <Dialog
      title="Approve all plans"
      action={`Approve ${proposed.length}`}
      write={approve}
      disabled={proposed.length === 0}
      onAct={() => approve.run(undefined)}
      onClose={onClose}
    >
      {proposed.length === 0 ? (
        <Text>No proposed plans for {target_date}.</Text>
      ) : (
        <>
          <Text>Plans for {target_date} (UTC):</Text>
          <List size="sm">
            {proposed.map(({ schedule_id, bess_id, totals }) => (
              <List.Item key={schedule_id}>
                {nameOf(bess_id)}: {formatMoney(totals.expected_net_amount, totals.currency)}{' '}
                expected
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Dialog>
  )
}

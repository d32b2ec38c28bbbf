import type { BatteryFleetSummary, BatteryUnit } from '@heliograph/sdk'
import {
  Badge,
  Card,
  Group,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { Figure } from '../../ui/figure.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import { inWords } from '../../ui/words.ts'
import type { SitePageProps } from '../pages.ts'
import { AllUnits } from './battery/all-units.tsx'
import { live_ms, useSchedules, useUnits } from './battery/reads.ts'
import {
  powerWords,
  scheduleColors,
  scheduleWords,
  stateWords,
  statusColors,
} from './battery/words.ts'

export default function Batteries({ site_id }: SitePageProps) {
  const units = useUnits(site_id)
  const fleet = useRead('bess', 'bessFleetSummaryGet', { site_id }, live_ms)
  return (
    <Page title="Batteries">
      <Answered query={units}>
        {({ data }) =>
          data.length === 0 ? (
            <>
              <VisuallyHidden>
                <h2>Units</h2>
              </VisuallyHidden>
              <Empty title="No batteries">
                A battery appears as soon as its edge agent has reported it.
              </Empty>
            </>
          ) : (
            <Stack>
              {fleet.data && <Together fleet={fleet.data} />}
              {data.filter(({ retired_at }) => retired_at === null).length > 1 && (
                <AllUnits site_id={site_id} units={data} />
              )}
              <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
                {data.map((unit) => (
                  <UnitCard key={unit.bess_id} site_id={site_id} unit={unit} />
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
  const { active_alarm_counts: alarms, earnings_today_amount, currency } = fleet
  const bad = alarms.critical + alarms.major
  const out = formatPower(fleet.max_discharge_power_kw)
  const into = formatPower(fleet.max_charge_power_kw)
  const offline = fleet.unit_count - fleet.online_count
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <Figure
        label="State of charge"
        value={fleet.soc_pct === null ? '–' : `${formatNumber(fleet.soc_pct)} %`}
        note={`${formatEnergy(fleet.available_energy_kwh)} available`}
      />
      <Figure
        label="Now"
        value={powerWords(fleet.power_kw)}
        note={`maximum ${out} discharge, ${into} charge`}
      />
      <Figure
        label="Revenue today"
        value={formatMoney(earnings_today_amount, currency)}
        note="discharge minus charge, at market prices"
      />
      <Figure
        label="Alarms"
        value={bad + alarms.warning}
        note={offline > 0 ? `${offline} of ${fleet.unit_count} offline` : 'All online'}
        {...((bad > 0 || offline > 0) && { tone: 'bad' as const })}
      />
    </SimpleGrid>
  )
}

function UnitCard({ site_id, unit }: { site_id: string; unit: BatteryUnit }) {
  const { bess_id, name, status, retired_at, rated_discharge_power_kw, schedule_status_today } =
    unit
  const { data: now } = useRead('bess', 'bessCurrentGet', { site_id, bess_id }, live_ms)
  const soc_pct = now?.soc_pct ?? null
  const tomorrow = new Date(useNow(60_000) + 86_400_000).toISOString().slice(0, 10)
  const coming = useSchedules(site_id, bess_id, tomorrow).data?.data ?? []
  const next = coming.find(({ status }) => status === 'approved' || status === 'proposed')
  return (
    <Card withBorder component={Link} href={`/sites/${site_id}/batteries/${bess_id}`}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {name}
        </Title>
        <Badge color={retired_at ? 'gray' : (statusColors[status] ?? 'gray')}>
          {retired_at ? 'Out of service' : inWords(status)}
        </Badge>
      </Group>
      <Muted>
        {formatEnergy(unit.usable_energy_kwh)} usable, {formatPower(rated_discharge_power_kw)}
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
        <Badge color={scheduleColors[schedule_status_today ?? ''] ?? 'gray'}>
          Today: {scheduleWords(schedule_status_today)}
        </Badge>
        <Badge color={scheduleColors[next?.status ?? ''] ?? 'gray'}>
          Tomorrow: {scheduleWords(next?.status ?? null)}
        </Badge>
        {now !== undefined && now.alarm_count > 0 && (
          <Badge color="red">
            {now.alarm_count} {now.alarm_count === 1 ? 'alarm' : 'alarms'}
          </Badge>
        )}
      </Group>
    </Card>
  )
}

import type { Overview } from '@heliograph/sdk'
import { Anchor, Progress, Text } from '@mantine/core'
import { Link } from 'wouter'
import { formatAge, formatNumber, formatPower, none } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Section } from '../../ui/section.tsx'
import { inWords } from '../../ui/words.ts'

export function BatteryCards({ overview: { site, bess } }: { overview: Overview }) {
  return (bess ?? []).map((unit) => (
    <Section
      key={unit.bess_id}
      title={unit.name ?? `Battery ${unit.bess_id}`}
      aside={
        <Anchor
          size="sm"
          component={Link}
          href={`/sites/${site.site_id}/batteries/${unit.bess_id}`}
        >
          Open
        </Anchor>
      }
    >
      <Text className="figure" fz={20} fw={600}>
        {unit.soc_pct === null ? none : `${formatNumber(unit.soc_pct, 0)} %`} charged
      </Text>
      {unit.soc_pct !== null && (
        <Progress value={unit.soc_pct} my={6} aria-label="State of charge" />
      )}
      <Text>{flow(unit.power_kw)}</Text>
      <Muted>
        {inWords(unit.status)}, {inWords(unit.operating_mode).toLowerCase()},{' '}
        {unit.alarm_count ?? none} {unit.alarm_count === 1 ? 'alarm' : 'alarms'},{' '}
        {formatAge(unit.age_s)}
      </Muted>
    </Section>
  ))
}

/** Positive power discharges. */
function flow(power_kw: number | null): string {
  if (power_kw === null) return 'Power unknown'
  if (Math.abs(power_kw) < 0.5) return 'Idle'
  return power_kw > 0
    ? `Discharging ${formatPower(power_kw)}`
    : `Charging ${formatPower(-power_kw)}`
}

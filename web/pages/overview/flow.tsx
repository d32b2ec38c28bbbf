/** Present powers: PV and batteries at the left, grid and consumption at the right. */
import type { Overview } from '@heliograph/sdk'
import { Group, Text } from '@mantine/core'
import {
  IconBatteryVertical2,
  IconCircuitMotor,
  IconHomeBolt,
  IconSolarPanel,
} from '@tabler/icons-react'
import type { CSSProperties, ReactNode } from 'react'
import { formatAge, formatNumber, formatPower, none } from '../../ui/format.ts'
import { Muted, Section, SiteLink } from '../../ui/page.tsx'
import styles from './flow.module.css'
import { isPresent, powerFlow, socOf } from './power-flow.ts'

/** Smaller powers are consumption of the devices, or noise. */
const flowing_kw_min = 0.5

interface WithOverview {
  overview: Overview
}

export function Flow({ overview }: WithOverview) {
  const { status, site, bess } = overview
  const flow = powerFlow(overview)
  const has_battery = (bess ?? []).length > 0
  return (
    <Section title="Power now">
      <Text fz={28} fw={700} lh={1.2} className="figure">
        {headline(flow.grid_kw)}
      </Text>
      <Muted mb="sm">
        {flow.grid_kw === null
          ? 'Grid power unknown'
          : `At the grid connection, measured ${formatAge(status.age_s)}`}
      </Muted>
      <div className={styles['flow']}>
        <div className={styles['side']}>
          <Node
            name="PV"
            icon={<IconSolarPanel size={20} aria-hidden />}
            value={formatPower(flow.pv_kw)}
            note={pvNote(overview)}
            to="/inverters"
          />
          {has_battery && (
            <Node
              name="Battery"
              icon={<IconBatteryVertical2 size={20} aria-hidden />}
              value={formatPower(flow.battery_kw === null ? null : Math.abs(flow.battery_kw))}
              note={batteryNote(overview, flow.battery_kw)}
              to="/batteries"
            />
          )}
        </div>
        <Lines
          scale_kw={Math.max(1, site.ac_capacity_kw)}
          lines={[
            { name: 'PV', kw: flow.pv_kw, x: 0, y: has_battery ? 25 : 50 },
            ...(has_battery ? [{ name: 'Battery', kw: flow.battery_kw, x: 0, y: 75 }] : []),
            { name: 'Grid', kw: negated(flow.grid_kw), x: 100, y: 25 },
            { name: 'Consumption', kw: negated(flow.consumption_kw), x: 100, y: 75 },
          ]}
        />
        <div className={styles['side']}>
          <Node
            name="Grid"
            icon={<IconCircuitMotor size={20} aria-hidden />}
            value={formatPower(flow.grid_kw === null ? null : Math.abs(flow.grid_kw))}
            note={direction(flow.grid_kw, 'Export', 'Import', 'No exchange')}
          />
          <Node
            name="Consumption"
            icon={<IconHomeBolt size={20} aria-hidden />}
            value={formatPower(flow.consumption_kw)}
            note={flow.consumption_kw === null ? 'Unknown' : 'Includes losses'}
          />
        </div>
      </div>
    </Section>
  )
}

const negated = (kw: number | null) => (kw === null ? null : -kw)

function headline(grid_kw: number | null): string {
  if (grid_kw === null) return none
  if (Math.abs(grid_kw) < flowing_kw_min) return 'No grid exchange'
  return `${grid_kw > 0 ? 'Exporting' : 'Importing'} ${formatPower(Math.abs(grid_kw))}`
}

function direction(kw: number | null, positive: string, negative: string, idle: string): string {
  if (kw === null) return 'Unknown'
  if (Math.abs(kw) < flowing_kw_min) return idle
  return kw > 0 ? positive : negative
}

function pvNote({ status }: Overview): string {
  const { inverters_producing, inverters_total, inverters_unknown, is_daylight } = status
  if (status.ac_power_kw === null) return 'Unknown'
  if ((status.curtailed_power_kw ?? 0) >= flowing_kw_min) {
    return `Curtailed, ${formatPower(status.available_power_kw)} available`
  }
  if (is_daylight === false && inverters_producing === 0) return 'Night'
  if (inverters_unknown === inverters_total) return `${inverters_total} inverters unknown`
  return `${inverters_producing} of ${inverters_total} inverters producing`
}

function batteryNote(overview: Overview, power_kw: number | null): string {
  const soc_pct = socOf(overview)
  const words = (overview.bess ?? []).every(isPresent)
    ? direction(power_kw, 'Discharging', 'Charging', 'Idle')
    : 'Unknown'
  return soc_pct === null ? words : `${words}, ${formatNumber(soc_pct, 0)} % charged`
}

interface NodeProps {
  name: string
  icon: ReactNode
  value: string
  note: string
  to?: string
}

const Node = ({ name, icon, value, note, to }: NodeProps) => (
  <div className={styles['node']}>
    <Group gap={6} wrap="nowrap">
      {icon}
      {to ? (
        <SiteLink to={to} size="sm" underline="always">
          {name}
        </SiteLink>
      ) : (
        <Text size="sm">{name}</Text>
      )}
    </Group>
    <Text className="figure" fz="lg" fw={600}>
      {value}
    </Text>
    <Muted>{note}</Muted>
  </div>
)

interface LineOf {
  name: string
  /** Positive towards the middle. */
  kw: number | null
  /** Place of its node, % of width and height. */
  x: number
  y: number
}

interface LinesProps {
  lines: readonly LineOf[]
  /** Power of the fastest movement. */
  scale_kw: number
}

const Lines = ({ lines, scale_kw }: LinesProps) => (
  <svg className={styles['lines']} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden>
    {lines.map(({ name, kw, x, y }) => (
      <Line key={name} kw={kw} scale_kw={scale_kw} path={`M ${x} ${y} C 50 ${y}, 50 ${y}, 50 50`} />
    ))}
  </svg>
)

const cycle_s = { fastest: 1.5, slowest: 12 }

interface LineProps {
  kw: LineOf['kw']
  scale_kw: number
  path: string
}

function Line({ kw, scale_kw, path }: LineProps) {
  const share = kw === null ? 0 : Math.min(1, Math.abs(kw) / scale_kw)
  const seconds = Math.max(cycle_s.fastest, cycle_s.slowest * (1 - share))
  return (
    <>
      <path d={path} className={styles['line']} />
      {kw !== null && Math.abs(kw) >= flowing_kw_min && (
        <path
          d={path}
          stroke={kw > 0 ? 'var(--mantine-color-teal-6)' : 'var(--mantine-color-blue-6)'}
          className={kw > 0 ? styles['moving'] : `${styles['moving']} ${styles['backwards']}`}
          style={{ '--cycle': `${Math.round(seconds)}s` } as CSSProperties}
        />
      )}
    </>
  )
}

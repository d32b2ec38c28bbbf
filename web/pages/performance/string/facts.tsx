import type { ReactNode } from 'react'
import { useRead } from '../../../queries.ts'
import { Facts } from '../../../ui/facts.tsx'
import { formatEnergy, formatQuantity, none } from '../../../ui/format.ts'
import { facing, StringHealthBadge } from '../../../ui/plant-words.tsx'
import { Section } from '../../../ui/section.tsx'
import { inWords } from '../../../ui/words.ts'
import { useMayRead } from '../../overview/may-read.ts'
import { signed } from '../../telemetry/inverter/strings.tsx'

/** Data of the string, and its comparison with peers over seven days. */
export function StringFacts(props: { site_id: string; inverter_id: number; string_index: number }) {
  const { site_id, inverter_id, string_index } = props
  const mayRead = useMayRead()
  const { data: made } = useRead(
    'strings',
    'stringsList',
    { site_id, inverter_id },
    { staleTime: 600_000 },
  )
  const { data: compared } = useRead(
    'strings',
    'stringsCompareList',
    { site_id, inverter_id },
    { enabled: mayRead('diagnostics:read'), staleTime: 300_000 },
  )
  const string = made?.data.find((one) => one.string_index === string_index)
  const week = compared?.data.find((one) => one.string_index === string_index)
  const rows: [string, ReactNode][] = [
    ['MPPT', string?.mppt_index ?? none],
    ['Panels', string ? `${string.module_count} × ${string.panel_model ?? 'unknown'}` : none],
    ['Capacity', formatQuantity(string?.dc_capacity_kwp, 'kWp', 2)],
    ['Orientation', string ? facing(string) : none],
  ]
  if (week) {
    rows.push(
      ['Status, 7 days', <StringHealthBadge key="status" status={week.status} />],
      ['Power vs peers', signed(week.deviation_pct)],
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

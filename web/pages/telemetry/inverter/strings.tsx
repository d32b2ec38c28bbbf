import type { Inverter, Overview } from '@heliograph/sdk'
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../../queries.ts'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatNumber, formatQuantity, none } from '../../../ui/format.ts'
import { facing, StringHealthBadge, StringState } from '../../../ui/plant-words.tsx'
import { Section } from '../../../ui/section.tsx'
import { Empty } from '../../../ui/states.tsx'
import { useMayRead } from '../../overview/may-read.ts'

type Now = Overview['strings'][number]

/** Present currents compared with strings of the same orientation, and the status of a week. */
export function Strings({
  site_id,
  inverter,
  now,
}: {
  site_id: string
  inverter: Inverter
  now: readonly Now[]
}) {
  const { inverter_id } = inverter
  const href = `/sites/${site_id}/inverters/${inverter_id}/strings`
  const columns = useColumns(site_id, inverter_id, now)
  return (
    <Section title="Strings">
      {now.length === 0 ? (
        <Empty title="No strings" />
      ) : (
        <DataTable
          label="Strings"
          width={820}
          columns={[
            {
              name: 'String',
              cell: ({ string_index }) => (
                <Anchor component={Link} href={`${href}/${string_index}`}>
                  String {string_index}
                </Anchor>
              ),
            },
            ...columns,
          ]}
          rows={now}
          keyOf={({ string_index }) => string_index}
        />
      )}
    </Section>
  )
}

function useColumns(site_id: string, inverter_id: number, now: readonly Now[]): Column<Now>[] {
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
  const stringOf = (index: number) => made?.data.find((one) => one.string_index === index)
  const weekOf = (index: number) => compared?.data.find((one) => one.string_index === index)
  const peers = (index: number) =>
    now.filter((one) => stringOf(one.string_index)?.orientation === stringOf(index)?.orientation)
  return [
    numeric('MPPT', ({ string_index }) => stringOf(string_index)?.mppt_index ?? none),
    { name: 'State', cell: ({ status }) => <StringState status={status} /> },
    numeric('Current', ({ current_a }) => formatQuantity(current_a, 'A', 2)),
    numeric('Current vs peers', (own) => deviation(own, peers(own.string_index))),
    numeric('Voltage', ({ voltage_v }) => formatQuantity(voltage_v, 'V', 0)),
    numeric('Power', ({ power_kw }) => formatQuantity(power_kw, 'kW', 2)),
    {
      name: 'Status, 7 days',
      cell: ({ string_index }) => {
        const week = weekOf(string_index)
        return week ? <StringHealthBadge status={week.status} /> : none
      },
    },
    numeric('Power vs peers, 7 days', ({ string_index }) =>
      signed(weekOf(string_index)?.deviation_pct),
    ),
    {
      name: 'Orientation',
      cell: ({ string_index }) => {
        const string = stringOf(string_index)
        return string ? facing(string) : none
      },
    },
  ]
}

export const signed = (pct: number | null | undefined) =>
  pct === null || pct === undefined ? none : `${pct > 0 ? '+' : ''}${formatNumber(pct)}\u00a0%`

/** Deviation from the median current of the peers; none for medians below 0.5 A. */
function deviation(own: Now, peers: readonly Now[]): string {
  const currents = peers
    .flatMap(({ current_a }) => (current_a === null ? [] : [current_a]))
    .sort((a, b) => a - b)
  const median = currents[Math.floor(currents.length / 2)]
  if (own.current_a === null || median === undefined || median < 0.5) return none
  return signed((own.current_a / median - 1) * 100)
}

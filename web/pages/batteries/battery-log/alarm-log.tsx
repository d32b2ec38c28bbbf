import type { BatteryAlarmTransition } from '@heliograph/sdk'
import { useRead } from '../../../queries.ts'
import { type Column, numeric } from '../../../ui/data-table.tsx'
import { formatDuration } from '../../../ui/duration.ts'
import { formatNumber } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { SeverityBadge } from '../../../ui/severity.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { live_ms } from '../battery/reads.ts'
import { powerWords } from '../battery/words.ts'
import { LogTable, log_rows } from './log-table.tsx'

const whereOf = ({ source, cluster_idx, pcs_idx }: BatteryAlarmTransition) =>
  [
    source.toUpperCase(),
    cluster_idx !== null && `cluster ${cluster_idx}`,
    pcs_idx !== null && `power conversion ${pcs_idx}`,
  ]
    .filter(Boolean)
    .join(', ')

/** History of alarms. */
export function AlarmLog({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const log = useRead(
    'bess',
    'bessAlarmsHistoryList',
    { site_id, bess_id, limit: log_rows },
    live_ms,
  )
  const columns: Column<BatteryAlarmTransition>[] = [
    { name: 'Time', cell: ({ occurred_at: at }) => <Time at={at} /> },
    {
      name: 'Alarm',
      wraps: true,
      cell: (row) => (
        <>
          {row.name}
          <Muted>{whereOf(row)}</Muted>
        </>
      ),
    },
    { name: 'Severity', cell: ({ severity }) => <SeverityBadge severity={severity} /> },
    {
      name: 'Change',
      cell: ({ transition, duration_s }) =>
        transition === 'set'
          ? 'Set'
          : `Cleared${duration_s === null ? '' : ` after ${formatDuration(duration_s)}`}`,
    },
    { name: 'Battery', cell: ({ power_kw }) => powerWords(power_kw) },
    numeric('Charge, %', ({ soc_pct }) => formatNumber(soc_pct)),
  ]
  return (
    <Answered query={log}>
      {(log) => (
        <LogTable
          {...{ log, columns, label: 'Alarm history' }}
          nouns={['change', 'changes']}
          keyOf={({ event_id }) => event_id}
          none="No alarms so far"
        />
      )}
    </Answered>
  )
}

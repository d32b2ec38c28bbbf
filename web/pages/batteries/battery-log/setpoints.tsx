import type { BatteryDispatch } from '@heliograph/sdk'
import { Stack } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { useSite } from '../../../shell/site-shell.tsx'
import { type Column, numeric } from '../../../ui/data-table.tsx'
import { DayPicker } from '../../../ui/day-picker.tsx'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useDaySpan } from '../../../ui/use-day-span.ts'
import { inWords } from '../../../ui/words.ts'
import { live_ms } from '../battery/reads.ts'
import { inSentence, powerWords } from '../battery/words.ts'
import { LogTable } from './log-table.tsx'

const clamps: Record<NonNullable<BatteryDispatch['clamp_reason']>, string> = {
  soc_min: 'minimum charge',
  soc_max: 'maximum charge',
  power_limit: 'power limit of battery, PCS or curtailment',
  temperature: 'cell temperature',
  permit: 'grid permit',
  alarm: 'alarm',
  ramp: 'ramp rate',
}

function Applied({ row: { clamp_reason, clamped_power_kw } }: { row: BatteryDispatch }) {
  if (clamp_reason === null) return <>Full power</>
  return (
    <>
      {clamped_power_kw === null ? 'Reduced' : powerWords(clamped_power_kw)}
      <Muted>limited by {clamps[clamp_reason]}</Muted>
    </>
  )
}

/** Setpoints of the battery, and their results. */
export function Setpoints({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const { timezone } = useSite()
  const chosen = useDaySpan(timezone, 7)
  const log = useRead(
    'bess',
    'bessDispatchLogList',
    {
      site_id,
      bess_id,
      start: new Date(chosen.span.start_ms),
      end: new Date(chosen.span.end_ms),
      limit: 10_000,
    },
    live_ms,
  )
  const columns: Column<BatteryDispatch>[] = [
    { name: 'Time', cell: ({ issued_at: at }) => <Time at={at} /> },
    {
      name: 'Requested',
      cell: ({ requested_power_kw, source }) => (
        <>
          {powerWords(requested_power_kw)}
          <Muted>by {source === 'schedule' ? 'the plan' : inSentence(inWords(source))}</Muted>
        </>
      ),
    },
    { name: 'Applied', cell: (row) => <Applied row={row} />, wraps: true },
    {
      name: 'Status',
      cell: ({ status, failure_code }) =>
        failure_code === null ? inWords(status) : `${inWords(status)}: ${inWords(failure_code)}`,
      wraps: true,
    },
    { name: 'Measured', cell: ({ achieved_power_kw: kw }) => powerWords(kw) },
    numeric('Latency', ({ latency_ms }) => formatQuantity(latency_ms && latency_ms / 1000, 's')),
    numeric('Charge, %', ({ soc_pct }) => formatNumber(soc_pct)),
  ]
  return (
    <Stack>
      <DayPicker chosen={chosen} choices={[1, 2, 7]} />
      <Answered query={log}>
        {(log) => (
          <LogTable
            key={`${chosen.day} ${chosen.days}`}
            {...{ log, columns, label: 'Setpoints' }}
            nouns={['setpoint', 'setpoints']}
            keyOf={({ dispatch_id }) => dispatch_id}
            none="No setpoints in this period"
          />
        )}
      </Answered>
    </Stack>
  )
}

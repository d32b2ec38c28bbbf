import type { BatteryControlNote } from '@heliograph/sdk'
import { useRead } from '../../../queries.ts'
import { type Column, numeric } from '../../../ui/data-table.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { live_ms } from '../battery/reads.ts'
import { inSentence, powerWords } from '../battery/words.ts'
import { LogTable, log_rows } from './log-table.tsx'

const tiers: Record<BatteryControlNote['tier'], string> = {
  protection: 'Protection',
  permit: 'Grid permit',
  operator: 'Operator',
  dispatch: 'Approved plan',
}

function whatOf({ action, from_power_kw: from, to_power_kw: to, success }: BatteryControlNote) {
  const failed = success ? '' : ', failed'
  if (to === null) return `${inWords(action)}${failed}`
  const before = from === null ? '' : ` (${inSentence(powerWords(from))} before)`
  return `${inWords(action)}: ${inSentence(powerWords(to))}${before}${failed}`
}

/** Control decisions of the battery, the newest first. */
export function Decisions({ site_id, bess_id }: { site_id: string; bess_id: number }) {
  const log = useRead('bess', 'bessControlLogList', { site_id, bess_id, limit: log_rows }, live_ms)
  const columns: Column<BatteryControlNote>[] = [
    { name: 'Time', cell: ({ occurred_at: at }) => <Time at={at} /> },
    {
      name: 'Decided by',
      cell: ({ tier, actor, overrode_tier }) => (
        <>
          {tiers[tier]}
          <Muted>
            {inWords(actor)}
            {overrode_tier && `, over ${inSentence(tiers[overrode_tier])}`}
          </Muted>
        </>
      ),
    },
    { name: 'Action', cell: whatOf, wraps: true },
    { name: 'Reason', cell: ({ message }) => message, wraps: true },
    numeric('Charge, %', ({ soc_pct }) => formatNumber(soc_pct)),
  ]
  return (
    <Answered query={log}>
      {(log) => (
        <LogTable
          {...{ log, columns, label: 'Decisions' }}
          nouns={['decision', 'decisions']}
          keyOf={({ log_id }) => log_id}
          none="No decisions so far"
        />
      )}
    </Answered>
  )
}

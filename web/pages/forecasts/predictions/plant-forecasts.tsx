import type { Forecast } from '@heliograph/sdk'
import { Badge } from '@mantine/core'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { formatEnergy, formatPower } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { addDays } from '../../../ui/site-day.ts'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { inWords } from '../../../ui/words.ts'
import { fallbackWords } from './reads.ts'

const columnsOf = (today: string): Column<Forecast>[] => [
  { name: 'Plant', cell: ({ logger_name }) => logger_name },
  { name: 'Day (UTC)', cell: ({ date }) => (date === today ? 'Today' : 'Tomorrow') },
  numeric('Expected', ({ total_p50_kwh }) => formatEnergy(total_p50_kwh)),
  numeric(
    '80 % band',
    (one) => `${formatEnergy(one.total_p10_kwh)} to ${formatEnergy(one.total_p90_kwh)}`,
  ),
  numeric('Peak', ({ peak_p50_kw, peak_at }) => (
    <>
      {formatPower(peak_p50_kw)}
      {peak_at && ' at '}
      {peak_at && <Time at={peak_at} style="time" />}
    </>
  )),
  {
    name: 'Confidence',
    cell: ({ confidence }) => (
      <Badge miw="max-content" color={confidence === 'low' ? 'orange' : 'teal'}>
        {inWords(confidence)}
      </Badge>
    ),
  },
  {
    name: 'Model',
    wraps: true,
    cell: ({ model, model_version, fallback_reason }) => (
      <>
        {model === 'blend' ? `Version ${model_version}` : (model ?? '–')}
        {fallback_reason && <Muted>{fallbackWords[fallback_reason]}</Muted>}
      </>
    ),
  },
]

export function PlantForecasts({ plants, today }: { plants: readonly Forecast[]; today: string }) {
  const rows = plants
    .filter(({ date }) => date === today || date === addDays(today, 1))
    .toSorted((a, b) => (a.logger_id ?? 0) - (b.logger_id ?? 0) || (a.date < b.date ? -1 : 1))
  if (rows.length === 0) return <Empty title="No forecasts of plants" />
  const keyOf = ({ logger_id, date }: Forecast) => `${logger_id}/${date}`
  return (
    <DataTable
      label="Forecasts of each plant"
      width={820}
      {...{ columns: columnsOf(today), rows, keyOf }}
    />
  )
}

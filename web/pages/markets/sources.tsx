import type { Market } from '@heliograph/sdk'
import { Alert, Badge } from '@mantine/core'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { formatDate } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Time } from '../../ui/time.tsx'

const states = {
  ok: { word: 'OK', color: 'teal' },
  waiting: { word: 'Not fetched yet', color: 'blue' },
  failing: { word: 'Failing', color: 'red' },
  not_followed: { word: 'Not followed', color: 'gray' },
} as const

const sourceWords = {
  entsoe: 'ENTSO-E',
  energy_charts: 'Energy-Charts',
  simulated: 'Simulated',
} as const

const columns: readonly Column<Market>[] = [
  {
    name: 'Market',
    wraps: true,
    cell: ({ name, assigned_logger_ids: { length } }) => (
      <>
        {name}
        <Muted>{length === 0 ? 'No plant sells here' : `${length} plants sell here`}</Muted>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ source_state }) => (
      <Badge miw="max-content" color={states[source_state].color}>
        {states[source_state].word}
      </Badge>
    ),
  },
  { name: 'Source', cell: ({ source }) => (source ? sourceWords[source] : 'Imported') },
  { name: 'Prices since', cell: ({ has_data_from_date }) => formatDate(has_data_from_date) },
  { name: 'Prices until', cell: ({ last_price_at }) => <Time at={last_price_at} /> },
  { name: 'Last fetched', cell: ({ fetched_at }) => <Time at={fetched_at} /> },
]

/** Markets with a source, with prices or with plants of the site; others are only counted. */
export function Sources({ markets }: { markets: readonly Market[] }) {
  const rows = markets.filter(
    ({ source_state, assigned_logger_ids, last_price_at }) =>
      source_state !== 'not_followed' || assigned_logger_ids.length > 0 || last_price_at !== null,
  )
  const failing = rows.filter(({ source_state }) => source_state === 'failing')
  const keyOf = ({ market_code }: Market) => market_code
  return (
    <>
      {failing.map((market) => (
        <Alert
          key={market.market_code}
          color="red"
          variant="outline"
          mb="xs"
          title={`Prices of ${market.name} cannot be fetched`}
        >
          {market.last_failure} {market.failure_count} failed attempts in a row; next attempt at{' '}
          <Time at={market.next_attempt_at} />. Stored prices are unaffected.
        </Alert>
      ))}
      <DataTable label="Price sources" width={760} {...{ columns, rows, keyOf }} />
      <Muted>{`${markets.length - rows.length} other markets are not followed.`}</Muted>
    </>
  )
}

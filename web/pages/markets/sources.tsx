import type { Market } from '@heliograph/sdk'
import { Alert, Badge, Table, Text } from '@mantine/core'
import { formatDate } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'
import { Time } from '../../ui/time.tsx'

const states = {
  ok: { word: 'in order', color: 'teal' },
  waiting: { word: 'not asked yet', color: 'blue' },
  failing: { word: 'failing', color: 'red' },
  not_followed: { word: 'not followed', color: 'gray' },
} as const

const sourceWords = {
  entsoe: 'ENTSO-E',
  energy_charts: 'Energy-Charts',
  simulated: 'simulated',
} as const

const head = ['Market', 'State', 'Source', 'Prices since', 'Prices until', 'Last asked']

/** Only what is followed or sold into: Europe has dozens. */
export function Sources({ markets, timezone }: { markets: readonly Market[]; timezone: string }) {
  const shown = markets.filter(
    ({ source_state, assigned_logger_ids, last_price_at }) =>
      source_state !== 'not_followed' || assigned_logger_ids.length > 0 || last_price_at !== null,
  )
  const failing = shown.filter(({ source_state }) => source_state === 'failing')
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
          {market.last_failure} {market.failure_count} attempts in a row; the next one at{' '}
          <Time at={market.next_attempt_at} timezone={timezone} />. What was there before stays.
        </Alert>
      ))}
      <RowTable label="Where prices come from" min_width={760} head={head}>
        {shown.map((market) => (
          <Table.Tr key={market.market_code}>
            <Table.Td>
              <Text size="sm" fw={500}>
                {market.name}
              </Text>
              <Text size="xs" c="dimmed">
                {market.assigned_logger_ids.length > 0
                  ? `${market.assigned_logger_ids.length} plants sell here`
                  : 'no plant sells here'}
              </Text>
            </Table.Td>
            <Table.Td>
              <Badge miw="max-content" color={states[market.source_state].color}>
                {states[market.source_state].word}
              </Badge>
            </Table.Td>
            <Table.Td>{market.source ? sourceWords[market.source] : 'imported'}</Table.Td>
            <Table.Td>{formatDate(market.has_data_from_date)}</Table.Td>
            <Table.Td>
              <Time at={market.last_price_at} timezone={timezone} />
            </Table.Td>
            <Table.Td>
              <Time at={market.fetched_at} timezone={timezone} />
            </Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
      <Text size="sm" c="dimmed">
        {markets.length - shown.length} other markets are known and not followed.
      </Text>
    </>
  )
}

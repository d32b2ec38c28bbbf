import type { CurtailmentRow } from '@heliograph/sdk'
import { Badge, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useSite } from '../../../shell/site-shell.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { formatEnergy, formatMoney, formatNumber, formatPower } from '../../../ui/format.ts'
import { PagesOf } from '../../../ui/pages-of.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useHistory } from './reads.ts'
import { endOf, isWithdrawn, limitWords, stateOf } from './rows.ts'

const page_rows = 12

export function History({ site_id }: { site_id: string }) {
  const [days, setDays] = useState(7)
  const [page, setPage] = useState(1)
  const history = useHistory(site_id, days)
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h3">
          Before
        </Title>
        <NativeSelect
          aria-label="How far back"
          value={String(days)}
          onChange={({ currentTarget }) => {
            setDays(Number(currentTarget.value))
            setPage(1)
          }}
          data={[7, 30, 90, 365].map((n) => ({ value: String(n), label: `Last ${n} days` }))}
        />
      </Group>
      <Answered query={history}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing was limited">No limit ended in the last {days} days.</Empty>
          ) : (
            <>
              <HistoryTable
                site_id={site_id}
                rows={data.slice((page - 1) * page_rows, page * page_rows)}
              />
              <PagesOf
                count={data.length}
                limit={page_rows}
                page={page}
                onPage={setPage}
                noun={data.length === 1 ? 'row' : 'rows'}
              />
            </>
          )
        }
      </Answered>
    </Stack>
  )
}

const moneyReasons: Record<string, string> = {
  no_contract: 'Not known: the plant sells under no contract',
  no_price: 'Not known: the market has published no price',
  no_exchange_rate: 'Not known: there is no exchange rate',
}

function HistoryTable({ site_id, rows }: { site_id: string; rows: readonly CurtailmentRow[] }) {
  const { timezone } = useSite()
  const { plantName } = useDevices(site_id)
  return (
    <Table.ScrollContainer
      minWidth={860}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Limits that are over' } }}
    >
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {['Plant', 'From', 'Until', 'At most', 'How it ended'].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            {['Below it', 'Kept back', 'Lost', 'Saved'].map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="figure">
          {rows.map((row) => (
            <Table.Tr key={row.id}>
              <Table.Td>{plantName(row.logger_id)}</Table.Td>
              <Table.Td>
                <Time at={row.start_at} timezone={timezone} />
              </Table.Td>
              <Table.Td>
                <Time at={isWithdrawn(row) ? row.end_at : endOf(row)} timezone={timezone} />
              </Table.Td>
              <Table.Td>
                {formatPower(row.max_power_kw)}
                <Text size="sm" c="dimmed">
                  {limitWords(row)}
                </Text>
              </Table.Td>
              <Table.Td>
                <Badge color={stateOf(row).tone} miw="max-content">
                  {isWithdrawn(row) ? 'Withdrawn before' : stateOf(row).words}
                </Badge>
                {row.failure_message && <Text size="sm">{row.failure_message}</Text>}
              </Table.Td>
              <Table.Td ta="right">
                {row.compliance_pct === null ? '–' : `${formatNumber(row.compliance_pct)} %`}
              </Table.Td>
              <Table.Td ta="right">{formatEnergy(row.curtailed_energy_kwh)}</Table.Td>
              <Money row={row} amount={row.lost_revenue_amount} />
              <Money row={row} amount={row.avoided_cost_amount} />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const Money = ({ row, amount }: { row: CurtailmentRow; amount: number | null }) => (
  <Table.Td ta="right" title={row.money_reason ? moneyReasons[row.money_reason] : undefined}>
    {formatMoney(amount, row.currency)}
  </Table.Td>
)

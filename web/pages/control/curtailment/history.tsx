import type { CurtailmentRow } from '@heliograph/sdk'
import { Badge, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { type Column, numeric, PagedTable } from '../../../ui/data-table.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { formatEnergy, formatMoney, formatPower, formatQuantity } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useHistory } from './reads.ts'
import { endOf, isWithdrawn, limitWords, stateOf } from './rows.ts'

export function History({ site_id }: { site_id: string }) {
  const [days, setDays] = useState(7)
  const history = useHistory(site_id, days)
  const { plantName } = useDevices(site_id)
  const columns: Column<CurtailmentRow>[] = [
    { name: 'Plant', cell: ({ logger_id }) => plantName(logger_id) },
    { name: 'From', cell: ({ start_at }) => <Time at={start_at} /> },
    { name: 'To', cell: (row) => <Time at={isWithdrawn(row) ? row.end_at : endOf(row)} /> },
    {
      name: 'Limit',
      cell: (row) => (
        <>
          {formatPower(row.max_power_kw)}
          <Muted>{limitWords(row)}</Muted>
        </>
      ),
    },
    {
      name: 'Outcome',
      cell: (row) => (
        <>
          <Badge color={stateOf(row).tone} miw="max-content">
            {isWithdrawn(row) ? 'Withdrawn' : stateOf(row).words}
          </Badge>
          {row.failure_message && <Text size="sm">{row.failure_message}</Text>}
        </>
      ),
    },
    numeric('Within limit', ({ compliance_pct }) => formatQuantity(compliance_pct, '%')),
    numeric('Energy curtailed', ({ curtailed_energy_kwh }) => formatEnergy(curtailed_energy_kwh)),
    numeric('Revenue lost', (row) => <Money row={row} amount={row.lost_revenue_amount} />),
    numeric('Cost avoided', (row) => <Money row={row} amount={row.avoided_cost_amount} />),
  ]
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h3">
          Past limits
        </Title>
        <NativeSelect
          aria-label="Period"
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={[7, 30, 90, 365].map((n) => ({ value: String(n), label: `Last ${n} days` }))}
        />
      </Group>
      <Answered query={history}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No past limits">No limit ended in the last {days} days.</Empty>
          ) : (
            <PagedTable
              key={days}
              label="Past limits"
              width={860}
              page_size={12}
              nouns={['order', 'orders']}
              {...{ columns, rows: data }}
              keyOf={({ id }) => id}
            />
          )
        }
      </Answered>
    </Stack>
  )
}

const moneyReasons: Record<string, string> = {
  no_contract: 'Unknown: the plant has no contract',
  no_price: 'Unknown: no market price is published',
  no_exchange_rate: 'Unknown: no exchange rate',
}

const Money = ({ row, amount }: { row: CurtailmentRow; amount: number | null }) => (
  <span title={row.money_reason ? moneyReasons[row.money_reason] : undefined}>
    {formatMoney(amount, row.currency)}
  </span>
)

/** Standing orders: limits that are approved once for hours with a low net price. */
import { Badge, Card, Group, NativeSelect, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { askPlatform } from '../../../api.ts'
import type { StandingDay, StandingOrder, StandingOrderList } from '../../../generated/platform.ts'
import { usePlatform, useSite } from '../../../queries.ts'
import { type Column, column, DataTable, numeric, wrapped } from '../../../ui/data-table.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { DateField, NumberField } from '../../../ui/fields.tsx'
import { ChoiceField } from '../../../ui/filters.tsx'
import { Dialog, WriteButton, withFields } from '../../../ui/form.tsx'
import {
  formatDate,
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
} from '../../../ui/format.ts'
import { Muted, Part, Time } from '../../../ui/page.tsx'
import { addDays, dayAt } from '../../../ui/site-clock.ts'
import { Answered, Empty, Failure } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import type { Plant } from './limits.ts'

const changes = ['standing-orders', 'curtailment']

export function StandingOrders({ plants }: { plants: readonly Plant[] }) {
  const [is_open, setOpen] = useState(false)
  const path = '/standing-orders'
  const orders = usePlatform<StandingOrderList>('standing-orders', path, 60_000)
  return (
    <Part
      title="Standing orders"
      gap="sm"
      aside={
        <WriteButton
          scope="curtailment:write"
          variant="default"
          size="sm"
          onClick={() => setOpen(true)}
        >
          Add standing order
        </WriteButton>
      }
    >
      <Answered query={orders}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No standing orders">
              A standing order limits plants whenever their net price is below a bound.
            </Empty>
          ) : (
            data.map((order) => <OrderCard key={order.standing_order_id} order={order} />)
          )
        }
      </Answered>
      {is_open && <OrderDialog plants={plants} onClose={() => setOpen(false)} />}
    </Part>
  )
}

const tones = { active: 'teal', paused: 'yellow', ended: 'gray' }
const stateWords = { active: 'Active', paused: 'Paused', ended: 'Ended' }

const short = (value: number) => formatNumber(value, Number.isInteger(value) ? 0 : 2)
const priceWords = (price: number, currency: string) => `${formatMoney(price, currency)}/MWh`

function OrderCard({ order }: { order: StandingOrder }) {
  const { site_id } = useSite()
  const { plantName } = useDevices()
  const { standing_order_id, logger_id, limit_mode, limit_value, currency, state } = order
  const path = `/standing-orders/${standing_order_id}`
  const [is_ending, setEnding] = useState(false)
  const change = useWrite({
    write: (to: string) => askPlatform('PATCH', path, { site_id, state: to }),
    changes,
    onDone: () => setEnding(false),
  })
  const skip = useWrite({
    write: (delivery_date: string) =>
      askPlatform('POST', `${path}/skip`, { site_id, delivery_date }),
    done: 'Day skipped. Its limits are released.',
    changes,
  })
  const today = dayAt(Date.now(), order.timezone)
  const is_skipped = order.days.some((day) => day.delivery_date === today && day.skipped_by)
  const limit = limit_mode === 'percent' ? `${short(limit_value)} %` : formatPower(limit_value)
  const button = { scope: 'curtailment:write', variant: 'default', size: 'sm' } as const
  return (
    <Card padding="sm">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={3} size="h4">
            Net price below {priceWords(order.net_price_below, currency)}: limit{' '}
            {logger_id === null ? 'all plants' : plantName(logger_id)} to {limit}{' '}
            <Badge color={tones[state]}>{stateWords[state]}</Badge>
          </Title>
          <Text size="sm">
            Until {formatDate(order.end_date)}
            {order.hours_per_day_max !== null &&
              `, at most ${short(order.hours_per_day_max)} h a day`}
            . Saved {formatMoney(order.saved_amount, currency)}, revenue lost{' '}
            {formatMoney(order.lost_amount, currency)}, energy curtailed{' '}
            {formatEnergy(order.curtailed_energy_kwh)}.
          </Text>
          <Muted>
            Approved by {order.approved_by}. Days are those of the market ({order.timezone}).
          </Muted>
        </div>
        {state !== 'ended' && (
          <Group gap="xs">
            {state === 'active' && !is_skipped && (
              <WriteButton {...button} loading={skip.is_pending} onClick={() => skip.run(today)}>
                Skip today
              </WriteButton>
            )}
            <WriteButton
              {...button}
              loading={change.is_pending}
              onClick={() => change.run(state === 'active' ? 'paused' : 'active')}
            >
              {state === 'active' ? 'Pause' : 'Resume'}
            </WriteButton>
            <WriteButton {...button} onClick={() => setEnding(true)}>
              End
            </WriteButton>
          </Group>
        )}
      </Group>
      {(change.error ?? skip.error) && <Failure error={change.error ?? skip.error} />}
      <Days order={order} />
      {is_ending && (
        <Dialog
          title="End standing order"
          action="End order"
          write={change}
          onAct={() => change.run('ended')}
          onClose={() => setEnding(false)}
          focus_cancel
        >
          <Text size="sm">Its limits are released. An ended order cannot be resumed.</Text>
        </Dialog>
      )}
    </Card>
  )
}

const outcomes: Record<string, string> = {
  planned: 'All periods were released',
  none_below: 'No daylight hour is left with a net price below the bound',
  no_price: 'No price is known: nothing is limited',
  skipped: 'Skipped',
  not_allowed: 'Not planned: the person who approved it may no longer set limits',
  safe_mode: 'Not planned: the site is in commissioning safe mode',
  no_plant: 'Not planned: no plant is in service',
}

function Days({ order: { standing_order_id, currency, days } }: { order: StandingOrder }) {
  const columns: Column<StandingDay>[] = [
    column('Day', ({ delivery_date }) => formatDate(delivery_date)),
    wrapped('Limited', (day) => <Plan day={day} currency={currency} />),
    numeric('Energy curtailed', (day) => day.curtailed_energy_kwh, formatEnergy),
    numeric('Saved', (day) => formatMoney(day.saved_amount, currency)),
    numeric('Revenue lost', (day) => formatMoney(day.lost_amount, currency)),
  ]
  if (days.length === 0) return null
  return (
    <DataTable
      label={`Days of standing order ${standing_order_id}`}
      width={720}
      page_size={4}
      nouns={['day', 'days']}
      columns={columns}
      rows={days}
      by="delivery_date"
    />
  )
}

function Plan({ day, currency }: { day: StandingDay; currency: string }) {
  const { outcome, periods, skipped_by, unpriced_quarter_count: unpriced } = day
  return (
    <>
      {periods.map(({ group_id, start_at, end_at, avg_net_price_per_mwh, is_released }) => (
        <div key={group_id}>
          <Time at={start_at} style="time" /> – <Time at={end_at} style="time" /> at{' '}
          {priceWords(avg_net_price_per_mwh, currency)}
          {is_released && ' (released)'}
        </div>
      ))}
      {(periods.length === 0 || outcome !== 'planned') && (
        <Muted>
          {outcomes[outcome]}
          {skipped_by && ` by ${skipped_by}`}
        </Muted>
      )}
      {unpriced > 0 && outcome !== 'no_price' && (
        <Muted>{short(unpriced / 4)} h have no price and are not limited</Muted>
      )}
    </>
  )
}

interface OrderDialogProps {
  plants: readonly Plant[]
  onClose: () => void
}

function OrderDialog({ plants, onClose }: OrderDialogProps) {
  const { site_id, timezone } = useSite()
  const today = dayAt(Date.now(), timezone)
  const form = useForm({
    initialValues: {
      scope: 'site',
      limit_mode: 'percent' as 'percent' | 'kw',
      limit_value: 1 as number | string,
      net_price_below: 0 as number | string,
      hours_per_day_max: '' as number | string,
      end_date: addDays(today, 365),
    },
  })
  const create = useWrite({
    write: ({ scope: where, hours_per_day_max, ...rest }: typeof form.values, key) =>
      withFields(form, () => {
        const target =
          where === 'site' ? { scope: 'site' } : { scope: 'logger', logger_id: Number(where) }
        const hours = hours_per_day_max === '' ? null : hours_per_day_max
        const body = { site_id, ...target, ...rest, hours_per_day_max: hours }
        return askPlatform('POST', '/standing-orders', body, key)
      }),
    done: 'Standing order approved.',
    changes,
    onDone: onClose,
  })
  const is_percent = form.values.limit_mode === 'percent'
  return (
    <Dialog
      title="Add standing order"
      action="Approve"
      write={create}
      size="lg"
      onSubmit={form.onSubmit(create.run)}
      onClose={onClose}
    >
      <Text size="sm">
        From now on, the server limits the plants whenever the net price is below the bound: the
        contract price less fees by energy. Any day can be skipped.
      </Text>
      <NativeSelect
        label="Apply to"
        data={[
          { value: 'site', label: `Whole site (${plants.length} plants)` },
          ...plants.map(({ logger_id, name }) => ({ value: String(logger_id), label: name })),
        ]}
        {...form.getInputProps('scope')}
      />
      <NumberField
        label="Net price below"
        description="Per MWh, in the currency of the contract"
        decimalScale={2}
        {...form.getInputProps('net_price_below')}
      />
      <Group align="flex-start" grow>
        <ChoiceField
          label="Unit"
          choices={{ percent: 'Percent', kw: 'kW' }}
          {...form.getInputProps('limit_mode')}
        />
        <NumberField
          label="Limit"
          suffix={is_percent ? ' %' : ' kW'}
          min={0}
          decimalScale={3}
          {...form.getInputProps('limit_value')}
        />
      </Group>
      <Group align="flex-start" grow>
        <NumberField
          label="Most hours a day"
          description="The cheapest hours; empty for all"
          suffix=" h"
          min={0}
          max={24}
          decimalScale={2}
          {...form.getInputProps('hours_per_day_max')}
        />
        <DateField
          label="Last day"
          description="The order ends after this day"
          min={today}
          {...form.getInputProps('end_date')}
        />
      </Group>
    </Dialog>
  )
}

import { type Static, Type } from 'typebox'
import { SiteId } from '../access/schemas.ts'
import * as field from '../http/fields.ts'
import { Closed, id_max, Named } from '../http/params.ts'
import { CurtailmentRow, group_id_example } from './curtailment-row.ts'
import { limitFields } from './schemas.ts'
import { orderStates, outcomes } from './standing-store.ts'

export const StandingOrderId = field.Int('A standing order of the site.', {
  minimum: 1,
  maximum: id_max,
  examples: [3],
})

const net_price_below = field.Num(
  'The plants are limited in quarter hours whose net price, per MWh in the currency of the ' +
    'contract, is below this. The net price is the contract price less fees by energy.',
  { minimum: -100_000, maximum: 100_000, examples: [0] },
)
const hours = { minimum: 0.25, maximum: 24, multipleOf: 0.25, examples: [4] }
const hours_per_day_max = field.NumOrNull(
  'Most hours that are limited on a delivery day, the cheapest ones; null without a bound.',
  hours,
)
const end_date = field.Day('The last delivery day.', '2036-09-30')

export const StandingOrderBody = Closed({
  site_id: SiteId,
  ...limitFields,
  net_price_below,
  hours_per_day_max: Type.Optional(hours_per_day_max),
  end_date,
})

export const OrderChange = Closed({
  site_id: SiteId,
  state: field.OneOf(
    orderStates,
    '`paused` and `ended` release the orders of today and tomorrow. `ended` is final.',
    'paused',
  ),
})

export const DaySkip = Closed({
  site_id: SiteId,
  delivery_date: field.Day('Today in the time zone of the market, or later.', '2036-06-21'),
})

const { curtailed_energy_kwh, money_reason } = CurtailmentRow.properties

export type Savings = Static<typeof Savings>
const Savings = Closed({
  curtailed_energy_kwh,
  saved_amount: field.FromZeroOrNull(
    'What delivering that energy would have cost in quarter hours with a negative net price: the ' +
      'contract price, with what it pays at negative prices, less fees by energy.',
    18.4,
  ),
  lost_amount: field.FromZeroOrNull(
    'What that energy would have earned in quarter hours with a positive net price.',
    0,
  ),
  money_reason,
})

const StandingPeriod = Named('StandingPeriod', {
  group_id: field.Text('Its curtailment command, as in /curtailment.', group_id_example),
  start_at: field.At('Start of the limit.', '2026-06-21T10:00:00.000Z'),
  end_at: field.At('End of the limit, or its release by the platform.', '2026-06-21T13:00:00.000Z'),
  avg_net_price_per_mwh: field.Num('Mean net price when it was planned.', -12.5),
  is_released: field.Flag('Whether it was released before its end.'),
})

const StandingDay = Named('StandingDay', {
  delivery_date: field.Day('Day in the time zone of the market.', '2026-06-21'),
  outcome: field.OneOf(
    outcomes,
    '`planned`: see `periods`. `none_below`: no daylight quarter hour is left with a net price below ' +
      'the bound. ' +
      '`no_price`: no net price is known, so nothing is limited. `skipped`: a person skipped the ' +
      'day. `not_allowed`: the person who approved the order may no longer set limits. ' +
      '`safe_mode`: the site is in commissioning safe mode. `no_plant`: none is in service.',
  ),
  unpriced_quarter_count: field.Count(
    'Quarter hours without a net price, in which nothing is limited: no price is published, or ' +
      'the plant has no contract in the currency of the order.',
    0,
  ),
  planned_at: field.At('When this outcome was found.', '2026-06-20T11:05:00.000Z'),
  skipped_by: field.TextOrNull('Who skipped the day.'),
  periods: Type.Array(StandingPeriod),
  ...Savings.properties,
})

export const StandingOrderRecord = Named('StandingOrder', {
  site_id: SiteId,
  standing_order_id: StandingOrderId,
  scope: limitFields.scope,
  logger_id: field.CountOrNull('The plant; null with scope `site`.', 2),
  limit_mode: limitFields.limit_mode,
  limit_value: field.Num('In % or kW by `limit_mode`.', 1),
  net_price_below,
  currency: field.Text('ISO 4217, of the contract when the order was approved.', 'EUR'),
  timezone: field.Text('Time zone of the market, in which days are counted.', 'Europe/Berlin'),
  hours_per_day_max,
  end_date,
  state: field.OneOf(orderStates, '`ended`: by a person, or after `end_date`.'),
  created_at: field.At('When the order was approved.', '2026-06-01T08:00:00.000Z'),
  approved_by: field.Text('Who approved the order.', 'Ada'),
  days: Type.Array(StandingDay, { description: 'The last 31 planned days, newest first.' }),
  ...Savings.properties,
})

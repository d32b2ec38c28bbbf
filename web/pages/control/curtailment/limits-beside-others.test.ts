import assert from 'node:assert/strict'
import test from 'node:test'
import type { Span } from '../../../ui/site-clock.ts'
import { curtailedBy } from './limits.ts'

const at = (clock: string) => Date.parse(`2026-06-21T${clock}:00Z`)
const span = (from: string, to: string): Span => ({ start_ms: at(from), end_ms: at(to) })
const hourOf = (hour: number, p50_kw: number | null, price_per_mwh: number | null) => ({
  start_at: `2026-06-21T${hour}:00:00Z`,
  end_at: `2026-06-21T${hour + 1}:00:00Z`,
  p10_kw: null,
  p50_kw,
  p90_kw: null,
  price_per_mwh,
  market_price_per_mwh: null,
  suggested_limit_kw: null,
})

test('what another limit keeps back already is not counted', () => {
  const noon = span('10:00', '12:00')
  const hours = [hourOf(10, 300, 50), hourOf(11, 300, 50)]
  const curtailed = (...others: [from: string, to: string, max_power_kw: number][]) =>
    curtailedBy(
      hours,
      100,
      noon,
      others.map(([from, to, max_power_kw]) => ({ ...span(from, to), max_power_kw })),
    )
  assert.deepEqual(curtailed(), { energy_kwh: 400, amount: 20 })
  // From 10:30 to 11:15 only 50 of the 200 kW are its own.
  assert.deepEqual(curtailed(['10:30', '11:15', 150]), { energy_kwh: 287.5, amount: 14.375 })
  // A lower one leaves it nothing; of several the lowest holds.
  assert.deepEqual(curtailed(['09:00', '13:00', 90]), { energy_kwh: 0, amount: 0 })
  assert.deepEqual(curtailed(['09:00', '13:00', 90], ['10:00', '11:00', 200]), {
    energy_kwh: 0,
    amount: 0,
  })
  // Above what is expected, or at another time, it changes nothing.
  assert.deepEqual(curtailed(['09:00', '13:00', 310], ['12:00', '13:00', 0]), {
    energy_kwh: 400,
    amount: 20,
  })
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import { hour_ms } from '@heliograph/domain/durations'
import { ApiError } from '../../http/errors.ts'
import type { GroupTask } from './group-plan.ts'
import { createSolverThread } from './solver-thread.ts'

/** A unit that buys in the first hour and sells in the second. */
const group = (capacity_kwh = 100): GroupTask => ({
  objective: 'arbitrage',
  periods: [10, 90].map((price, nth) => ({
    start_ms: nth * hour_ms,
    end_ms: (nth + 1) * hour_ms,
    price,
    pv_kw: 0,
    load_kw: 0,
  })),
  export_limit_kw: null,
  import_limit_kw: null,
  fixed_kw: [0, 0],
  outlook: [],
  has_end_target: false,
  currency: 'EUR',
  units: [
    {
      unit: {
        bess_id: 1,
        capacity_kwh,
        soc_start_pct: 0,
        soc_min_pct: 0,
        soc_max_pct: 100,
        soc_end_pct: 0,
        charge_efficiency: 1,
        discharge_efficiency: 1,
        charge_limits: [{ soc_pct: 0, power_kw: 50 }],
        discharge_limits: [{ soc_pct: 0, power_kw: 50 }],
        degradation_cost_per_mwh: 0,
        cycles_max: null,
      },
      usable_kwh: capacity_kwh,
      is_end_open: false,
      cycles_per_day: null,
      blank: Array.from({ length: 24 }, (_, hour) => ({
        hour,
        start_at: '',
        end_at: '',
        power_kw: 0,
        quarter_power_kw: null,
        soc_start_pct: null,
        soc_end_pct: null,
        price_per_mwh: null,
        pv_forecast_kw: null,
        expected_amount: null,
        min_power_kw: 0,
        max_power_kw: 0,
        original_power_kw: null,
        edited_by: null,
        edited_at: null,
        edit_note: null,
      })),
    },
  ],
})

test('the thread plans for each who asks, tells what fails, and goes on', async (t) => {
  const thread = createSolverThread({ timers: systemTimers })
  t.after(() => thread.close())
  const [one, other] = await Promise.all([thread.solve(group()), thread.solve(group(30))])
  const powers = ({ units }: typeof one) => units[0]!.hours.slice(0, 2).map((h) => h.power_kw)
  assert.deepEqual([one.status, powers(one), powers(other)], ['optimal', [-50, 50], [-30, 30]])
  assert.equal(one.units[0]!.totals.expected_net_amount, 4)
  await assert.rejects(thread.solve(group(-1)), /unit 1: capacity_kwh/)
  assert.equal((await thread.solve(group())).status, 'optimal')
})

test('what hangs is given up: who waits is told to come again, and the next is served', async (t) => {
  let giveUp = () => {}
  const timers = {
    after(_delay_ms: number, callback: () => void) {
      giveUp = callback
      return () => {}
    },
  }
  const thread = createSolverThread({ timers })
  t.after(() => thread.close())
  const asked = [thread.solve(group()), thread.solve(group())]
  giveUp()
  for (const one of asked) {
    await assert.rejects(one, (error) => {
      return error instanceof ApiError && error.code === 'service_unavailable'
    })
  }
  assert.equal((await thread.solve(group())).status, 'optimal')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { failureCodes } from '@heliograph/domain/curtailment'
import { CurtailmentRow } from './curtailment-row.ts'
import { releaseExample } from './examples.ts'
import { CurtailmentGroup, CurtailmentRelease } from './schemas.ts'
import { Suggestion } from './suggest-schemas.ts'

const names = (text: string) => text.trim().split(/\s+/).sort()

/** What a client may rely on: a field once served stays. */
const promised = [
  [
    CurtailmentRow,
    `id group_id logger_id status is_active applied restored source scope limit_mode limit_value
     start_at end_at max_power_kw requested_max_power_kw rated_power_kw limit_pct_of_rated
     created_at acknowledged_at applied_at verified_at restore_started_at restored_at cancelled_at
     completed_at apply_latency_ms last_checked_at observed_limit_kw observed_power_kw
     compliance_pct violation_s retry_count failure_code failure_message available_power_kw
     curtailed_energy_kwh lost_revenue_amount avoided_cost_amount currency money_reason created_by
     cancelled_by idempotency_key request_id release_requested_at releasing_reason closed_at
     closed_reason closed_by close_note holds_until`,
  ],
  [
    CurtailmentGroup,
    `group_id schedules status scope limit_mode limit_value site_max_power_kw hold_until_at warnings
     skipped`,
  ],
  [CurtailmentRelease, 'group_id status schedules restored_count pending_restore_count'],
  [
    Suggestion,
    `logger_id date timezone start_hour end_hour start_at end_at hours_in_window suggested_limit_kw
     suggested_limit_pct limit_mode rated_power_kw basis forecast_run_at forecast_peak_p50_kw
     forecast_peak_p90_kw forecast_energy_p50_kwh expected_curtailed_energy_kwh
     expected_lost_revenue_amount avoided_cost_amount currency price_basis avg_price_per_mwh
     negative_price_min money_reason price_windows confidence reasons hours`,
  ],
  [
    Suggestion.properties.price_windows.items,
    `start_at end_at reason basis suggested_limit_pct suggested_limit_kw avg_price_per_mwh
     avg_net_price_per_mwh expected_energy_kwh expected_net_amount expected_curtailed_energy_kwh
     expected_saving_amount currency`,
  ],
  [
    Suggestion.properties.hours.items,
    'start_at end_at p10_kw p50_kw p90_kw price_per_mwh market_price_per_mwh suggested_limit_kw',
  ],
] as const

test('every field is served, always', () => {
  for (const [schema, fields] of promised) {
    assert.deepEqual(Object.keys(schema.properties).sort(), names(fields))
    assert.deepEqual([...schema.required].sort(), names(fields))
  }
})

test('each reason why a row is not applied or restored is told in words', () => {
  const told = JSON.stringify(CurtailmentRow.properties.failure_code)
  for (const code of failureCodes) assert.ok(told.includes(`\`${code}\`: `), code)
})

test('the example of a release counts its rows as the endpoint does', () => {
  const { schedules, restored_count, pending_restore_count } = releaseExample
  assert.equal(restored_count, schedules.filter(({ restored }) => restored).length)
  const pending = schedules.filter(({ status }) => status === 'releasing')
  assert.equal(pending_restore_count, pending.length)
  assert.deepEqual(
    pending.map(({ failure_code }) => failure_code),
    ['raise_refused'],
  )
})

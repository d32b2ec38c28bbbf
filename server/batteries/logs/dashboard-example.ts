/** A unit at one instant, and its day, as the rules of the dashboard tell them. */
import { emptyReading } from '@heliograph/domain/readings'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { batteryNow } from '../current.ts'
import { envelopeOf } from '../envelope.ts'
import type { UnitDay } from '../unit-day.ts'
import { quarter_ms, quartersOf } from '../unit-energy.ts'
import type { LiveUnit, UnitRow } from '../unit-store.ts'
import { unitRecord } from '../units.ts'
import { type Dashboard, seriesOf, todayOf } from './dashboard.ts'
import { countsExample, deviationExample } from './examples.ts'

const now = new Date('2026-06-21T10:00:05.000Z')
const start_ms = Date.parse('2026-06-21T00:00:00Z')

const row: UnitRow = {
  ...emptyReading('bess'),
  bess_id: 1,
  name: 'Battery South',
  location_id: 2,
  logger_id: 1,
  manufacturer: 'Example Storage',
  model: 'ES 400',
  serial_number: 'ES400-0117',
  chemistry: 'lfp',
  coupling: 'ac',
  rated_energy_kwh: 400,
  usable_energy_kwh: 360,
  rated_charge_power_kw: 200,
  rated_discharge_power_kw: 200,
  rated_capacity_ah: 560,
  nominal_voltage_v: 716,
  roundtrip_efficiency_pct: 88,
  ramp_rate_kw_s: 50,
  power_curve: null,
  soc_min_pct: 5,
  soc_max_pct: 95,
  soc_reserve_pct: 10,
  market_code: null,
  cluster_count: 2,
  modules_per_cluster: 14,
  cells_per_module: 16,
  temperature_sensors_per_module: 4,
  commissioned_date: '2025-03-01',
  warranty_end_date: '2035-03-01',
  warranty_throughput_kwh: 2_000_000,
  warranty_cycles: 6000,
  pcs: [{ pcs_idx: 0, rated_power_kw: 200 }],
  retired_at: null,
  created_at: new Date('2026-01-05T08:00:00Z'),
  updated_at: new Date('2026-05-11T14:30:00Z'),
  measured_at: new Date('2026-06-21T10:00:04Z'),
  quality: 'good',
  received_at: new Date('2026-06-21T10:00:04.120Z'),
  state: 'discharging',
  power_kw: 100,
  setpoint_kw: 100,
  soc_pct: 60,
  soh_pct: 98,
  available_energy_kwh: 215.6,
  energy_to_full_kwh: 137.2,
  dc_voltage_v: 720,
  dc_current_a: 141.5,
  max_charge_power_kw: 180,
  max_discharge_power_kw: 190,
  charged_total_kwh: 52_310,
  discharged_total_kwh: 46_780,
  contactor_state: 'closed',
  fire_system_state: 'normal',
  control_place: 'remote',
  heartbeat_ok: 1,
  protection: null,
  bms_firmware: '3.2',
  ems_firmware: '1.0.0',
  day_first_at: new Date('2026-06-20T22:00:00Z'),
  day_first_charged_kwh: 52_000,
  day_first_discharged_kwh: 46_500,
  clamp_reason: null,
  clamped_from_at: null,
  command_source: 'schedule',
  command_from_at: new Date('2026-06-21T10:00:00Z'),
  schedule_state: 'approved',
  schedule_dispatched: {
    powered_hours: [2, 3, 4, 9, 10, 11],
    executed_hours: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    newest_status: 'achieved',
    failure_code: null,
  },
}
const live: LiveUnit = { row, pcs: [], alarms: [] }
const situation = {
  now,
  day_start_at: new Date('2026-06-20T22:00:00Z'),
  sun_elevation_deg: 64,
  poll: defaultPollIntervals,
  is_edge_silent: false,
  offline_before_at: new Date('2026-06-21T09:45:05Z'),
}

/** Charges 100 kW from 02:00 to 05:00 and discharges as much from 09:00 on. */
const powerIn = (hour: number) => (hour >= 2 && hour < 5 ? -100 : hour >= 9 ? 100 : 0)
const hours = Array.from({ length: 24 }, (_, hour) => ({
  hour,
  power_kw: hour < 12 ? powerIn(hour) : 0,
  quarter_power_kw: null,
  soc_start_pct: null,
  soc_end_pct: null,
}))

const battery: UnitDay['plans'][number]['battery'] = {
  bess_id: 1,
  capacity_kwh: 392,
  soc_start_pct: 60,
  soc_min_pct: 10,
  soc_max_pct: 95,
  soc_end_pct: null,
  charge_limits: [],
  discharge_limits: [],
  cycles_max: null,
  charge_efficiency: 0.94,
  discharge_efficiency: 0.94,
  degradation_cost_per_mwh: 8,
}

const day: UnitDay = {
  unit: { ...row, site_id: 'demo' },
  start_ms,
  now_ms: now.getTime(),
  quarters: quartersOf({ start_ms, end_ms: start_ms + 40 * quarter_ms }).map((span) => {
    const net_kwh = powerIn(new Date(span.start_ms).getUTCHours()) / 4
    return {
      ...span,
      charged_kwh: Math.max(0, -net_kwh),
      discharged_kwh: Math.max(0, net_kwh),
      soc_start_pct: null,
      soc_end_pct: null,
      heard_spans: 5,
      spans: 5,
    }
  }),
  plans: [
    { schedule_id: 41, approved_at: new Date(start_ms - 1), superseded_at: null, hours, battery },
  ],
  prices: null,
  causes: [],
}

const current = batteryNow(live, situation)
const local_day = { start_ms: start_ms - 8 * quarter_ms, end_ms: start_ms + 88 * quarter_ms }

export const dashboardExample: Dashboard = {
  unit: unitRecord(live, situation),
  current,
  schedule: null,
  deviations: [deviationExample],
  today: { ...todayOf([day], local_day, current), earnings_amount: 12.4, currency: 'EUR' },
  ...seriesOf(day),
  alarms_summary: countsExample,
  envelope: envelopeOf(live, situation),
}

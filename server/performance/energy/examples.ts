const figures = {
  energy_kwh: 6120.418,
  estimated_energy_kwh: 0,
  energy_source: 'inverter_counter',
  expected_energy_kwh: 6302.7,
  curtailed_energy_kwh: 0,
} as const
const whole = { completeness_pct: 100, is_partial: false } as const
const production = {
  first_production_at: '2026-06-21T03:12:05.000Z',
  last_production_at: '2026-06-21T19:31:45.000Z',
}

export const daySummaryExample = {
  data: [
    {
      date: '2026-06-21',
      day_start_at: '2026-06-21T00:00:00.000Z',
      day_end_at: '2026-06-22T00:00:00.000Z',
      logger_id: 1,
      logger_name: 'South field',
      ...figures,
      specific_yield_kwh_kwp: 4.8368,
      poa_insolation_kwh_m2: 5.6102,
      peak_power_kw: 861.204,
      peak_power_at: '2026-06-21T11:05:00.000Z',
      ...production,
      sample_count: 43200,
      ...whole,
    },
  ],
  meta: { count: 1, totals: { ...figures, ...production, ...whole, loggers_known: 1 } },
}

export const loggerHourExample = {
  logger_id: 1,
  start_at: '2026-06-21T10:00:00.000Z',
  end_at: '2026-06-21T11:00:00.000Z',
  energy_kwh: 784.21,
  estimated_energy_kwh: 121.4,
  energy_source: 'mixed',
  expected_energy_kwh: 803.92,
  curtailed_energy_kwh: 0,
  poa_insolation_kwh_m2: 0.7121,
  avg_power_kw: null,
  max_power_kw: 802.551,
  sample_count: 1512,
  completeness_pct: 84.31,
  is_partial: true,
} as const

const night = {
  energy_kwh: 0,
  energy_source: 'inverter_counter',
  expected_energy_kwh: null,
  curtailed_energy_kwh: null,
  completeness_pct: null,
  is_partial: false,
} as const
const noon = { ...figures, ...whole, energy_kwh: 820.5, expected_energy_kwh: 841.25 } as const
const { estimated_energy_kwh: _, ...noon_shown } = noon

export const energyMatrixExample = {
  data: [
    {
      date: '2026-06-21',
      logger_id: 1,
      total_kwh: 820.5,
      estimated_energy_kwh: 0,
      energy_source: figures.energy_source,
      peak_hour: 11,
      ...whole,
      hours: Array.from({ length: 24 }, (_, hour) => ({
        hour,
        start_at: `2026-06-21T${String(hour).padStart(2, '0')}:00:00.000Z`,
        ...(hour === 11 ? noon_shown : night),
      })),
    },
  ],
  meta: {
    count: 1,
    truncated: false,
    next_start: null,
    timezone_note: 'Days and hours are UTC: every day has 24 hours, hour 0 starts at 00:00Z.',
    totals_by_hour: Array.from({ length: 24 }, (_, hour) => ({
      hour,
      energy_kwh: hour === 11 ? 820.5 : 0,
    })),
  },
}

export const stringHourExample = {
  string_index: 0,
  start_at: '2026-06-21T10:00:00.000Z',
  end_at: '2026-06-21T11:00:00.000Z',
  energy_kwh: 7.9121,
  avg_current_a: 9.402,
  max_current_a: 9.611,
  avg_voltage_v: 841.55,
  specific_yield_kwh_kwp: 0.7904,
  sample_count: 180,
  ...whole,
  method: 'current_times_voltage',
} as const

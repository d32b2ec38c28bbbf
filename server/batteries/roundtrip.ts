/** Round-trip efficiency of batteries by their counters. */
import { counterIncrease } from '@heliograph/domain/counter'
import { significant } from '@heliograph/domain/significant'
import type { Queries } from '../storage/database.ts'
import type { UnitFacts } from './unit-store.ts'
import { capacityOf, usableEnergy } from './units.ts'

export interface CounterSample {
  measured_ms: number
  charged_total_kwh: number
  discharged_total_kwh: number
  stored_kwh: number
}

interface SampledUnit {
  rated_charge_power_kw: number
  rated_discharge_power_kw: number
  usable_energy_kwh: number
  samples: readonly CounterSample[]
}

/**
 * Round-trip efficiency of all units together, %. With the one-way efficiency e, stored energy
 * changes by `e charged - discharged / e`; the round-trip efficiency is the square of e. Spans in
 * which a counter fell (reset or overflow) are left out. Null where less energy was charged than
 * the units can use, as the stored energy would dominate; and above 100 %, which results from
 * counters on different sides of a converter.
 */
export function roundtripEfficiency(units: readonly SampledUnit[]): number | null {
  let [charged_kwh, discharged_kwh, held_kwh, usable_kwh] = [0, 0, 0, 0]
  for (const unit of units) {
    const moved = movedBy(unit)
    if (moved.span_count === 0) continue
    charged_kwh += moved.charged_kwh
    discharged_kwh += moved.discharged_kwh
    held_kwh += moved.held_kwh
    usable_kwh += unit.usable_energy_kwh
  }
  if (usable_kwh === 0 || charged_kwh < usable_kwh) return null
  const root = Math.sqrt(held_kwh ** 2 + 4 * charged_kwh * discharged_kwh)
  const one_way = (held_kwh + root) / (2 * charged_kwh)
  const efficiency_pct = 100 * one_way ** 2
  return efficiency_pct > 100 ? null : significant(efficiency_pct)
}

function movedBy({ samples, rated_charge_power_kw, rated_discharge_power_kw }: SampledUnit) {
  const moved = { charged_kwh: 0, discharged_kwh: 0, held_kwh: 0, span_count: 0 }
  for (const [nth, after] of samples.entries()) {
    const before = samples[nth - 1]
    if (!before) continue
    const elapsed_s = (after.measured_ms - before.measured_ms) / 1000
    // A fall within a day may be a reset or an overflow.
    const rise = (name: 'charged_total_kwh' | 'discharged_total_kwh', rated_kw: number) =>
      after[name] < before[name]
        ? null
        : counterIncrease(before[name], after[name], { elapsed_s, rated_kw })
    const charged_kwh = rise('charged_total_kwh', rated_charge_power_kw)
    const discharged_kwh = rise('discharged_total_kwh', rated_discharge_power_kw)
    if (charged_kwh === null || discharged_kwh === null) continue
    moved.charged_kwh += charged_kwh
    moved.discharged_kwh += discharged_kwh
    moved.held_kwh += after.stored_kwh - before.stored_kwh
    moved.span_count += 1
  }
  return moved
}

interface SampleRow extends UnitFacts {
  measured_at: Date
  charged_total_kwh: number
  discharged_total_kwh: number
  soc_pct: number
  soh_pct: number | null
}

/** Round-trip efficiency, %; null where unknown. Null `bess_id`: all units in service together. */
export async function readRoundtrip(
  db: Queries,
  { site_id, bess_id }: { site_id: string; bess_id: number | null },
  { start, end }: { start: Date; end: Date },
): Promise<number | null> {
  const rows = await db.query<SampleRow>(samples, [site_id, start, end, bess_id])
  const units = Map.groupBy(rows, (row) => row.bess_id)
  return roundtripEfficiency([...units.values()].map(sampledUnit))
}

function sampledUnit(rows: readonly SampleRow[]): SampledUnit {
  const [unit] = rows
  return {
    rated_charge_power_kw: unit!.rated_charge_power_kw,
    rated_discharge_power_kw: unit!.rated_discharge_power_kw,
    usable_energy_kwh: usableEnergy(unit!),
    samples: rows.map((row) => ({
      measured_ms: row.measured_at.getTime(),
      charged_total_kwh: row.charged_total_kwh,
      discharged_total_kwh: row.discharged_total_kwh,
      stored_kwh: (row.soc_pct / 100) * capacityOf(row),
    })),
  }
}

// The newest reading of each day: reading all of a month would take seconds.
const samples = `
  SELECT b.bess_id, b.rated_energy_kwh, b.usable_energy_kwh, b.soc_min_pct, b.soc_max_pct,
    b.rated_charge_power_kw, b.rated_discharge_power_kw, r.*
  FROM batteries b
  CROSS JOIN generate_series($2::timestamptz, $3, interval '1 day') AS day (at)
  CROSS JOIN LATERAL (
    SELECT measured_at, charged_total_kwh, discharged_total_kwh, soc_pct, soh_pct
    FROM bess_readings r
    WHERE r.site_id = b.site_id AND r.bess_id = b.bess_id
      AND r.measured_at > day.at - interval '1 day' AND r.measured_at <= day.at
      AND r.charged_total_kwh IS NOT NULL AND r.discharged_total_kwh IS NOT NULL
      AND r.soc_pct IS NOT NULL
    ORDER BY r.measured_at DESC LIMIT 1
  ) r
  WHERE b.site_id = $1 AND (CASE WHEN $4::int IS NULL THEN b.retired_at IS NULL ELSE b.bess_id = $4 END)
  ORDER BY b.bess_id, r.measured_at`

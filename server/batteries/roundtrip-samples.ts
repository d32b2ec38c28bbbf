/** Reads the samples of the round-trip efficiency: one reading per unit and day. */
import type { Queries } from '../storage/database.ts'
import { roundtripEfficiency, type SampledUnit } from './roundtrip.ts'
import type { UnitFacts } from './unit-store.ts'
import { capacityOf, usableEnergy } from './units.ts'

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

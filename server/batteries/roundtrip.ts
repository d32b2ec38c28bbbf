/** Round-trip efficiency of batteries by their counters. */
import { counterIncrease } from '@heliograph/domain/counter'
import { day_ms } from '@heliograph/domain/durations'
import type { BessReading } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { isExchanged, readExchanges } from '../plant/device-exchanges.ts'
import type { Queries } from '../storage/database.ts'
import { readLast } from '../telemetry/stored-readings.ts'
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
  /** When other units took its place, Unix ms. */
  exchanged_ms: readonly number[]
  samples: readonly CounterSample[]
}

/**
 * Round-trip efficiency of all units together, %. With the one-way efficiency e, stored energy
 * changes by `e charged - discharged / e`; the round-trip efficiency is the square of e. Spans in
 * which a counter fell (reset or overflow) or the unit was exchanged are left out. Null where less
 * energy was charged than the units can use, as the stored energy would dominate; and above 100 %,
 * which results from counters on different sides of a converter.
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

function movedBy(unit: SampledUnit) {
  const { samples, exchanged_ms, rated_charge_power_kw, rated_discharge_power_kw } = unit
  const moved = { charged_kwh: 0, discharged_kwh: 0, held_kwh: 0, span_count: 0 }
  for (const [nth, after] of samples.entries()) {
    const before = samples[nth - 1]
    if (!before) continue
    if (isExchanged(exchanged_ms, before.measured_ms, after.measured_ms)) continue
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

type CapacityFacts = Parameters<typeof capacityOf>[0]
type RatedUnit = Omit<SampledUnit, 'samples' | 'usable_energy_kwh' | 'exchanged_ms'> &
  Omit<CapacityFacts, 'soh_pct'> & { bess_id: number }

/** Round-trip efficiency, %; null where unknown. Null `bess_id`: all units in service together. */
export async function readRoundtrip(
  db: Queries,
  { site_id, bess_id }: { site_id: string; bess_id: number | null },
  { start, end }: { start: Date; end: Date },
): Promise<number | null> {
  const units = await db.query<RatedUnit>(
    `select bess_id, rated_energy_kwh, usable_energy_kwh, soc_min_pct, soc_max_pct,
       rated_charge_power_kw, rated_discharge_power_kw
     from batteries
     where site_id = $1 and (case when $2::int is null then retired_at is null else bess_id = $2 end)
     order by bess_id`,
    [site_id, bess_id],
  )
  // The newest reading of each day: reading all of a month would take seconds.
  const instants_ms: number[] = []
  for (let at_ms = start.getTime(); at_ms <= end.getTime(); at_ms += day_ms) instants_ms.push(at_ms)
  const device_ids = units.map((unit) => unit.bess_id)
  const asked = { site_id, device_ids, instants_ms, within_ms: day_ms, measured: counters }
  const readings = await readLast(db, 'bess', asked, [...counters, 'soh_pct'])
  const exchanges = await readExchanges(db, site_id, 'bess')
  return roundtripEfficiency(
    units.map((unit) => ({
      ...unit,
      exchanged_ms: exchanges.get(`${unit.bess_id}`) ?? [],
      usable_energy_kwh: usableEnergy(unit),
      samples: readings.get(unit.bess_id)!.flatMap((reading) => {
        if (reading === null) return []
        const { soc_pct, soh_pct, ...totals } = reading as unknown as Counters
        const stored_kwh = (soc_pct / 100) * capacityOf({ ...unit, soh_pct })
        return { ...totals, measured_ms: reading.measured_at, stored_kwh }
      }),
    })),
  )
}

const counters = ['charged_total_kwh', 'discharged_total_kwh', 'soc_pct'] as const
type Counters = Pick<BessReading, 'soh_pct'> & Record<(typeof counters)[number], number>

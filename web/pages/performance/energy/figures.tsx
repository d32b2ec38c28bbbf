import type { LoggerEfficiency } from '@heliograph/sdk'
import { Figure } from '../../../ui/figure.tsx'
import { FigureGrid } from '../../../ui/figure-grid.tsx'
import { formatEnergy, formatNumber, formatQuantity } from '../../../ui/format.ts'
import type { Bucket } from './reads.ts'
import { sumKnown } from './sums.ts'

/** Weighted mean of known values. */
function mean(
  plants: readonly LoggerEfficiency[],
  of: (plant: LoggerEfficiency) => number | null,
  weightOf: (plant: LoggerEfficiency) => number | null,
): number | null {
  let total = 0
  let weights = 0
  for (const plant of plants) {
    const value = of(plant)
    const weight = weightOf(plant)
    if (value === null || weight === null) continue
    total += value * weight
    weights += weight
  }
  return weights > 0 ? total / weights : null
}

const yieldOf = (energy_kwh: number | null, capacity_kwp: number | null) =>
  energy_kwh === null || !capacity_kwp ? null : energy_kwh / capacity_kwp

const low_index_pct = 90

interface EnergyFiguresProps {
  plants: readonly LoggerEfficiency[]
  /** Energy of the period, also when data is insufficient for ratios. */
  buckets: readonly Bucket[]
}

export function EnergyFigures({ plants, buckets }: EnergyFiguresProps) {
  const energy_kwh =
    sumKnown(plants, (plant) => plant.energy_kwh) ??
    sumKnown(buckets, ({ by_logger }) => sumKnown([...by_logger.values()], (kwh) => kwh))
  const is_little = plants.length > 0 && plants.every(({ energy_kwh: own_kwh }) => own_kwh === null)
  const expected_kwh = sumKnown(plants, (plant) => plant.expected_energy_kwh)
  const capacity = (plant: LoggerEfficiency) => plant.dc_capacity_kwp
  const light = (plant: LoggerEfficiency) =>
    plant.poa_insolation_kwh_m2 === null
      ? null
      : plant.poa_insolation_kwh_m2 * plant.dc_capacity_kwp
  const index_pct = mean(
    plants,
    (plant) => plant.energy_performance_index_pct,
    (plant) => plant.expected_energy_kwh,
  )
  const ratio_pct = mean(plants, (plant) => plant.performance_ratio_pct, light)
  const guaranteed_pct = mean(plants, (plant) => plant.guaranteed_performance_ratio_pct, capacity)
  // A year with less than half of its data has no ratios, but has energy.
  const yield_kwh_kwp =
    mean(plants, (plant) => plant.specific_yield_kwh_kwp, capacity) ??
    yieldOf(energy_kwh, sumKnown(plants, capacity))
  const available_pct = mean(plants, (plant) => plant.availability_time_pct, capacity)
  const curtailed_kwh = sumKnown(plants, (plant) => plant.curtailed_energy_kwh)
  const tone =
    index_pct === null ? {} : ({ tone: index_pct < low_index_pct ? 'bad' : 'good' } as const)
  return (
    <FigureGrid cols={6}>
      <Figure
        label="Energy"
        value={formatEnergy(energy_kwh)}
        note={is_little && energy_kwh !== null ? 'insufficient data for ratios' : null}
      />
      <Figure
        label="Performance vs expected"
        value={formatQuantity(index_pct, '%')}
        note={expected_kwh === null ? null : `${formatEnergy(expected_kwh)} expected`}
        {...tone}
      />
      <Figure
        label="Performance ratio"
        value={formatQuantity(ratio_pct, '%')}
        note={guaranteed_pct === null ? null : `${formatQuantity(guaranteed_pct, '%')} guaranteed`}
      />
      <Figure label="Yield, kWh/kWp" value={formatNumber(yield_kwh_kwp, 2)} />
      <Figure label="Availability" value={formatQuantity(available_pct, '%')} note="of daylight" />
      <Figure label="Lost to curtailment" value={formatEnergy(curtailed_kwh)} />
    </FigureGrid>
  )
}

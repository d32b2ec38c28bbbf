/** Plants for `score-plants.ts`: production, and the weather that was known, by hour. */
import { existsSync } from 'node:fs'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { forecastAtLead } from '../forecast/fixtures/forecast-at-lead.ts'
import { readGefcomZone } from '../forecast/fixtures/gefcom-zone.ts'
import { history_plant, plantHistory } from '../forecast/fixtures/plant-history.ts'
import type { Plant } from '../forecast/plant.ts'
import type { ProductionSample } from '../forecast/production-samples.ts'
import { gefcomFolder, gefcomPlants, readCsv, readPower } from './gefcom.ts'

export interface ScoredPlant {
  name: string
  plant: Plant
  /** Hours of whole UTC days, ascending. */
  samples: ProductionSample[]
}

export function scoredPlants(): ScoredPlant[] {
  return [...gefcomZones(), ...measuredPlants(), ...northernPlants()]
}

function gefcomZones(): ScoredPlant[] {
  const [folder, first] = [gefcomFolder(), readGefcomZone()]
  if (folder === null || first === null) return []
  const power = readPower(folder)
  return gefcomPlants.map((plant, i) => ({
    name: `zone${i + 1}`,
    plant,
    samples: first.samples.map((sample) => ({
      ...sample,
      available_kwh: power.get(i + 1)!.get(sample.start_ms) ?? null,
    })),
  }))
}

const measured = new URL(
  '../../shared/data/measured/pvops_BSD3/example_prod_with_covariates.csv',
  import.meta.url,
)

/**
 * Two plants of the United States from April 2018 to March 2019, hours from 7 to 18. Their weather
 * is the irradiance measured in the plane of the panels, so it has no forecast errors. Outages
 * are not reported. Their positions are unknown: a horizontal plant at 35° north
 * whose noon is that of the data stands in.
 */
function measuredPlants(): ScoredPlant[] {
  if (!existsSync(measured)) return []
  const rows = Map.groupBy(readCsv(measured), (row) => row['randid']!)
  return ['R10', 'R15'].map((name) => {
    const known = new Map(
      rows.get(name)!.map((row) => [Date.parse(`${row['date']!.replace(' ', 'T')}Z`), row]),
    )
    const rated_power_kw = Math.max(
      ...rows.get(name)!.map((row) => Number(row['generated_kW'] ?? 0)),
    )
    const from_ms = Date.UTC(2018, 3, 1)
    const samples = Array.from({ length: 365 * 24 }, (_, nth): ProductionSample => {
      const step = { start_ms: from_ms + nth * hour_ms, end_ms: from_ms + (nth + 1) * hour_ms }
      const row = known.get(step.start_ms)
      const number = (column: string) => (row?.[column] ? Number(row[column]) : null)
      const ghi_w_m2 = number('irrad_poa_Wm2')
      const weather = {
        ...step,
        ghi_w_m2,
        dni_w_m2: null,
        dhi_w_m2: null,
        temperature_c: number('temp_amb_C'),
        wind_speed_m_s: number('wind_speed_ms'),
        cloud_cover_pct: null,
        relative_humidity_pct: null,
      }
      return {
        ...step,
        ...asMeasured(number('generated_kW')),
        weather: ghi_w_m2 === null ? null : weather,
        lead_time_h: (step.start_ms / hour_ms) % 24,
      }
    })
    const plant: Plant = {
      rated_power_kw,
      dc_capacity_kwp: rated_power_kw * 1.2,
      place: { latitude: 35, longitude: -15, elevation_m: 0 },
      arrays: [{ tilt_deg: 0, azimuth_deg: 180, dc_capacity_kwp: 1 }],
    }
    return { name, plant, samples }
  })
}

const asMeasured = (available_kwh: number | null) => ({
  available_kwh,
  completeness_pct: 100,
  is_curtailed: false,
  is_clipped: false,
  is_faulty: false,
})

const northern_seeds = [5, 6] as const

/** Simulated plants at 63° north, where the sun of winter says little of spring. */
function northernPlants(): ScoredPlant[] {
  const plant = { ...history_plant, place: { latitude: 63, longitude: 15, elevation_m: 300 } }
  return northern_seeds.map((seed) => {
    const from_ms = Date.UTC(2024, 3, 1)
    const samples = plantHistory({ from_ms, days: 456, seed, plant })
    return {
      name: `north${seed}`,
      plant,
      samples: forecastAtLead(plant, seed)(samples, 12).map((sample) => ({
        ...sample,
        lead_time_h: (sample.start_ms % day_ms) / hour_ms + 12,
      })),
    }
  })
}

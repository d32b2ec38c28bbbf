/** The energy of the running month and year, out of the hours of the loggers. */
import type { Clock } from '@heliograph/domain/clock'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import type { SiteFacts } from '../plant/situation.ts'
import { createSnapshots, type Snapshots } from '../telemetry/snapshots.ts'
import type { PlantStore } from './store.ts'

const Energy = (period: string) =>
  Nullable(
    Type.Number({
      description:
        `Energy of the ${period} at the site so far, kWh, by the hours that /energy/hourly shows: ` +
        'what was estimated is in it, and the hour that is running as it was summed up last, ' +
        'within the last minutes.',
    }),
  )

export type PlantEnergy = Static<typeof PlantEnergy>
export const PlantEnergy = Type.Object({
  energy_month_kwh: Energy('calendar month'),
  energy_year_kwh: Energy('calendar year'),
})

/** A year of many loggers takes a while to add up, and its hours change every few minutes. */
const fresh_ms = 60_000
const oldest_ms = 180_000

/** By site. */
export function createPlantEnergy(
  needs: {
    sites: { facts(site_id: string): Promise<Pick<SiteFacts, 'timezone'>> }
    plants: Pick<PlantStore, 'energySince'>
  },
  clock: Clock,
): Snapshots<string, PlantEnergy> {
  async function read(site_id: string, now: Date): Promise<PlantEnergy> {
    const { timezone } = await needs.sites.facts(site_id)
    const today = localDate(now.getTime(), timezone)
    const startOf = (date: string) => new Date(hoursOfLocalDate(date, timezone).from_ms)
    const { month_kwh, year_kwh } = await needs.plants.energySince(site_id, {
      month_at: startOf(`${today.slice(0, 7)}-01`),
      year_at: startOf(`${today.slice(0, 4)}-01-01`),
    })
    return { energy_month_kwh: rounded(month_kwh, 3), energy_year_kwh: rounded(year_kwh, 3) }
  }
  return createSnapshots(read, { clock, fresh_ms, oldest_ms })
}

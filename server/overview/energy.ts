/** The energy of the current month and year, from the hourly energy of the loggers. */

import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import type { Context } from '../http/context.ts'
import * as field from '../http/fields.ts'
import { siteFacts } from '../plant/site-facts.ts'
import { snapshotsOf } from '../telemetry/snapshots.ts'

const Energy = (period: string, example: number) =>
  field.NumOrNull(
    `Energy of the ${period} at the site so far, kWh: the sum of /energy/hourly, including ` +
      'estimates. The current hour is updated every few minutes.',
    example,
  )

export type PlantEnergy = Static<typeof PlantEnergy>
export const PlantEnergy = Type.Object({
  energy_month_kwh: Energy('calendar month', 148_210.4),
  energy_year_kwh: Energy('calendar year', 742_905.1),
})

/** By site. Cached, since a year of many loggers is slow to sum and changes every few minutes. */
export const plantEnergy = snapshotsOf(readPlantEnergy, { fresh_ms: 60_000, oldest_ms: 180_000 })

async function readPlantEnergy(site_id: string, now: Date, { db }: Context): Promise<PlantEnergy> {
  const { timezone } = await siteFacts(db, site_id)
  const today = localDate(now.getTime(), timezone)
  const startOf = (date: string) => new Date(hoursOfLocalDate(date, timezone).from_ms)
  const [energy] = await db.query<{ month_kwh: number | null; year_kwh: number | null }>(
    `SELECT sum(energy_kwh) FILTER (WHERE hour_at >= $2) AS month_kwh,
            sum(energy_kwh) AS year_kwh
     FROM logger_hours WHERE site_id = $1 AND hour_at >= $3`,
    [site_id, startOf(`${today.slice(0, 7)}-01`), startOf(`${today.slice(0, 4)}-01-01`)],
  )
  const { month_kwh, year_kwh } = energy!
  return { energy_month_kwh: rounded(month_kwh, 3), energy_year_kwh: rounded(year_kwh, 3) }
}

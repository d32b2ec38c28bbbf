import type { Plant } from '@heliograph/domain/limit-shares'
import { type PriceAt, readPlantPrices } from '../contracts/plant-prices.ts'
import { issuedPrices } from '../forecasts/price-store.ts'
import { microOfNumber } from '../markets/micro.ts'
import type { PricePeriod } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'
import type { Panels } from './clear-sky-energy.ts'
import type { RecentHours, Span } from './suggest.ts'

interface PlantId {
  site_id: string
  logger_id: number
}

export interface PlantPanels extends Plant {
  panels: Panels[]
}

/** A plant in service with its panels; null for an unknown or retired plant. */
export async function readPlantPanels(
  db: Queries,
  { site_id, logger_id }: PlantId,
): Promise<PlantPanels | null> {
  const [plant] = await db.query<Plant>(
    `select logger_id, rated_power_kw from loggers
     where site_id = $1 and logger_id = $2 and retired_at is null`,
    [site_id, logger_id],
  )
  if (!plant) return null
  const panels = await db.query<Panels>(
    `select s.azimuth_deg, s.tilt_deg, sum(s.dc_capacity_kwp) as dc_capacity_kwp
     from inverters i
       join strings s on s.site_id = i.site_id and s.inverter_id = i.inverter_id
     where i.site_id = $1 and i.logger_id = $2 and i.retired_at is null
       and s.retired_at is null and s.connected
     group by s.azimuth_deg, s.tilt_deg order by 1, 2`,
    [site_id, logger_id],
  )
  return { ...plant, panels }
}

/**
 * Energy that covers less than this part of an hour, without a counter, is not that of the hour.
 */
const covered_s_min = 3400

/**
 * Energy of hours in kWh, with the curtailed energy as far as it is known. Only hours in which the
 * energy of every inverter was measured (by its counter or nearly all of the time) and none was
 * estimated over a gap.
 */
export async function readRecentHours(
  db: Queries,
  { site_id, logger_id }: PlantId,
  since: Date,
  until: Date,
): Promise<RecentHours> {
  const rows = await db.query<{ hour_at: Date; energy_kwh: number }>(
    `select h.hour_at,
       h.energy_kwh + greatest(coalesce(h.curtailment_loss_kwh, 0), coalesce((
         select sum(c.curtailed_energy_kwh) from curtailment_hours c
         where c.site_id = $1 and c.logger_id = h.logger_id
           and c.hour_at = h.hour_at), 0)) as energy_kwh
     from logger_hours h
     where h.site_id = $1 and h.logger_id = $2 and h.hour_at >= $3
       and h.hour_at < $4::timestamptz and h.energy_kwh is not null
       and h.known_count = h.inverter_count and h.estimated_energy_kwh = 0
       and (h.energy_source = 'inverter_counter' or h.awake_covered_s >= $5 * h.inverter_count)`,
    [site_id, logger_id, since, until, covered_s_min],
  )
  return new Map(rows.map(({ hour_at, energy_kwh }) => [hour_at.getTime(), energy_kwh]))
}

/**
 * Contract prices of a plant by quarter hour. Where the market has published no price, the median
 * of its last price forecast is used.
 */
export async function readSuggestPrices(
  db: Queries,
  { site_id, logger_id }: PlantId,
  span: Span,
  now: Date,
): Promise<PriceAt> {
  const { plants } = await readPlantPrices(db, {
    site_id,
    logger_id,
    site_currency: null,
    from_ms: span.start_ms,
    to_ms: span.end_ms,
    readEstimates: async (market): Promise<PricePeriod[]> => {
      const forecast = await issuedPrices(db, market, { span, before: now })
      return forecast.flatMap(({ start_ms, end_ms, p50_price }) => {
        const price_micro = microOfNumber(p50_price)
        return price_micro === null ? [] : [{ start_ms, end_ms, price_micro }]
      })
    },
  })
  return plants.get(logger_id) ?? (() => null)
}

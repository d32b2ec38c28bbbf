/**
 * Past consumption behind a connection by quarter hour: production of the plants plus net discharge
 * of the batteries plus net import at its meters. Includes losses up to the meter.
 */

import { counterIncrease } from '@heliograph/domain/counter'
import { quarter_ms } from '@heliograph/domain/durations'
import type { Position } from '@heliograph/domain/place'
import { utcDayStart } from '@heliograph/domain/utc-day'
import { type Course, flag, readCourses } from '../../forecasts/course.ts'
import { type PlantService, readServices } from '../../forecasts/service.ts'
import { type AwakeTime, awakeTime } from '../../plant/daylight.ts'
import { isExchanged, readExchanges } from '../../plant/device-exchanges.ts'
import type { Queries } from '../../storage/database.ts'
import { readBatteryDays, type UnitDays } from '../battery-days.ts'
import { type Span, sumOrNull } from '../unit-energy.ts'

interface ConsumptionAsked {
  site_id: string
  /** The plant of the connection; null for the common connection of the site. */
  logger_id: number | null
  position: Position
  now_ms: number
}

/** kWh; null where unknown. */
type Energies = (number | null)[]

/** Share of inverters with known power below which a quarter hour counts as a gap. */
const known_pct_min = 95
const whole_hour_s = 3600

/**
 * Consumption in kWh by quarter hour of past UTC days. Slightly below 0 where meters differ, null
 * where a part was not measured. Null as a whole where the connection has no meter, and where a
 * battery shares inverters with panels, as its energy is then part of theirs.
 */
export async function readConsumption(
  db: Queries,
  asked: ConsumptionAsked,
  span: Span,
): Promise<Energies | null> {
  const connection = await readMeteredConnection(db, asked, span)
  if (!connection) return null
  const { site_id, now_ms } = asked
  const { logger_id, meter_ids } = connection
  const parts = [await readProduced(db, { ...asked, logger_id }, span)]
  for (const unit of await readBatteryDays(db, { site_id, logger_id, ...span, now_ms })) {
    parts.push(netDischarged(unit, span))
  }
  for (const meter_id of meter_ids) parts.push(await readTaken(db, { site_id, meter_id }, span))
  return quarterStarts(span).map((_, nth) => sumOrNull(parts.map((part) => part[nth]!)))
}

const quarterStarts = ({ start_ms, end_ms }: Span): number[] =>
  Array.from({ length: (end_ms - start_ms) / quarter_ms }, (_, nth) => start_ms + nth * quarter_ms)

interface MeteredConnection {
  /** The plant behind the meters; null for the whole site. */
  logger_id: number | null
  meter_ids: number[]
}

/** A site with a single plant has one connection: that of the plant is the common one. */
async function readMeteredConnection(
  db: Queries,
  { site_id, logger_id }: ConsumptionAsked,
  { start_ms }: Span,
): Promise<MeteredConnection | null> {
  const meters = await db.query<{ meter_id: number; logger_id: number | null }>(
    `select meter_id, logger_id from meters
     where site_id = $1 and role = 'grid_connection' and retired_at is null`,
    [site_id],
  )
  const [behind] = await db.query<{ is_one: boolean; first_id: number | null }>(
    `select count(distinct coalesce(logger_id, 0)) = 1 as is_one, min(logger_id) as first_id from (
       select logger_id from loggers where site_id = $1 and retired_at is null
       union all select logger_id from batteries where site_id = $1 and retired_at is null
     ) as in_service`,
    [site_id],
  )
  const same = behind!.is_one ? [logger_id, behind!.first_id, null] : [logger_id]
  const found = same
    .map((one) => meters.filter((meter) => meter.logger_id === one))
    .find(({ length }) => length > 0)
  if (!found) return null
  const measured_id = found[0]!.logger_id
  const hybrids = await db.query(
    `select from batteries where site_id = $1 and ($2::int is null or logger_id = $2)
       and coupling <> 'ac' and (retired_at is null or retired_at > $3)`,
    [site_id, measured_id, new Date(start_ms)],
  )
  if (hybrids.length > 0) return null
  return { logger_id: measured_id, meter_ids: found.map(({ meter_id }) => meter_id) }
}

/** Production of the plants in service at the time. */
async function readProduced(
  db: Queries,
  { site_id, logger_id, position }: ConsumptionAsked,
  { start_ms, end_ms }: Span,
): Promise<Energies> {
  const span = { from_ms: start_ms, to_ms: end_ms }
  const services = (await readServices(db, site_id, span)).filter(
    (service) => logger_id === null || service.logger_id === logger_id,
  )
  const logger_ids = services.map((service) => service.logger_id)
  const { plants } = await readCourses(db, { site_id, logger_ids, ...span })
  const awake = awakeTime(position)
  const isServing = ({ from_ms, to_ms }: PlantService, at_ms: number) =>
    from_ms < at_ms + quarter_ms && to_ms > at_ms
  return quarterStarts({ start_ms, end_ms }).map((at_ms, nth) => {
    const serving = services.filter((service) => isServing(service, at_ms))
    return sumOrNull(serving.map((plant) => produced(plants.get(plant.logger_id)!, nth, awake)))
  })
}

/** Sleeping inverters produce 0 at night; around dawn and dusk some are still asleep. */
function produced(course: Course, nth: number, awake: AwakeTime): number | null {
  const { from_ms, energy_wh, completeness_pct, flags } = course
  const kwh = energy_wh[nth]! / 1000
  const is_measured = !Number.isNaN(kwh) && (flags[nth]! & flag.estimated) === 0
  if (is_measured && completeness_pct[nth]! >= known_pct_min) return kwh
  const at_ms = from_ms + nth * quarter_ms
  const hour_ms = at_ms - (at_ms % (4 * quarter_ms))
  const hour_s = awake(hour_ms, hour_ms + 4 * quarter_ms)
  if (hour_s === null) return null
  if (awake(hour_ms, at_ms) === awake(hour_ms, at_ms + quarter_ms)) return 0
  return is_measured && hour_s < whole_hour_s ? kwh : null
}

/** Net energy of the unit (discharge minus charge); 0 outside its time at the site. */
function netDischarged({ known_from_at, retired_at, days }: UnitDays, span: Span): Energies {
  return quarterStarts(span).map((at_ms) => {
    const is_there =
      at_ms + quarter_ms > known_from_at.getTime() && at_ms < (retired_at?.getTime() ?? Infinity)
    if (!is_there) return 0
    const midnight_ms = utcDayStart(at_ms)
    const day = days.get(midnight_ms)
    const nth = (at_ms - midnight_ms) / quarter_ms
    const [charged_wh, discharged_wh] = [day?.charged_wh[nth], day?.discharged_wh[nth]]
    if (charged_wh == null || discharged_wh == null) return null
    return (discharged_wh - charged_wh) / 1000
  })
}

interface MeterEdge {
  measured_at: Date | null
  power_kw: number | null
  export_kwh: number | null
  import_kwh: number | null
}

/**
 * Net import by the counters of a meter. The first readings of two quarter hours are not exactly a
 * quarter hour apart, so the difference is scaled to it.
 */
async function readTaken(
  db: Queries,
  { site_id, meter_id }: { site_id: string; meter_id: number },
  span: Span,
): Promise<Energies> {
  const edges = await db.query<MeterEdge>(meterEdges, [
    site_id,
    meter_id,
    new Date(span.start_ms),
    new Date(span.end_ms),
  ])
  const exchanges = await readExchanges(db, site_id, 'meter')
  const exchanged_ms = exchanges.get(`${meter_id}`) ?? []
  // The rating of the connection is unknown: twice the highest power is taken as the bound.
  const rated_kw = 2 * Math.max(0, ...edges.map(({ power_kw }) => Math.abs(power_kw ?? 0)))
  return quarterStarts(span).map((_, nth) => {
    const [before, after] = [edges[nth]!, edges[nth + 1]!]
    if (before.measured_at === null || after.measured_at === null) return null
    const [from_ms, to_ms] = [before.measured_at.getTime(), after.measured_at.getTime()]
    if (isExchanged(exchanged_ms, from_ms, to_ms)) return null
    const elapsed_s = (to_ms - from_ms) / 1000
    const rise = (name: 'export_kwh' | 'import_kwh') => {
      if (before[name] === null || after[name] === null) return null
      return counterIncrease(before[name], after[name], { elapsed_s, rated_kw })
    }
    const [fed_in_kwh, taken_kwh] = [rise('export_kwh'), rise('import_kwh')]
    if (fed_in_kwh === null || taken_kwh === null) return null
    return ((taken_kwh - fed_in_kwh) * quarter_ms) / 1000 / elapsed_s
  })
}

/** First reading of each quarter hour and at the end; thinned history has one per minute. */
const meterEdges = {
  name: 'meter_edges_in',
  text: `
    select first.*
    from generate_series($3::timestamptz, $4, interval '15 minutes') as at
    left join lateral (
      select measured_at, active_power_kw::float8 as power_kw, energy_export_kwh as export_kwh,
             energy_import_kwh as import_kwh
      from meter_readings
      where site_id = $1 and meter_id = $2 and measured_at >= at
        and measured_at < at + interval '90 seconds'
      order by measured_at limit 1
    ) as first on true
    order by at`,
}

import { isStale, staleAfterSeconds } from '../../plant/frame.ts'
import { ofInverter, type Scan, type SourceContext } from '../finding.ts'
import { readPlantNow } from './plant-now.ts'

const looked_back_s_min = 3600

interface HotInverter {
  inverter_id: number
  logger_id: number
  measured_at: Date | null
  cabinet_temperature_c: number | null
  since: Date | null
}

export async function findHotInverters(context: SourceContext): Promise<Scan> {
  const { db, site, settings, now } = context
  const { thresholds, raise_delay_s } = settings.rules.temperature_high
  const { cabinet_c, hysteresis_k } = thresholds
  const { poll } = (await readPlantNow(context)).situation
  const stale_s = staleAfterSeconds(poll.inverter_s)
  const looked_back_s = 2 * Math.max(looked_back_s_min, raise_delay_s)
  const warm = await db.query<HotInverter>(hot, [
    site.site_id,
    cabinet_c,
    cabinet_c - hysteresis_k,
    new Date(now.getTime() - 1000 * looked_back_s),
    now,
    new Date(now.getTime() - 1000 * stale_s),
  ])
  const isFresh = ({ measured_at }: HotInverter) => !isStale(measured_at, poll.inverter_s, now)
  const unsure = new Set(
    warm
      .filter((one) => !isFresh(one) || one.cabinet_temperature_c === null || one.since === null)
      .map(({ inverter_id }) => String(inverter_id)),
  )
  return {
    findings: warm
      .filter((one) => isFresh(one) && one.since !== null)
      .map(({ inverter_id, logger_id, cabinet_temperature_c: value, since }) => ({
        code: 'temperature_high',
        ...ofInverter({ inverter_id, logger_id }),
        part: 'cabinet',
        since: since!,
        message: `The cabinet of inverter ${inverter_id} has ${value} °C, the limit is ${cabinet_c} °C.`,
        value: value!,
        threshold: cabinet_c,
        unit: '°C',
      })),
    isUnknown: ({ source_id }) => unsure.has(source_id),
  }
}

/** Hot inverters with the start of the condition, and inverters that cannot be judged. */
const hot = `
  select i.inverter_id, i.logger_id, l.measured_at, l.cabinet_temperature_c,
    case when l.cabinet_temperature_c >= $2 then coalesce((
      select r.measured_at from inverter_readings r
      where r.site_id = $1 and r.inverter_id = i.inverter_id and r.measured_at > $4
        and r.measured_at <= $5 and r.cabinet_temperature_c < $2
      order by r.measured_at desc limit 1), $4) end as since
  from inverters i
  left join inverter_latest l on l.site_id = i.site_id and l.inverter_id = i.inverter_id
  where i.site_id = $1 and i.retired_at is null
    and (l.cabinet_temperature_c is null or l.cabinet_temperature_c >= $3
      or l.measured_at < $6)`

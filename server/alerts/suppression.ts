/**
 * Suppression of alerts: at night, during planned work on the device, and during a curtailment of
 * the plant. The rule of an alert names the reasons that apply to it.
 */
import { asleep_below_deg, placeOf } from '@heliograph/domain/place'
import { solarPosition } from '@heliograph/physics/solar-position'
import { isUnconfirmed } from '../storage/curtailment.ts'
import type { Queries } from '../storage/database.ts'
import type { Concerned, Finding, ReadSuppression, SourceContext, Suppression } from './finding.ts'
import type { Suppressor } from './rule.ts'
import { ruleOf } from './rules.ts'

export const readSuppression: ReadSuppression = async (context) => {
  const { db, site, now } = context
  const [works, curtailed_loggers] = await Promise.all([
    readPlannedWork(db, site.site_id, now),
    readCurtailed(db, site.site_id, now),
  ])
  const is_unaffected = works.length === 0 && curtailed_loggers.size === 0
  const devices = is_unaffected ? new Map() : await readDevices(db, site.site_id)
  return suppressionBy({ is_night: isNight(context), works, devices, curtailed_loggers })
}

/** The devices or the location of a work order. Without any of these it suppresses nothing. */
type PlannedWork = Concerned

/** By kind and id, such as `inverter 7`. A location belongs to its parent. */
export type Devices = ReadonlyMap<string, Belonging>

interface Belonging {
  logger_id: number | null
  location_id: number | null
}

export interface SuppressionFacts {
  is_night: boolean
  /** Work in progress, or within its planned time. */
  works: readonly PlannedWork[]
  devices: Devices
  /** Plants with a curtailment order that is applied and not yet confirmed as restored. */
  curtailed_loggers: ReadonlySet<number>
}

/** Pure. The first reason in the order of the rule wins. */
export function suppressionBy(facts: SuppressionFacts): Suppression {
  const { is_night, works, devices, curtailed_loggers } = facts
  const applies: Record<Suppressor, (finding: Finding) => boolean> = {
    night: () => is_night,
    maintenance: (finding) => {
      if (works.length === 0) return false
      const placed = placedIn(finding, devices)
      return works.some((work) => covers(work, finding, placed))
    },
    curtailment: (finding) => {
      const { logger_id } = placedIn(finding, devices)
      return logger_id !== null && curtailed_loggers.has(logger_id)
    },
  }
  return (finding) =>
    ruleOf(finding.code).suppressed_by.find((one) => applies[one](finding)) ?? null
}

interface Placed {
  logger_id: number | null
  /** The location with its ancestors. Without a location: the common ancestors of the site. */
  location_ids: ReadonlySet<number>
}

function placedIn(finding: Finding, devices: Devices): Placed {
  const { inverter_id, bess_id, node_id } = finding
  const device =
    devices.get(`inverter ${inverter_id}`) ??
    devices.get(`battery ${bess_id}`) ??
    devices.get(`node ${node_id}`)
  const logger_id = finding.logger_id ?? device?.logger_id ?? null
  const plant = devices.get(`logger ${logger_id}`)
  const own = finding.location_id ?? device?.location_id ?? plant?.location_id ?? null
  const location_ids = own === null ? wholeSite(devices) : within(own, devices)
  return { logger_id, location_ids }
}

function within(location_id: number, devices: Devices): Set<number> {
  const found = new Set<number>()
  for (let at: number | null = location_id; at !== null && !found.has(at); ) {
    found.add(at)
    at = devices.get(`location ${at}`)?.location_id ?? null
  }
  return found
}

/** The common ancestors of all locations: where the site, its edge and its grid meter are. */
function wholeSite(devices: Devices): Set<number> {
  const chains = [...devices.keys()].flatMap((key) => {
    const [, id] = /^location (\d+)$/.exec(key) ?? []
    return id === undefined ? [] : [within(Number(id), devices)]
  })
  const [first = new Set<number>(), ...others] = chains
  return new Set([...first].filter((id) => others.every((chain) => chain.has(id))))
}

/** A work order that names devices covers these alone, else its plant, else its location. */
function covers(work: PlannedWork, finding: Finding, placed: Placed): boolean {
  const { inverter_id, string_index, bess_id, node_id, logger_id, location_id } = work
  if (inverter_id !== null || bess_id !== null || node_id !== null) {
    const is_string = string_index === null || finding.string_index === string_index
    const of_inverter = inverter_id !== null && finding.inverter_id === inverter_id && is_string
    const of_battery = bess_id !== null && finding.bess_id === bess_id
    return of_inverter || of_battery || (node_id !== null && finding.node_id === node_id)
  }
  if (logger_id !== null) return placed.logger_id === logger_id
  return location_id !== null && placed.location_ids.has(location_id)
}

function isNight({ site, now }: SourceContext): boolean {
  const place = placeOf({ ...site, elevation_m: null })
  if (!place) return false
  const { latitude, longitude, elevation_m } = place
  const sun = solarPosition(now.getTime(), latitude, longitude, { elevation_m })
  return sun.apparent_elevation_deg < asleep_below_deg
}

/** Work without a planned end suppresses alerts this long after its start. */
const endless_hours_max = 12

/**
 * Work orders within their planned time, or from their actual start where that was earlier.
 * Emergencies are not planned work. Orders that are on hold or finished suppress nothing.
 */
const readPlannedWork = (db: Queries, site_id: string, now: Date) =>
  db.query<PlannedWork>(
    `select logger_id, inverter_id, string_index, bess_id, node_id, location_id
     from work_orders
     where site_id = $1 and status in ('open', 'assigned', 'in_progress') and type <> 'emergency'
       and scheduled_start_at is not null and scheduled_end_at > $2
       and (scheduled_start_at <= $2 or status = 'in_progress' and started_at <= $2)
     union all
     select logger_id, inverter_id, string_index, bess_id, node_id, location_id
     from work_orders
     where site_id = $1 and status = 'in_progress' and type <> 'emergency'
       and scheduled_end_at is null and started_at <= $2 and started_at > $3`,
    [site_id, now, new Date(now.getTime() - 3_600_000 * endless_hours_max)],
  )

async function readCurtailed(db: Queries, site_id: string, now: Date): Promise<Set<number>> {
  const rows = await db.query<{ logger_id: number }>(
    `select distinct logger_id from curtailment_rows r
     where site_id = $1 and start_at <= $2 and applied_at is not null and restored_at is null
       and closed_at is null and (end_at > $2 or ${isUnconfirmed})`,
    [site_id, now],
  )
  return new Set(rows.map(({ logger_id }) => logger_id))
}

async function readDevices(db: Queries, site_id: string): Promise<Devices> {
  const rows = await db.query<{ key: string } & Belonging>(
    `select 'inverter ' || inverter_id as key, logger_id, location_id
     from inverters where site_id = $1
     union all
     select 'battery ' || bess_id, logger_id, location_id from batteries where site_id = $1
     union all
     select 'node ' || node_id, logger_id, location_id from nodes where site_id = $1
     union all
     select 'logger ' || logger_id, logger_id, location_id from loggers where site_id = $1
     union all
     select 'location ' || location_id, null, parent_location_id
     from locations where site_id = $1 and retired_at is null`,
    [site_id],
  )
  return new Map(rows.map((row) => [row.key, row]))
}

/** The live state of a site, as the status and the overview need it. */
import { type AlertCounts, noAlerts, readAlertCounts } from '../alerts/counts.ts'
import { readUnits } from '../batteries/unit-store.ts'
import type { Context } from '../http/context.ts'
import type { EdgeRow } from '../plant/logger.ts'
import { type StringGlance, stringGlances } from '../plant/pv-string.ts'
import { siteSituation } from '../plant/site-facts.ts'
import type { Situation } from '../plant/situation.ts'
import { liveInverters } from '../telemetry/inverters/store.ts'
import { liveLoggers, servingEdge } from '../telemetry/loggers/store.ts'
import { lastSwitchings, liveNodes } from '../telemetry/sensors/store.ts'
import { latestStrings, stringsInService } from '../telemetry/strings/store.ts'
import { readStations } from '../telemetry/weather/store.ts'
import { plantEnergy } from './energy.ts'
import type { PlantReadings } from './status.ts'
import { latestGridMeters } from './store.ts'

/** The devices in service. */
export interface LivePlant extends PlantReadings {
  situation: Situation
  edge: EdgeRow | null
  strings: readonly StringGlance[]
  /** Alerts that are not resolved. */
  alerts: AlertCounts
}

export async function readLivePlant(site_id: string, context: Context): Promise<LivePlant> {
  const { db } = context
  const situation = await siteSituation(context, site_id)
  const [loggers, edge, inverters, strings, ranges, meters, stations, energy, counts] =
    await Promise.all([
      liveLoggers(db, site_id, situation.now),
      servingEdge(db, site_id),
      liveInverters(db, site_id, situation.day_start_at, { in_service: true }),
      stringsInService(db, site_id),
      latestStrings(db, site_id),
      latestGridMeters(db, site_id),
      readStations(db, site_id),
      plantEnergy(context).get(site_id),
      readAlertCounts(db, [site_id]),
    ])
  const in_service = new Set(inverters.map(({ inverter_id }) => inverter_id))
  const rangesOf = Map.groupBy(ranges, ({ inverter_id }) => inverter_id)
  return {
    situation,
    edge,
    loggers: loggers.filter(isInService),
    inverters,
    strings: strings
      .filter(({ inverter_id }) => in_service.has(inverter_id))
      .flatMap((row) => stringGlances(row, rangesOf.get(row.inverter_id) ?? [], situation)),
    meters,
    stations: stations.filter(isInService),
    energy,
    alerts: counts.get(site_id) ?? noAlerts,
  }
}

const isInService = ({ retired_at }: { retired_at: Date | null }) => retired_at === null

/** The sensor nodes in service, each with the last switching of its relays. */
export async function readLiveNodes(site_id: string, { db }: Context) {
  const [nodes, switchings] = await Promise.all([
    liveNodes(db, site_id),
    lastSwitchings(db, site_id),
  ])
  const ofNode = Map.groupBy(switchings, ({ node_id }) => node_id)
  return nodes
    .filter(isInService)
    .map((row) => ({ row, switchings: ofNode.get(row.node_id) ?? [] }))
}

export type LiveNode = Awaited<ReturnType<typeof readLiveNodes>>[number]

export async function readLiveUnits(site_id: string, context: Context) {
  const { now, day_start_at } = await siteSituation(context, site_id)
  return readUnits(context.db, { site_id, now, day_start_at, in_service: true })
}

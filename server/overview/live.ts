/** Everything live of a site, read at one go for the status and the overview. */
import type { Clock } from '@heliograph/domain/clock'
import { type AlertCounts, noAlerts } from '../alerts/counts.ts'
import type { AlertStore } from '../alerts/listed.ts'
import type { LiveUnit, UnitsAsked } from '../batteries/unit-store.ts'
import type { Context } from '../http/context.ts'
import type { InverterFilter, InverterRow } from '../plant/inverter.ts'
import type { EdgeRow, LoggerRow } from '../plant/logger.ts'
import {
  type StringGlance,
  type StringRangeRow,
  type StringsRow,
  stringGlances,
} from '../plant/pv-string.ts'
import { type SiteFacts, type Situation, situationOf } from '../plant/situation.ts'
import { lastSwitchings, liveNodes } from '../telemetry/sensors/store.ts'
import type { PlantEnergy } from './energy.ts'
import type { PlantReadings } from './status.ts'
import type { PlantStore } from './store.ts'

export interface LiveNeeds {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  plants: Pick<PlantStore, 'gridMeters' | 'stations'>
  plantEnergy: { get(site_id: string): Promise<PlantEnergy> }
  alerts: Pick<AlertStore, 'counts'>
  loggers: {
    live(site_id: string, now: Date): Promise<LoggerRow[]>
    edge(site_id: string): Promise<EdgeRow | null>
  }
  inverters: {
    live(site_id: string, day_start_at: Date, filter?: InverterFilter): Promise<InverterRow[]>
  }
  strings: {
    inService(site_id: string): Promise<StringsRow[]>
    latest(site_id: string): Promise<StringRangeRow[]>
  }
}

/** The devices in service; retired ones are left out. */
export interface LivePlant extends PlantReadings {
  situation: Situation
  edge: EdgeRow | null
  strings: readonly StringGlance[]
  /** Of those that are not resolved. */
  alerts: AlertCounts
}

export async function readLivePlant(site_id: string, needs: LiveNeeds): Promise<LivePlant> {
  const situation = situationOf(await needs.sites.facts(site_id), needs.clock.now())
  const [loggers, edge, inverters, strings, ranges, meters, stations, energy, counts] =
    await Promise.all([
      needs.loggers.live(site_id, situation.now),
      needs.loggers.edge(site_id),
      needs.inverters.live(site_id, situation.day_start_at, { in_service: true }),
      needs.strings.inService(site_id),
      needs.strings.latest(site_id),
      needs.plants.gridMeters(site_id),
      needs.plants.stations(site_id),
      needs.plantEnergy.get(site_id),
      needs.alerts.counts([site_id]),
    ])
  const alerts = counts.get(site_id) ?? noAlerts
  const in_service = new Set(inverters.map(({ inverter_id }) => inverter_id))
  const rangesOf = Map.groupBy(ranges, ({ inverter_id }) => inverter_id)
  return {
    situation,
    edge,
    loggers: loggers.filter(({ retired_at }) => retired_at === null),
    inverters,
    strings: strings
      .filter(({ inverter_id }) => in_service.has(inverter_id))
      .flatMap((row) => stringGlances(row, rangesOf.get(row.inverter_id) ?? [], situation)),
    meters,
    stations,
    energy,
    alerts,
  }
}

/** The sensor nodes in service, each with how its relays were switched last. */
export async function readLiveNodes(site_id: string, { db }: Context) {
  const [nodes, switchings] = await Promise.all([
    liveNodes(db, site_id),
    lastSwitchings(db, site_id),
  ])
  const of = Map.groupBy(switchings, ({ node_id }) => node_id)
  return nodes
    .filter(({ retired_at }) => retired_at === null)
    .map((row) => ({ row, switchings: of.get(row.node_id) ?? [] }))
}

export interface UnitNeeds extends Pick<LiveNeeds, 'clock' | 'sites'> {
  bess: { units(asked: UnitsAsked): Promise<LiveUnit[]> }
}

/** The battery units in service. */
export async function readLiveUnits(site_id: string, { bess, clock, sites }: UnitNeeds) {
  const { now, day_start_at } = situationOf(await sites.facts(site_id), clock.now())
  return bess.units({ site_id, now, day_start_at, in_service: true })
}

export type LiveNode = Awaited<ReturnType<typeof readLiveNodes>>[number]

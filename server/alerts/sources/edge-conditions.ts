import { day_ms } from '@heliograph/domain/durations'
import type { DeviceKind } from '@heliograph/domain/link'
import { readConditions } from '../../batteries/conditions.ts'
import { readOpenExchanges } from '../../plant/exchange-questions.ts'
import type { Queries } from '../../storage/database.ts'
import { newestEvents } from '../../storage/events.ts'
import {
  type AlertSource,
  type Finding,
  ofLogger,
  ofNode,
  type SourceContext,
  type SourceType,
} from '../finding.ts'
import { type BatteryOutages, readBatteryOutages } from './battery-outages.ts'
import { alertOf, nameOf, type SourceEvent } from './event-alerts.ts'
import { withoutHandled } from './handled.ts'
import { connectedEdges, type PlantNow, readPlantNow } from './plant-now.ts'

/** Older events are not reported. */
const late_ms_max = 7 * day_ms
/**
 * Conditions that are set in the last report of the edge, single events of the last day, and open
 * questions about exchanged devices. An offline edge leaves its last report in force;
 * `edge_offline` reports the outage.
 */
export const findEdgeConditions: AlertSource = async (context) => {
  const { db, site, now } = context
  const { site_id } = site
  const [standing, ofBatteries, once, exchanged, plant, outages] = await Promise.all([
    readStanding(db, site_id),
    readConditions(db, { site_id, bess_id: null, only_set: true }),
    readOnce(db, site_id, now),
    findExchanges(db, site_id),
    readPlantNow(context),
    readBatteryOutages(context),
  ])
  const retired = new Set(
    standing.filter(({ code }) => code === 'device_retired').map((one) => sourceKey(one)),
  )
  const lasting = [...standing, ...ofBatteries]
    .filter((one) => !retired.has(sourceKey(one)))
    .flatMap((one) => afterOutage(one, outages))
  const events = [...lasting, ...once].flatMap((event) => {
    const finding = findingOf(event)
    return finding ? { finding, known_at: event.received_at ?? null } : []
  })
  const ofEvents = await withoutHandled(db, site_id, events)
  const findings = [...ofEvents, ...exchanged, ...wrongClocks(plant, context)]
  return { findings, isUnknown: () => false }
}

/** Conditions that the edge reports of a PCS that does not answer. */
const outageCodes = ['setpoint_not_armed', 'setpoint_not_taken', 'pcs_counts_in_full']

/** Leaves out consequences of an outage. Once the PCS answers, its conditions start anew. */
function afterOutage(event: SourceEvent, outages: BatteryOutages): PastEvent[] {
  const { source_kind, source_id, code, at } = event
  if (source_kind !== 'pcs' || !outageCodes.includes(code)) return [event]
  if (outages.isOffline(source_id)) return []
  const back_at = outages.answeringSince(source_id)
  return [{ ...event, at: back_at && back_at > at ? back_at : at }]
}

const sourceKey = ({ source_kind, source_id }: SourceEvent) => `${source_kind} ${source_id}`

function findingOf(event: SourceEvent): Finding | null {
  const alert = alertOf(event)
  if (!alert) return null
  const { code, part, severity, message } = alert
  return {
    code,
    message,
    since: event.at,
    ...(part !== null && { part }),
    ...(severity !== null && { severity }),
    ...concerned(event),
  }
}

/** Devices whose new serial number nobody has confirmed. */
async function findExchanges(db: Queries, site_id: string): Promise<Finding[]> {
  const exchanges = await readOpenExchanges(db, site_id)
  return exchanges.map(({ kind, device_id, old_serial_number, serial_number, ...open }) => {
    const device = { source_kind: kind, source_id: device_id }
    return {
      code: 'device_exchanged',
      since: open.since_at,
      message:
        `Serial number ${serial_number} answers at ${nameOf(device)} in place of ` +
        `${old_serial_number}${open.wrong_wiring_at ? ': reported as wrong wiring' : ''}.`,
      ...concerned(device),
    }
  })
}

/** A part of a battery unit, such as `1.cluster.0`, belongs to its unit. */
function concerned({ source_kind, source_id }: Pick<SourceEvent, 'source_kind' | 'source_id'>) {
  const source = { source_type: source_kind as SourceType, source_id }
  const id = Number.parseInt(source_id, 10)
  switch (source_kind as DeviceKind | 'site') {
    case 'logger':
      return ofLogger(id)
    case 'inverter':
      return { ...source, inverter_id: id }
    case 'node':
      return ofNode(source_id)
    case 'bess':
    case 'pcs':
      return { ...source, bess_id: id }
    default:
      return source
  }
}

const standing = {
  name: 'alerts_standing_events',
  text: `${newestEvents("site_id = $1 and source_kind not in ('bess', 'pcs') and edge <> 'once'")}
    select source_kind, source_id, code, severity, message, at from newest where edge = 'rising'`,
}

const readStanding = (db: Queries, site_id: string) => db.query<SourceEvent>(standing, [site_id])

type PastEvent = SourceEvent & { received_at?: Date }

/**
 * The newest event of each code and source of the last day. Exchanged devices have alerts of their
 * own, which last longer.
 */
const readOnce = (db: Queries, site_id: string, now: Date) =>
  db.query<PastEvent>(
    `select distinct on (source_kind, source_id, code)
       source_kind, source_id, code, severity, message, at, received_at
     from events
     where site_id = $1 and edge = 'once' and at > $2 and received_at > $3 and code not like 'relay:%'
       and not (code = 'device_identity_changed' and exists (
         select from device_exchanges x
         where x.site_id = $1 and x.kind = source_kind and x.device_id = source_id
           and x.changed_at = at))
     order by source_kind, source_id, code, at desc, event_id desc`,
    [site_id, new Date(now.getTime() - late_ms_max), new Date(now.getTime() - day_ms)],
  )

/** Clocks that differ from the server, even where the edge trusts them. */
function wrongClocks(plant: PlantNow, { settings }: SourceContext): Finding[] {
  const { offset_s: threshold } = settings.rules.clock_untrusted.thresholds
  return connectedEdges(plant).flatMap(
    ({ edge_id, name, clock_offset_ms, connected_at: since }) => {
      const offset_s = Math.abs(clock_offset_ms ?? 0) / 1000
      if (since === null || offset_s <= threshold) return []
      const way = clock_offset_ms! > 0 ? 'ahead of' : 'behind'
      return {
        code: 'clock_untrusted',
        source_type: 'edge',
        source_id: edge_id,
        part: 'offset',
        since,
        message: `The clock of edge ${name} is ${offset_s.toFixed(1)} s ${way} the server's.`,
        value: offset_s,
        threshold,
        unit: 's',
      }
    },
  )
}

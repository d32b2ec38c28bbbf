/**
 * Edges, plants, inverters and other devices that do not answer. Each cause gets one alert: behind
 * an offline edge no device is judged, behind an offline plant no inverter. Devices may sleep at
 * night and get a settling time after an outage.
 */
import { edgeCommState, isOffline } from '../../plant/communication.ts'
import { isStale } from '../../plant/frame.ts'
import {
  type AlertSource,
  type Finding,
  type OpenAlert,
  ofInverter,
  ofLogger,
  type Scan,
} from '../finding.ts'
import {
  connectedEdges,
  type DeviceNow,
  type EdgeNow,
  type InverterNow,
  isLive,
  type LoggerNow,
  type PlantNow,
  readPlantNow,
  settling_s,
  utc,
} from './plant-now.ts'

export const findCommunication: AlertSource = async (context) =>
  judgeCommunication(await readPlantNow(context))

const settling_ms = 1000 * settling_s
/** Inverters may sleep below this irradiance. */
const sleep_w_m2 = 20

export function judgeCommunication(plant: PlantNow): Scan {
  const now_ms = plant.situation.now.getTime()
  const edges = plant.edges.flatMap((edge) => edgeOffline(edge, plant.situation.now))
  const connected = connectedEdges(plant)
  const connected_ms = Math.max(
    ...connected.map(({ connected_at }) => connected_at?.getTime() ?? 0),
  )
  // -Infinity without a connected edge.
  if (!(connected_ms <= now_ms - settling_ms) || connected.length === 0) {
    return { findings: edges, isUnknown: ({ code }) => code !== 'edge_offline' }
  }
  const plants = [...plant.loggers.values()].map((logger) => stateOf(logger, plant))
  const findings = [
    ...edges,
    ...plants.flatMap((state) => state.finding ?? []),
    ...plants.flatMap((state) => invertersOffline(state, plant)),
    ...devicesOffline(plant, plants),
  ]
  return { findings, isUnknown: (open) => isUnknown(open, plant, plants) }
}

function edgeOffline(edge: EdgeNow, now: Date): Finding[] {
  const { edge_id, name, last_seen_at } = edge
  if (last_seen_at === null || edgeCommState(edge, now) !== 'disconnected') return []
  return [
    {
      code: 'edge_offline',
      source_type: 'edge',
      source_id: edge_id,
      since: last_seen_at,
      message: `The edge agent '${name}' has not been connected since ${utc(last_seen_at)}.`,
    },
  ]
}

/** A plant and its inverters; inverters are judged only while the plant itself is online. */
interface PlantState {
  logger: LoggerNow
  inverters: InverterNow[]
  finding: Finding | null
  /** Whether there is enough daylight for its inverters to run. */
  is_awake: boolean
  are_judged: boolean
  /** The whole plant was offline and its first devices have just answered again. */
  is_settling: boolean
}

function stateOf(logger: LoggerNow, plant: PlantNow): PlantState {
  const { awake_since_at } = plant
  const inverters = [...plant.inverters.values()].filter(
    ({ logger_id }) => logger_id === logger.logger_id,
  )
  const irradiance_w_m2 = logger.poa_irradiance_w_m2
  const is_awake =
    awake_since_at !== null && (irradiance_w_m2 === null || irradiance_w_m2 >= sleep_w_m2)
  const finding = plantOffline(logger, inverters, plant, is_awake)
  const devices = plant.devices.filter(({ logger_id }) => logger_id === logger.logger_id)
  const is_settling = isSettling(inverters, devices, plant.situation.now)
  const are_judged = is_awake && finding === null && !isSettling(inverters, [], plant.situation.now)
  return { logger, inverters, finding, is_awake, are_judged, is_settling }
}

function plantOffline(
  logger: LoggerNow,
  inverters: readonly InverterNow[],
  { situation, awake_since_at }: PlantNow,
  is_awake: boolean,
): Finding | null {
  const { logger_id, name, data_at, created_at } = logger
  const { poll, now } = situation
  const last_at = data_at ?? created_at
  const step_s = Math.max(poll.logger_s, poll.inverter_s)
  const is_offline = is_awake ? isStale(last_at, step_s, now) : isOffline(last_at, situation)
  const about = { code: 'logger_offline', ...ofLogger(logger_id) } as const
  if (is_offline) {
    const message = data_at
      ? `Plant '${name}' has sent no data since ${utc(data_at)}.`
      : `Plant '${name}' has never sent data.`
    const since = is_awake ? later(last_at, awake_since_at) : last_at
    return { ...about, since, message }
  }
  // All inverters offline at once are one cause, even while the met station still answers.
  const are_all = inverters.length > 1 && inverters.every(isDisconnected)
  if (!is_awake || !are_all) return null
  const seen_ms = inverters.map((each) => lastSeen(each).getTime())
  const since = later(new Date(Math.max(...seen_ms)), awake_since_at)
  const message = `None of the ${inverters.length} inverters of plant '${name}' answers.`
  return { ...about, since, message }
}

const isDisconnected = ({ comm_state }: InverterNow) => comm_state === 'disconnected'
const lastSeen = ({ measured_at, edge_since_at, created_at }: InverterNow) =>
  measured_at ?? edge_since_at ?? created_at
const later = (a: Date, b: Date | null) => (b && b > a ? b : a)

/** All devices were offline and the first of them has just answered again. */
function isSettling(
  inverters: readonly InverterNow[],
  devices: readonly DeviceNow[],
  now: Date,
): boolean {
  const since_ms = [
    ...inverters
      .filter(({ edge_comm_state }) => edge_comm_state === 'connected')
      .map(({ edge_since_at }) => edge_since_at?.getTime() ?? 0),
    ...devices
      .filter(({ comm_state }) => comm_state === 'connected')
      .map(({ since_at }) => since_at.getTime()),
  ]
  return since_ms.length > 0 && Math.min(...since_ms) > now.getTime() - settling_ms
}

function invertersOffline(
  { inverters, logger, are_judged }: PlantState,
  { awake_since_at }: PlantNow,
): Finding[] {
  if (!are_judged) return []
  return inverters.filter(isDisconnected).map((inverter) => {
    const { name, measured_at } = inverter
    const how = measured_at ? `has not answered since ${utc(measured_at)}` : 'has never answered'
    return {
      code: 'inverter_offline',
      ...ofInverter(inverter),
      since: later(lastSeen(inverter), awake_since_at),
      message: `Inverter '${name}' of plant '${logger.name}' ${how}.`,
    } satisfies Finding
  })
}

const words = {
  station: 'Met station',
  meter: 'Meter',
  combiner: 'Combiner',
} as const satisfies Record<DeviceNow['kind'], string>

function devicesOffline(plant: PlantNow, plants: readonly PlantState[]): Finding[] {
  return plant.devices
    .filter((device) => device.comm_state === 'disconnected' && mayJudge(device, plant, plants))
    .map((device) => {
      const { kind, name, logger_id, inverter_id, since_at, error } = device
      const reason = error?.replace(/^not asked again yet: /, '')
      const why = reason ? `; last error: ${reason}` : ''
      return {
        code: 'device_offline',
        ...sourceOf(device),
        ...(logger_id !== null && { logger_id }),
        ...(inverter_id !== null && { inverter_id }),
        since: kind === 'combiner' ? later(since_at, plant.awake_since_at) : since_at,
        message: `${words[kind]} '${name}' has not answered since ${utc(since_at)}${why}.`,
      } satisfies Finding
    })
}

/** A combiner has no source type of its own: it is a part of its inverter. */
const sourceOf = ({ kind, id, inverter_id }: DeviceNow) =>
  kind === 'combiner'
    ? { source_type: 'inverter' as const, source_id: `${inverter_id}`, part: id }
    : { source_type: kind, source_id: id }

/**
 * No device is judged behind an offline plant. A combiner is powered by its strings and sleeps with
 * them. A device of no plant settles with the whole site.
 */
function mayJudge(
  { kind, logger_id }: DeviceNow,
  plant: PlantNow,
  plants: readonly PlantState[],
): boolean {
  const state = plants.find(({ logger }) => logger.logger_id === logger_id)
  const { inverters, devices, situation } = plant
  if (!state) {
    return kind !== 'combiner' && !isSettling([...inverters.values()], devices, situation.now)
  }
  if (kind === 'combiner') return state.are_judged
  return !isCompletelyOffline(state) && !state.is_settling
}

const isCompletelyOffline = ({ finding, inverters }: PlantState) =>
  finding !== null && !inverters.some(isLive)

function isUnknown(open: OpenAlert, plant: PlantNow, plants: readonly PlantState[]): boolean {
  if (open.code === 'edge_offline') return false
  const stateWith = (logger_id: number | null) =>
    plants.find(({ logger }) => logger.logger_id === logger_id)
  if (open.code === 'logger_offline') {
    const state = stateWith(Number(open.source_id))
    return state !== undefined && !state.is_awake && !state.inverters.some(isLive)
  }
  if (open.code === 'inverter_offline') {
    const inverter = plant.inverters.get(Number(open.source_id))
    const state = stateWith(inverter?.logger_id ?? null)
    return inverter !== undefined && !isLive(inverter) && state?.are_judged !== true
  }
  const device = plant.devices.find((each) => {
    const { source_type, source_id, ...of } = sourceOf(each)
    const part = 'part' in of ? of.part : null
    return source_type === open.source_type && source_id === open.source_id && part === open.part
  })
  return (
    device !== undefined && device.comm_state !== 'connected' && !mayJudge(device, plant, plants)
  )
}

/** Communication states of devices, by rules over their latest readings and the sun. */
import type { CommState } from '@heliograph/domain/link'
import { ageInSeconds, edge_silence_s_max, isStale, offline_s } from './frame.ts'
import { isNight, type Situation } from './situation.ts'

export const inverterCommStates = ['connected', 'asleep', 'disconnected', 'unknown'] as const
export type InverterCommState = (typeof inverterCommStates)[number]

export const inverterCommRule =
  '`connected`: the latest reading is fresh. `asleep`: no fresh reading and the sun is less than ' +
  '3° above the horizon, as every night. `disconnected`: no fresh reading by day. `unknown`: ' +
  'nothing was ever measured, or the logger is offline.'

export interface InverterVitals {
  inverter_id: number
  logger_id: number
  state: string | null
  measured_at: Date | null
  /** As reported by the edge; null before the first report. */
  edge_comm_state: CommState | null
  /** The latest reading of its logger or of any inverter of the logger. */
  logger_data_at: Date | null
}

export function inverterCommState(
  inverter: Omit<InverterVitals, 'inverter_id' | 'logger_id' | 'state'>,
  situation: Situation,
): InverterCommState {
  const { measured_at, edge_comm_state, logger_data_at } = inverter
  if (!isStale(measured_at, situation.poll.inverter_s, situation.now)) return 'connected'
  const edge_knows = edge_comm_state === 'disconnected' || measured_at !== null
  if (!edge_knows || isOffline(logger_data_at, situation)) return 'unknown'
  return isNight(situation) ? 'asleep' : 'disconnected'
}

/**
 * Whether a logger has sent no data for 15 minutes in which its inverters must be awake, or ever.
 */
export function isOffline(
  data_at: Date | null,
  { offline_before_at }: Pick<Situation, 'offline_before_at'>,
): boolean {
  return data_at === null || data_at < offline_before_at
}

/** Whether a logger that is not offline has no fresh data because all its devices sleep. */
export function isAsleep(data_at: Date, { now }: Pick<Situation, 'now'>): boolean {
  return ageInSeconds(data_at, now) > offline_s
}

export const loggerStatuses = ['online', 'degraded', 'asleep', 'offline', 'unknown'] as const
export type LoggerStatus = (typeof loggerStatuses)[number]

export const loggerStatusRule =
  '`unknown`: nothing was ever measured. `offline`: no data for 15 minutes; while the edge is ' +
  'connected the night does not count, up to one day. `degraded`: one of its inverters is in fault ' +
  'or disconnected. `asleep`: no data for 15 minutes because all its devices sleep. `online`: ' +
  'otherwise.'

export const edgeCommStates = ['connected', 'backfilling', 'disconnected', 'unknown'] as const
type EdgeCommState = (typeof edgeCommStates)[number]

export const edgeCommRule =
  'The connection of the edge agent that serves the logger. `connected`: last seen within 60 s. ' +
  '`backfilling`: connected and sending readings older than 60 s. `disconnected`: last seen more ' +
  'than 60 s ago. `unknown`: never seen.'

/** The edge agent as last reported to the server. */
interface EdgeVitals {
  last_seen_at: Date | null
  journal_oldest_at: Date | null
}

export function edgeCommState(edge: EdgeVitals, now: Date): EdgeCommState {
  if (edge.last_seen_at === null) return 'unknown'
  if (ageInSeconds(edge.last_seen_at, now) > edge_silence_s_max) return 'disconnected'
  const is_behind =
    edge.journal_oldest_at !== null &&
    ageInSeconds(edge.journal_oldest_at, now) > edge_silence_s_max
  return is_behind ? 'backfilling' : 'connected'
}

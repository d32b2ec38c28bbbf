/** Whether devices answer, by published rules over what was measured last and where the sun is. */
import type { CommState } from '@heliograph/domain/link'
import { ageInSeconds, edge_silence_s_max, isStale, offline_s } from './frame.ts'
import { isNight, type Situation } from './situation.ts'

export const inverterCommStates = ['connected', 'asleep', 'disconnected', 'unknown'] as const
export type InverterCommState = (typeof inverterCommStates)[number]

export const inverterCommRule =
  '`connected`: the newest reading is not stale. `asleep`: it does not answer and the sun is ' +
  'less than 3° above the horizon, as inverters do every night. `disconnected`: it does not answer by ' +
  'day. `unknown`: nothing was ever measured, or its logger delivers nothing, so nobody knows.'

export interface InverterVitals {
  inverter_id: number
  logger_id: number
  state: string | null
  measured_at: Date | null
  /** What the edge says of it; null where it said nothing yet. */
  edge_comm_state: CommState | null
  /** When anything of its logger was measured last. */
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
 * Whether a logger has delivered nothing for a quarter of an hour in which its inverters must be
 * awake, or never anything.
 */
export function isOffline(
  data_at: Date | null,
  { offline_before_at }: Pick<Situation, 'offline_before_at'>,
): boolean {
  return data_at === null || data_at < offline_before_at
}

/** Whether a logger that is not offline has nothing to say, as all of its devices sleep. */
export function isAsleep(data_at: Date, { now }: Pick<Situation, 'now'>): boolean {
  return ageInSeconds(data_at, now) > offline_s
}

export const loggerStatuses = ['online', 'degraded', 'asleep', 'offline', 'unknown'] as const
export type LoggerStatus = (typeof loggerStatuses)[number]

export const loggerStatusRule =
  '`unknown`: nothing was ever measured. `offline`: nothing was measured for 15 minutes, not ' +
  'counting the night (a day at most) while the edge is heard of. `degraded`: an inverter of it is in fault or does not ' +
  'answer by day. `asleep`: nothing was measured for 15 minutes, as all of its devices sleep. ' +
  '`online`: all else.'

export const edgeCommStates = ['connected', 'backfilling', 'disconnected', 'unknown'] as const
type EdgeCommState = (typeof edgeCommStates)[number]

export const edgeCommRule =
  'The link of the edge agent that serves the logger. `connected`: heard of in the last 60 s. ' +
  '`backfilling`: connected, and delivering readings that waited longer than that. ' +
  '`disconnected`: not heard of. `unknown`: never heard of.'

/** Of the edge agent, as the server has heard of it. */
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

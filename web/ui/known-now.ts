/** Removes present values of plants whose link is down: the last values are out of date. */
import type { Inverter, Logger, Overview } from '@heliograph/sdk'

export const isDisconnected = ({ comm_state }: Pick<Logger, 'comm_state'>) =>
  comm_state === 'disconnected'

/** The overview without values of disconnected plants. */
export function knownNow(overview: Overview): Overview {
  const { loggers, inverters, status, bess } = overview
  const offline = loggers.filter(isDisconnected)
  if (offline.length === 0) return overview
  const ids = new Set(offline.map(({ logger_id }) => logger_id))
  const isOffline = ({ logger_id }: { logger_id: number }) => ids.has(logger_id)
  const are_all = offline.length === loggers.length
  return {
    ...overview,
    loggers: loggers.map((logger) => (isOffline(logger) ? unknownPlant(logger) : logger)),
    inverters: inverters.map((one) => (isOffline(one) ? unknownInverter(one) : one)),
    bess: are_all && bess ? bess.map(unknownUnit) : bess,
    status: {
      ...status,
      ...(are_all && unknownStatus(status)),
      health_status: are_all ? 'offline' : 'degraded',
      health_reasons: [
        ...offline.map(({ logger_id }) => `logger_disconnected:${logger_id}`),
        ...status.health_reasons.filter((reason) => reason !== 'edge_offline'),
      ],
    },
  }
}

const unknownPlant = (logger: Logger): Logger => ({
  ...logger,
  status: 'offline',
  ac_power_kw: null,
  available_power_kw: null,
  inverters_online: null,
  poa_irradiance_w_m2: null,
  module_temperature_c: null,
})

const unknownInverter = (inverter: Inverter): Inverter => ({
  ...inverter,
  comm_state: 'unknown',
  state: 'unknown',
  ac_power_kw: null,
  available_power_kw: null,
  efficiency_pct: null,
})

const unknownUnit = (unit: NonNullable<Overview['bess']>[number]) => ({
  ...unit,
  state: null,
  power_kw: null,
  setpoint_kw: null,
  soc_pct: null,
})

const unknownStatus = (status: Overview['status']): Partial<Overview['status']> => ({
  ac_power_kw: null,
  available_power_kw: null,
  curtailed_power_kw: null,
  export_power_kw: null,
  import_power_kw: null,
  grid_frequency_hz: null,
  loggers_online: 0,
  inverters_producing: 0,
  inverters_standby: 0,
  inverters_faulted: 0,
  inverters_asleep: 0,
  inverters_offline: 0,
  inverters_unknown: status.inverters_total,
  strings_ok: 0,
  strings_zero_current: 0,
  strings_reverse_current: 0,
  strings_asleep: 0,
  strings_no_data: status.strings_total,
})

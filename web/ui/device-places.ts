import type { Alert } from '@heliograph/sdk'

/** A device: with fewer of them, all that belongs to it. */
export interface AlertPlace {
  logger_id?: number
  inverter_id?: number
  string_index?: number
}

/** Open alerts of a device and of what belongs to it. */
export function alertsOf(alerts: readonly Alert[], place: AlertPlace): Alert[] {
  return alerts.filter(
    (alert) =>
      (place.logger_id === undefined || alert.logger_id === place.logger_id) &&
      (place.inverter_id === undefined || alert.inverter_id === place.inverter_id) &&
      (place.string_index === undefined || alert.string_index === place.string_index),
  )
}

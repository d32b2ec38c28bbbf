import type { Alert } from '@heliograph/sdk'

/** A plant, an inverter or a string, by the ids that are given. */
export interface AlertPlace {
  logger_id?: number
  inverter_id?: number
  string_index?: number
}

/** Alerts of a device and of the devices below it. */
export function alertsOf(alerts: readonly Alert[], place: AlertPlace): Alert[] {
  return alerts.filter(
    (alert) =>
      (place.logger_id === undefined || alert.logger_id === place.logger_id) &&
      (place.inverter_id === undefined || alert.inverter_id === place.inverter_id) &&
      (place.string_index === undefined || alert.string_index === place.string_index),
  )
}

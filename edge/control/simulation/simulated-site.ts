/** The simulated plants as a site file would describe them. */
import type { Meter, Site } from '@heliograph/domain/site'
import { groupOf, inverterOf, siteOf as siteWith } from '../../fixtures/sites.ts'
import { poll_ms, type World } from './world.ts'

export function siteOf({ plants, is_looped, ramp_pct_per_min }: World): Site {
  const loggers = plants.map(({ logger_id, rated_w, devices }) => ({
    logger_id,
    name: `Plant ${logger_id}`,
    rated_power_kw: rated_w / 1000,
    inverters: devices.map(({ build: { inverter_id, rated_w, static_w } }) =>
      inverterOf(inverter_id, {
        rated_ac_power_kw: rated_w / 1000,
        max_ac_power_kw: Math.max(rated_w, static_w) / 1000,
        unit_id: 1,
        string_groups: [groupOf(1, 1)],
      }),
    ),
  }))
  const meters = plants.map(
    ({ logger_id }): Meter => ({
      meter_id: logger_id,
      logger_id,
      name: `Meter ${logger_id}`,
      role: 'plant',
      connection: 'a',
      driver: 'sunspec',
      unit_id: 1,
    }),
  )
  return siteWith([], {
    poll: { inverter_s: poll_ms / 1000, meter_s: poll_ms / 1000 },
    control: {
      closed_loop: is_looped,
      ...(ramp_pct_per_min !== null && { ramp_up_pct_per_min: ramp_pct_per_min }),
    },
    loggers,
    ...(is_looped && { meters }),
  })
}

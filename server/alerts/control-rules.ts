/** Rules for control, batteries, markets and the edge. */
import { type Rule, rule, threshold } from './rule.ts'

const planned = ['maintenance'] as const

export const controlRules = {
  curtailment_not_applied: rule('control', 'critical', [60, 60], {
    title: 'A curtailment is not applied',
    recommended_action:
      'Contact the plant by other means if the limit is binding; see the order at /curtailment.',
  }),
  curtailment_not_verified: rule('control', 'major', [300, 120], {
    title: 'A curtailment is not verified',
    recommended_action: 'Compare the limit and the power of each inverter of the plant.',
  }),
  curtailment_not_released: rule('control', 'major', [120, 60], {
    title: 'A curtailment is not lifted',
    recommended_action:
      'Restore the uplink of the edge; see `releasing_reason` at /curtailment. If the edge will ' +
      'never confirm, restore the plant on site, then close the record on the platform.',
  }),
  curtailment_not_effective: rule('control', 'major', [0, 120], {
    title: 'An inverter exceeds its limit',
    recommended_action: 'Check the settings of the inverter for remote power limits.',
    without_values: true,
  }),
  limit_not_as_set: rule('control', 'major', [60, 60], {
    title: 'A device holds another limit than it was set to',
    recommended_action:
      'If another controller set the limit, stop it. If the device rounds, declare ' +
      '`limit.tolerance_pct` in site.yaml; then `heliograph-edge limits forget` lifts the limit.',
    without_values: true,
  }),
  control_contention: rule('control', 'major', [0, 600], {
    title: 'Another controller changes limits',
    recommended_action: 'Find the other controller on the bus and leave only one in charge.',
    without_values: true,
  }),
  permit_clamp: rule('control', 'info', [300, 600], {
    title: 'The grid permit limits the plant',
    recommended_action: 'None: this is normal operation.',
    without_values: true,
  }),
  permit_missing: rule('control', 'major', [60, 60], {
    title: 'No grid permit is known',
    recommended_action: 'Install a valid permit file on the edge.',
    without_values: true,
  }),
  permit_exceeded: rule('control', 'critical', [0, 60], {
    title: 'The grid permit is exceeded',
    recommended_action: 'Limits are lowered automatically; switch off devices that do not follow.',
    without_values: true,
  }),
  permit_unenforceable: rule('control', 'critical', [0, 60], {
    title: 'The grid permit cannot be enforced',
    recommended_action: 'Restore the devices that do not answer, or switch them off.',
    without_values: true,
  }),
  control_fault: rule('control', 'critical', [0, 120], {
    title: 'Control is impaired',
    recommended_action: 'Read the log of the edge; docs/control.md explains each case.',
    without_values: true,
  }),
  limit_not_armed: rule('control', 'major', [60, 120], {
    title: 'A limit is not fail-safe',
    suppressed_by: planned,
    recommended_action: 'Configure the device as described in docs/control.md.',
    without_values: true,
  }),
  setpoint_not_taken: rule('battery', 'major', [60, 120], {
    title: 'A setpoint is not followed',
    suppressed_by: planned,
    recommended_action: 'Check that the PCS is in remote control, and the sign of its setpoint.',
    without_values: true,
  }),
  bess_offline: rule('communication', 'major', [60, 120], {
    title: 'A battery is offline',
    suppressed_by: planned,
    recommended_action: 'Check the supply and the bus of the management system or the PCS.',
  }),
  battery_alarm: rule('battery', 'warning', [0, 300], {
    title: 'A battery reports an alarm',
    suppressed_by: planned,
    recommended_action: "Look up the code in the maker's manual; see /bess/{bess_id}/alarms.",
  }),
  battery_stale: rule('battery', 'major', [60, 120], {
    title: 'The data of a battery is stale',
    suppressed_by: planned,
    recommended_action: 'Check the bus to the management system.',
  }),
  heartbeat_lost: rule('battery', 'major', [30, 120], {
    title: 'A heartbeat has stopped',
    suppressed_by: planned,
    recommended_action: 'Restart the controller of the device as its manual describes.',
  }),
  battery_fire: rule('safety', 'critical', [0, 300], {
    title: 'The fire alarm system of a battery reports',
    recommended_action: 'At an alarm: keep away, call the fire brigade, follow the site plan.',
  }),
  soc_low: rule('battery', 'warning', [300, 600], {
    title: 'The state of charge is low',
    thresholds: {
      below_min_pct: threshold(1, '%', [0, 20], 'Margin below the minimum of site.yaml.'),
    },
    suppressed_by: planned,
    recommended_action: 'Charge the unit; find the cause of the discharge.',
  }),
  dispatch_deviation: rule('battery', 'warning', [900, 900], {
    title: 'A battery does not follow its schedule',
    thresholds: {
      deviation_pct: threshold(10, '%', [1, 100], 'Relative to the rated power of the unit.'),
    },
    suppressed_by: ['maintenance', 'curtailment'],
    recommended_action: 'See why at /bess/{bess_id}/schedules and /bess/{bess_id}/setpoints.',
  }),
  price_negative: rule('market', 'info', [0, 0], {
    title: 'The price is negative',
    thresholds: {
      price_per_mwh: threshold(0, 'per MWh', [-10_000, 10_000], 'In the currency of the market.'),
    },
    recommended_action: 'See /curtailment/suggest for plants that are paid by this price.',
  }),
  prices_missing: rule('market', 'warning', [0, 0], {
    title: 'Prices are missing',
    thresholds: {
      late_hours: threshold(3, 'h', [0.5, 24], 'Delay after the usual time of publication.'),
    },
    recommended_action: 'Check the price source, or import prices from a file.',
  }),
  journal_overflow: rule('data_quality', 'critical', [0, 120], {
    title: 'The journal of the edge fails',
    recommended_action: 'Free disk space on the edge and restore its uplink.',
  }),
  clock_untrusted: rule('data_quality', 'major', [120, 300], {
    title: 'The clock of the edge is unreliable',
    thresholds: {
      offset_s: threshold(30, 's', [1, 3600], 'Difference between the clocks of edge and server.'),
    },
    recommended_action: 'Check the time service of the edge.',
  }),
  edge_condition: rule('equipment', 'warning', [60, 120], {
    title: 'The edge reports a problem',
    suppressed_by: planned,
    recommended_action: 'Read the message, and the log of the edge.',
    without_values: true,
  }),
} as const satisfies Record<string, Rule>

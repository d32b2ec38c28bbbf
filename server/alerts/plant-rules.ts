import { type Rule, rule, threshold } from './rule.ts'

const asleep = ['night', 'maintenance'] as const
const planned = ['maintenance'] as const

const irradiance_w_m2 = threshold(200, 'W/m²', [50, 800], 'Lowest irradiance for a judgement.')

export const plantRules = {
  edge_offline: rule('communication', 'critical', [300, 60], {
    title: 'The edge agent is offline',
    suppressed_by: planned,
    recommended_action:
      'Check power, uplink and agent on site. Readings of the outage are sent automatically later.',
  }),
  logger_offline: rule('communication', 'major', [900, 120], {
    title: 'A plant is offline',
    suppressed_by: asleep,
    recommended_action: 'Check the supply and the bus of the plant.',
  }),
  inverter_offline: rule('communication', 'major', [600, 120], {
    title: 'An inverter is offline',
    suppressed_by: asleep,
    recommended_action: 'Check its AC and DC side, its bus, and whether it has tripped.',
  }),
  node_offline: rule('communication', 'warning', [900, 120], {
    title: 'A sensor node is offline',
    suppressed_by: planned,
    recommended_action: 'Check the supply of the node and its connection to the broker.',
  }),
  device_offline: rule('communication', 'warning', [900, 120], {
    title: 'A device is offline',
    suppressed_by: planned,
    recommended_action: 'Check the supply of the device and its bus.',
  }),
  inverter_fault: rule('equipment', 'major', [60, 300], {
    title: 'An inverter is in fault',
    suppressed_by: planned,
    recommended_action: "Look up its codes in the maker's manual; reset it only when that is safe.",
  }),
  inverter_alarm: rule('equipment', 'warning', [60, 300], {
    title: 'An inverter reports an alarm',
    suppressed_by: planned,
    recommended_action: "Look up the code in the maker's manual.",
  }),
  string_zero_current: rule('production', 'major', [900, 900], {
    title: 'A string delivers no current',
    thresholds: {
      current_a: threshold(0.1, 'A', [0, 2], 'A string below this current carries none.'),
      peer_current_a: threshold(
        1,
        'A',
        [0.2, 10],
        'Lowest median current of the peers at which strings are judged.',
      ),
    },
    suppressed_by: asleep,
    recommended_action: 'Check fuse, connectors and cable of the string.',
  }),
  string_underperformance: rule('production', 'warning', [3600, 3600], {
    title: 'A string underperforms',
    thresholds: {
      shortfall_pct: threshold(15, '%', [1, 95], 'Shortfall against the peers.'),
      peer_hours: threshold(3, 'h', [1, 24], 'Full-sun hours needed for a judgement.'),
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'Look for soiling, shading or a defective module; measure the I-V curve.',
  }),
  inverter_underperformance: rule('production', 'warning', [1800, 1800], {
    title: 'An inverter underperforms',
    thresholds: {
      shortfall_pct: threshold(15, '%', [1, 95], 'Shortfall against the peers.'),
      irradiance_w_m2,
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'Compare strings, temperature and limits with the other inverters.',
  }),
  logger_underperformance: rule('production', 'major', [1800, 1800], {
    title: 'A plant underperforms',
    thresholds: {
      shortfall_pct: threshold(20, '%', [1, 95], 'Shortfall against the expected energy.'),
      irradiance_w_m2,
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'Find the inverters and strings concerned; check for snow.',
  }),
  temperature_high: rule('equipment', 'major', [120, 600], {
    title: 'A temperature is high',
    thresholds: {
      ambient_c: threshold(50, '°C', [10, 100], 'Air in a station.'),
      oil_c: threshold(95, '°C', [40, 140], 'Transformer oil.'),
      winding_c: threshold(120, '°C', [40, 180], 'Windings.'),
      busbar_c: threshold(90, '°C', [40, 140], 'Busbars.'),
      cabinet_c: threshold(75, '°C', [30, 120], 'Cabinet of an inverter.'),
      hysteresis_k: threshold(2, 'K', [0, 20], 'The condition ends this far below the limit.'),
    },
    recommended_action:
      'Check fans, filters and load; reduce the load if the temperature keeps rising.',
  }),
  fan_failure: rule('equipment', 'major', [120, 300], {
    title: 'A fan does not run',
    suppressed_by: planned,
    recommended_action: 'Check the fan, its fuse and its relay.',
  }),
  device_exchanged: rule('equipment', 'warning', [60, 120], {
    title: 'A device was exchanged',
    suppressed_by: planned,
    recommended_action:
      'If a new device is in the same place, confirm it on the platform and change its ' +
      '`serial_number` in site.yaml. Otherwise check the wiring and the unit ids.',
  }),
  door_open: rule('security', 'warning', [300, 60], {
    title: 'A door is open',
    suppressed_by: planned,
    recommended_action: 'Find out who is on site; close and lock the door.',
  }),
  data_gap: rule('data_quality', 'warning', [1800, 300], {
    title: 'Data is missing',
    suppressed_by: asleep,
    recommended_action:
      'See the cause at /gaps. Readings stored at the edge are filled in automatically.',
  }),
} as const satisfies Record<string, Rule>

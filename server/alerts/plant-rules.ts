/** Rules over plants, their devices and their data. */
import type { Rule } from './rule.ts'

const asleep = ['night', 'maintenance'] as const
const planned = ['maintenance'] as const

export const plantRules = {
  edge_offline: {
    title: 'The edge agent is offline',
    holds: 'The server has heard nothing of the edge agent of the site.',
    category: 'communication',
    severity: 'critical',
    ...{ raise_delay_s: 300, clear_delay_s: 60 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action:
      'Check power, uplink and agent on site. What was measured meanwhile follows by itself.',
  },
  logger_offline: {
    title: 'A plant is offline',
    holds: 'The edge is heard of, and nothing of the plant is measured while it should be awake.',
    category: 'communication',
    severity: 'major',
    ...{ raise_delay_s: 900, clear_delay_s: 120 },
    thresholds: {},
    suppressed_by: asleep,
    recommended_action: 'Check the supply and the bus of the plant.',
  },
  inverter_offline: {
    title: 'An inverter is offline',
    holds: 'The inverter does not answer the edge while it should be awake.',
    category: 'communication',
    severity: 'major',
    ...{ raise_delay_s: 600, clear_delay_s: 120 },
    thresholds: {},
    suppressed_by: asleep,
    recommended_action: 'Check its AC and DC side, its bus, and whether it has tripped.',
  },
  node_offline: {
    title: 'A sensor node is offline',
    holds: 'A sensor node sends nothing.',
    category: 'communication',
    severity: 'warning',
    ...{ raise_delay_s: 900, clear_delay_s: 120 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: 'Check the supply of the node and its way to the broker.',
  },
  device_offline: {
    title: 'A device is offline',
    holds: 'A meter, a met station or a combiner does not answer the edge.',
    category: 'communication',
    severity: 'warning',
    ...{ raise_delay_s: 900, clear_delay_s: 120 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: 'Check the supply of the device and its bus.',
  },
  inverter_fault: {
    title: 'An inverter is in fault',
    holds: 'The inverter answers, and its state is fault.',
    category: 'equipment',
    severity: 'major',
    ...{ raise_delay_s: 60, clear_delay_s: 300 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: "Look up its codes in the maker's manual; reset it only when that is safe.",
  },
  inverter_alarm: {
    title: 'An inverter reports an alarm',
    holds: 'An alarm bit of the inverter is set; its severity is that of its alarm table.',
    category: 'equipment',
    severity: 'warning',
    ...{ raise_delay_s: 60, clear_delay_s: 300 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: "Look up the code in the maker's manual.",
  },
  string_zero_current: {
    title: 'A string delivers no current',
    holds: 'A connected string carries next to nothing while the others of its inverter carry.',
    category: 'production',
    severity: 'major',
    ...{ raise_delay_s: 900, clear_delay_s: 900 },
    thresholds: {
      current_a: {
        ...{ value: 0.1, unit: 'A', min: 0, max: 2 },
        meaning: 'Below it a string carries nothing.',
      },
      peer_current_a: {
        ...{ value: 1, unit: 'A', min: 0.2, max: 10 },
        meaning: 'Median of its peers, below which nothing is judged.',
      },
    },
    suppressed_by: asleep,
    recommended_action: 'Check fuse, connectors and cable of the string.',
  },
  string_underperformance: {
    title: 'A string underperforms',
    holds: 'A string delivered less than its peers, by the hourly sums of the last day.',
    category: 'production',
    severity: 'warning',
    ...{ raise_delay_s: 3600, clear_delay_s: 3600 },
    thresholds: {
      shortfall_pct: {
        ...{ value: 15, unit: '%', min: 1, max: 95 },
        meaning: 'How much less than its peers.',
      },
      peer_hours: {
        ...{ value: 3, unit: 'h', min: 1, max: 24 },
        meaning: 'Hours of full sun that it takes to judge.',
      },
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'Look for soiling, shade or a defective module; measure its I-V curve.',
  },
  inverter_underperformance: {
    title: 'An inverter underperforms',
    holds: 'An inverter delivers less for its panels than the others of its plant.',
    category: 'production',
    severity: 'warning',
    ...{ raise_delay_s: 1800, clear_delay_s: 1800 },
    thresholds: {
      shortfall_pct: {
        ...{ value: 15, unit: '%', min: 1, max: 95 },
        meaning: 'How much less than its peers.',
      },
      irradiance_w_m2: {
        ...{ value: 200, unit: 'W/m²', min: 50, max: 800 },
        meaning: 'Below it nothing is judged.',
      },
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'Compare its strings, its temperature and its limits with the others.',
  },
  logger_underperformance: {
    title: 'A plant underperforms',
    holds: 'A plant delivers less than the sun allows it.',
    category: 'production',
    severity: 'major',
    ...{ raise_delay_s: 1800, clear_delay_s: 1800 },
    thresholds: {
      shortfall_pct: {
        ...{ value: 20, unit: '%', min: 1, max: 95 },
        meaning: 'How much less than expected.',
      },
      irradiance_w_m2: {
        ...{ value: 200, unit: 'W/m²', min: 50, max: 800 },
        meaning: 'Below it nothing is judged.',
      },
    },
    suppressed_by: ['night', 'maintenance', 'curtailment'],
    recommended_action: 'See which inverters and strings it comes from, and whether snow lies.',
  },
  temperature_high: {
    title: 'A temperature is high',
    holds:
      'A temperature of a sensor node or an inverter is above its limit: that of its channel in ' +
      'site.yaml where it has one, else the threshold.',
    category: 'equipment',
    severity: 'major',
    ...{ raise_delay_s: 120, clear_delay_s: 600 },
    thresholds: {
      ambient_c: {
        ...{ value: 50, unit: '°C', min: 10, max: 100 },
        meaning: 'Of the air in a station.',
      },
      oil_c: { ...{ value: 95, unit: '°C', min: 40, max: 140 }, meaning: 'Of transformer oil.' },
      winding_c: { ...{ value: 120, unit: '°C', min: 40, max: 180 }, meaning: 'Of windings.' },
      busbar_c: { ...{ value: 90, unit: '°C', min: 40, max: 140 }, meaning: 'Of busbars.' },
      cabinet_c: {
        ...{ value: 75, unit: '°C', min: 30, max: 120 },
        meaning: 'Of the cabinet of an inverter.',
      },
      hysteresis_k: {
        ...{ value: 2, unit: 'K', min: 0, max: 20 },
        meaning: 'It has to fall so far below the limit until it counts as gone.',
      },
    },
    suppressed_by: [],
    recommended_action: 'Check fans, filters and load; lower the load where it goes on rising.',
  },
  fan_failure: {
    title: 'A fan does not run',
    holds: 'The relay of a fan is on, and the fan draws no current.',
    category: 'equipment',
    severity: 'major',
    ...{ raise_delay_s: 120, clear_delay_s: 300 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: 'Check the fan, its fuse and its relay.',
  },
  door_open: {
    title: 'A door is open',
    holds: 'The door contact of a station is open.',
    category: 'security',
    severity: 'warning',
    ...{ raise_delay_s: 300, clear_delay_s: 60 },
    thresholds: {},
    suppressed_by: planned,
    recommended_action: 'Find out who is there; close and lock the door.',
  },
  data_gap: {
    title: 'Data is missing',
    holds: 'There is a hole in the readings of a device that answers.',
    category: 'data_quality',
    severity: 'warning',
    ...{ raise_delay_s: 1800, clear_delay_s: 300 },
    thresholds: {},
    suppressed_by: asleep,
    recommended_action: 'See its cause at /gaps; what the edge kept is filled in by itself.',
  },
} as const satisfies Record<string, Rule>

/** What a point of the list can mean, in the words of its column `meaning`. */

export type OwnerKind = 'site' | 'plant' | 'meter' | 'station' | 'battery' | 'node'

/** What `of` names. */
export interface Owner {
  kind: OwnerKind
  /** 0 for the site, the text of a node. */
  id: number
  node_id: string
  channel: string
}

interface Meaning {
  /** ASDU types without a time tag that carry it. */
  types: readonly string[]
  /** Kinds of owner, with the column of their readings; null: it is worked out. */
  owners: Partial<Record<OwnerKind, string | null>>
  /** For the document. */
  says: string
}

const measured = ['M_ME_NA_1', 'M_ME_NB_1', 'M_ME_NC_1']
const state = ['M_SP_NA_1', 'M_DP_NA_1']
const setpoint = ['C_SE_NA_1', 'C_SE_NB_1', 'C_SE_NC_1']
const worked_out = { plant: null, site: null }

const ofMeter = (column: string, says: string): Meaning => ({
  types: measured,
  owners: { meter: column },
  says,
})
const ofStation = (column: string, says: string): Meaning => ({
  types: measured,
  owners: { station: column },
  says,
})

const table = {
  active_power_kw: {
    types: measured,
    owners: {
      plant: 'ac_power_kw',
      meter: 'active_power_kw',
      battery: 'power_kw',
      site: null,
    },
    says: 'Active power, positive when it feeds in. Of the site: the meter at the grid connection, else the sum of the plants.',
  },
  reactive_power_kvar: {
    types: measured,
    owners: { plant: 'reactive_power_kvar', meter: 'reactive_power_kvar', site: null },
    says: 'Reactive power, as active power.',
  },
  available_power_kw: {
    types: measured,
    owners: { plant: 'available_power_kw', site: null },
    says: 'Power that the plant could deliver without limits, where its inverters report it.',
  },
  availability_pct: {
    types: measured,
    owners: worked_out,
    says: 'Inverters that answer, of all.',
  },
  voltage_l1_l2_v: ofMeter('voltage_l1_l2_v', 'Line voltage.'),
  voltage_l2_l3_v: ofMeter('voltage_l2_l3_v', 'Line voltage.'),
  voltage_l3_l1_v: ofMeter('voltage_l3_l1_v', 'Line voltage.'),
  current_l1_a: ofMeter('current_l1_a', 'Current.'),
  current_l2_a: ofMeter('current_l2_a', 'Current.'),
  current_l3_a: ofMeter('current_l3_a', 'Current.'),
  frequency_hz: ofMeter('frequency_hz', 'Frequency.'),
  power_factor: ofMeter('power_factor', 'Power factor.'),
  poa_irradiance_w_m2: ofStation('poa_irradiance_w_m2', 'Irradiance in the plane of the array.'),
  ghi_w_m2: ofStation('ghi_w_m2', 'Global horizontal irradiance.'),
  wind_speed_m_s: ofStation('wind_speed_m_s', 'Wind speed.'),
  wind_direction_deg: ofStation('wind_direction_deg', 'Wind direction.'),
  ambient_temperature_c: ofStation('ambient_temperature_c', 'Air temperature.'),
  module_temperature_c: ofStation('module_temperature_c', 'Module temperature.'),
  relative_humidity_pct: ofStation('relative_humidity_pct', 'Relative humidity.'),
  pressure_hpa: ofStation('pressure_hpa', 'Air pressure.'),
  soc_pct: { types: measured, owners: { battery: 'soc_pct' }, says: 'State of charge.' },
  setpoint_mirror_pct: {
    types: measured,
    owners: worked_out,
    says: 'Setpoint of this control centre in force, in percent of rated power; 100 for none.',
  },
  setpoint_mirror_kw: {
    types: measured,
    owners: worked_out,
    says: 'The same in kW; the rated power for none.',
  },
  reduction_cause: {
    types: measured,
    owners: worked_out,
    says: 'Source of the lowest order in force: 0 none, 1 grid operator, 2 direct marketer, 3 relay inputs, 4 owner.',
  },
  is_reduced: { types: state, owners: worked_out, says: 'An order is in force.' },
  communication_ok: { types: state, owners: worked_out, says: 'All inverters answer.' },
  contact_on: {
    types: state,
    owners: { node: null },
    says: 'Channel of a sensor node: relay on, door open. Of a switch with an auxiliary contact: closed.',
  },
  energy_export_kwh: {
    types: ['M_IT_NA_1'],
    owners: { meter: 'energy_export_kwh' },
    says: 'Energy delivered, by the meter.',
  },
  energy_import_kwh: {
    types: ['M_IT_NA_1'],
    owners: { meter: 'energy_import_kwh' },
    says: 'Energy consumed, by the meter.',
  },
  energy_total_kwh: {
    types: ['M_IT_NA_1'],
    owners: { plant: 'energy_total_kwh' },
    says: 'Energy of the inverters of the plant.',
  },
  setpoint_pct: {
    types: setpoint,
    owners: worked_out,
    says: 'Orders a limit in percent of rated power.',
  },
  setpoint_kw: { types: setpoint, owners: worked_out, says: 'Orders a limit in kW.' },
  setpoint_step_pct: {
    types: ['C_SC_NA_1', 'C_DC_NA_1', 'C_RC_NA_1'],
    owners: worked_out,
    says: 'A single or double command: on orders the limit in `scale`, off ends the order. A regulating step: lower or higher by `scale`.',
  },
} as const satisfies Record<string, Meaning>

export type MeaningName = keyof typeof table
export const meanings: Readonly<Record<MeaningName, Meaning>> = table
export const isMeaning = (name: string): name is MeaningName => Object.hasOwn(table, name)

/** Simulated inverters, met stations and meters as SunSpec maps. */
import type { Inverter, Meter, Site, Station } from '@heliograph/domain/site'
import { mpptCount, stringsOf } from '@heliograph/domain/site'
import { encode } from '@heliograph/domain/sunspec/codec'
import { classicInverter, type PointsOf, pointsFrom } from '@heliograph/domain/sunspec/grid-side'
import { models } from '@heliograph/domain/sunspec/models'
import { stOf } from '@heliograph/domain/sunspec/states'
import type { Counters } from '../counters.ts'
import { nominal_voltage_v, phasesAt, toNeutral } from '../grid-side.ts'
import type { LimitState } from '../limits.ts'
import { measuredInverter } from '../readings.ts'
import type { InverterSnapshot, SiteSnapshot } from '../site.ts'
import {
  controls121,
  controls123,
  controls702,
  controls704,
  hasModel704,
} from './sunspec-controls.ts'

export const sunspec_base_address = 40_000

/** Bit of the active controls: power is limited. */
const st_act_ctl_fixed_w = 2 ** 0

/** Highest raw value of a scaled int16 that leaves room for a surge. */
const steps_max = 20_000

export const scaleFor = (largest: number): number =>
  Math.max(-2, Math.ceil(Math.log10(largest / steps_max)))

/** A 32-bit counter in steps of 10^scale Wh, which wraps like real ones. */
const counterWh = (kwh: number, scale: number): number =>
  (Math.round((kwh * 1000) / 10 ** scale) % 2 ** 32) * 10 ** scale

function chain(parts: readonly Uint16Array[]): Uint16Array {
  const marker = Uint16Array.from([0x5375, 0x6e53])
  const end = Uint16Array.from([0xffff, 0])
  const whole = [marker, ...parts, end]
  const image = new Uint16Array(whole.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of whole) {
    image.set(part, at)
    at += part.length
  }
  return image
}

export const identity = (model: string, serial: string) =>
  encode(models[1], {
    values: { Mn: 'Heliograph', Md: model, Vr: 'sim-1', SN: serial, DA: 1 },
  })

/** Limit of an inverter at the instant of its registers. */
export interface ToldInverter {
  limit: LimitState
  now_ms: number
}

/**
 * Models 1, 103, 120 to 123, 160 for the MPPTs and 403 for string currents; 702 and 704 replace 121
 * and 123 if the site file says so.
 */
export function inverterRegisters(
  inverter: Inverter,
  snapshot: SiteSnapshot,
  { counters, told }: { counters: Counters; told: ToldInverter },
): Uint16Array {
  const now = snapshot.inverters.find(({ inverter_id }) => inverter_id === inverter.inverter_id)!
  return chain([
    identity('Simulated inverter', `SIM-INV-${inverter.inverter_id}`),
    measurements(inverter, now, snapshot, counters),
    ...controlled(inverter, now, { counters, told }),
    mpptModel(inverter, now, counters),
    combinerModel(inverter, now),
  ])
}

function measurements(
  inverter: Inverter,
  now: InverterSnapshot,
  snapshot: SiteSnapshot,
  counters: Counters,
): Uint16Array {
  const rated_w = inverter.rated_ac_power_kw * 1000
  return classicModel(rated_w, {
    ...pointsFrom(classicInverter, measuredInverter(now, snapshot)),
    WH: counterWh(counters.inverters[inverter.inverter_id]!.ac_kwh, 0),
    DCA_SF: scaleFor(ratedCurrent(rated_w) * 3),
    DCW_SF: scaleFor(rated_w * 1.5),
    St: stOf(now.state),
  })
}

export const ratedCurrent = (rated_w: number) => rated_w / (Math.sqrt(3) * nominal_voltage_v)

type Classic = Partial<PointsOf<103>>

/** Model 103 with the scale factors of a device of this rating. */
export function classicModel(rated_w: number, points: Classic): Uint16Array {
  const power_scale = scaleFor(rated_w * 1.2)
  return encode(models[103], {
    values: {
      A: points.AphA ?? null,
      A_SF: scaleFor(ratedCurrent(rated_w) * 1.5),
      V_SF: -1,
      W_SF: power_scale,
      Hz_SF: -2,
      VA_SF: power_scale,
      VAr_SF: power_scale,
      PF_SF: -1,
      WH_SF: 0,
      DCV_SF: -1,
      Tmp_SF: -1,
      Evt2: 0,
      ...points,
    },
  })
}

export const powerScale = ({ rated_ac_power_kw }: Inverter) =>
  scaleFor(rated_ac_power_kw * 1000 * 1.2)

/** Nameplate, settings, status and controls, of which only the limit is in use. */
function controlled(
  inverter: Inverter,
  now: InverterSnapshot,
  { counters, told: { limit, now_ms } }: { counters: Counters; told: ToldInverter },
): Uint16Array[] {
  const scale = powerScale(inverter)
  const nameplate = nameplateModel(inverter, scale)
  const status = statusModel(inverter, now, { counters, scale, is_limited: limit.is_enabled })
  return hasModel704(inverter)
    ? [controls702(limit, scale), controls704(limit, now_ms), nameplate, status]
    : [nameplate, controls121(limit, scale, nominal_voltage_v), status, controls123(limit)]
}

function nameplateModel(inverter: Inverter, power_scale: number): Uint16Array {
  const rated_w = inverter.rated_ac_power_kw * 1000
  return encode(models[120], {
    values: {
      DERTyp: 4,
      WRtg: rated_w,
      WRtg_SF: power_scale,
      VARtg: rated_w,
      VARtg_SF: power_scale,
    },
  })
}

function statusModel(
  inverter: Inverter,
  now: InverterSnapshot,
  { counters, scale, is_limited }: { counters: Counters; scale: number; is_limited: boolean },
): Uint16Array {
  return encode(models[122], {
    values: {
      PVConn: now.state === 'sleeping' ? 0 : 7,
      ECPConn: now.state === 'sleeping' ? 0 : 1,
      ActWh: Math.round(counters.inverters[inverter.inverter_id]!.ac_kwh * 1000),
      WAval: now.available_power_kw * 1000,
      WAval_SF: scale,
      StActCtl: is_limited ? st_act_ctl_fixed_w : 0,
      Ris: now.insulation_resistance_kohm * 1000,
      Ris_SF: 3,
    },
  })
}

function mpptModel(inverter: Inverter, now: InverterSnapshot, counters: Counters): Uint16Array {
  const mppts = mpptCount(inverter)
  const rated_w = (inverter.rated_ac_power_kw * 1000) / mppts
  const energy_kwh = counters.inverters[inverter.inverter_id]!.mppt_kwh
  return encode(models[160], {
    values: { DCA_SF: -2, DCV_SF: -1, DCW_SF: scaleFor(rated_w * 2), DCWH_SF: 0, Evt: 0 },
    groups: now.mppt_voltage_v.map((voltage_v, mppt) => ({
      ID: mppt + 1,
      IDStr: `MPPT ${mppt + 1}`,
      DCA: now.mppt_current_a[mppt]!,
      DCV: voltage_v,
      DCW: now.mppt_current_a[mppt]! * voltage_v,
      DCWH: counterWh(energy_kwh[mppt] ?? 0, 0),
      Tmp: now.cabinet_temperature_c,
      DCEvt: 0,
    })),
  })
}

function combinerModel(inverter: Inverter, now: InverterSnapshot): Uint16Array {
  const strings = stringsOf(inverter)
  const sum_a = now.string_current_a.reduce((sum, value) => sum + value, 0)
  return encode(models[403], {
    values: {
      DCA_SF: scaleFor(strings.length * 20),
      DCV_SF: -1,
      Evt: 0,
      DCA: sum_a,
      InDCA_SF: -2,
    },
    groups: strings.map(({ string_index }) => ({
      InID: string_index + 1,
      InEvt: 0,
      InDCA: now.string_current_a[string_index] ?? 0,
    })),
  })
}

/** Models 302, 303 and 307, if the station has instruments on them. */
export function stationRegisters(station: Station, snapshot: SiteSnapshot): Uint16Array {
  const { instrument_values } = snapshot.stations.find(
    ({ station_id }) => station_id === station.station_id,
  )!
  const points: Record<string, Record<string, number>[]> = {}
  station.instruments.forEach(({ point }, index) => {
    const [, model = '', nth = '', name = ''] = /^(\d+)\[(\d+)\]\.(\w+)$/.exec(point) ?? []
    const groups = points[model] ?? []
    points[model] = groups
    while (groups.length <= Number(nth)) groups.push({})
    groups[Number(nth)]![name] = instrument_values[index]!
  })
  const { 302: irradiance, 303: temperature, 307: base, ...other } = points
  const unknown = Object.keys(other)
  if (unknown.length > 0) {
    throw new Error(`station ${station.station_id}: the simulator has no model ${unknown}`)
  }
  return chain([
    identity('Simulated met station', `SIM-MET-${station.station_id}`),
    ...(irradiance ? [encode(models[302], { values: {}, groups: irradiance })] : []),
    ...(temperature ? [encode(models[303], { values: {}, groups: temperature })] : []),
    ...(base ? [encode(models[307], { values: base[0]! })] : []),
  ])
}

/** Model 203: a three-phase meter in wye at the grid connection. */
export function meterRegisters(
  site: Site,
  meter: Meter,
  snapshot: SiteSnapshot,
  counters: Counters,
): Uint16Array {
  const pcs = (site.batteries ?? []).flatMap((battery) => battery.pcs)
  const rated_w =
    [...site.loggers, ...pcs].reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0) * 1000
  const power_w = snapshot.export_power_kw * 1000
  const { voltage_l1_l2_v: line_v, current_l1_a: current_a } = phasesAt(
    snapshot.export_power_kw,
    snapshot,
  )
  const { voltage_l1_n_v: phase_v } = toNeutral(snapshot)
  return chain([
    identity('Simulated meter', `SIM-MTR-${meter.meter_id}`),
    encode(models[203], {
      values: {
        A: current_a * 3,
        AphA: current_a,
        AphB: current_a,
        AphC: current_a,
        A_SF: scaleFor((rated_w * 1.5) / nominal_voltage_v),
        PhV: phase_v,
        PhVphA: phase_v,
        PhVphB: phase_v,
        PhVphC: phase_v,
        PPV: line_v,
        PhVphAB: line_v,
        PhVphBC: line_v,
        PhVphCA: line_v,
        V_SF: -1,
        Hz: snapshot.frequency_hz,
        Hz_SF: -2,
        W: power_w,
        W_SF: scaleFor(rated_w * 1.2),
        VA: Math.abs(power_w),
        VA_SF: scaleFor(rated_w * 1.2),
        VAR: 0,
        VAR_SF: scaleFor(rated_w * 1.2),
        PF: power_w === 0 ? null : 100,
        PF_SF: -1,
        TotWhExp: counterWh(counters.export_kwh, 1),
        TotWhImp: counterWh(counters.import_kwh, 1),
        TotWh_SF: 1,
        Evt: 0,
      },
    }),
  ])
}

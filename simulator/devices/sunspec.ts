/** Simulated inverters, met stations and meters as SunSpec maps. */
import type { Inverter, Meter, Site, Station } from '@heliograph/domain/site'
import { mpptCount, stringsOf } from '@heliograph/domain/site'
import { encode } from '@heliograph/domain/sunspec/codec'
import { classicInverter, type PointsOf, pointsFrom } from '@heliograph/domain/sunspec/grid-side'
import { models } from '@heliograph/domain/sunspec/models'
import type { Model } from '@heliograph/domain/sunspec/point'
import { stOf } from '@heliograph/domain/sunspec/states'
import { stationModels, stationPoint } from '@heliograph/domain/sunspec/station-points'
import type { Counters } from '../counters.ts'
import { nominal_voltage_v, phasesAt, toNeutral } from '../grid-side.ts'
import type { LimitState, Told } from '../limits.ts'
import type { Plant } from '../plant.ts'
import { measuredInverter } from '../readings.ts'
import type { InverterSnapshot, SiteSnapshot } from '../site.ts'
import {
  controls121,
  controls123,
  controls702,
  controls704,
  hasModel704,
  writable,
} from './sunspec-controls.ts'
import { type Part, sunspecUnit } from './sunspec-unit.ts'
import type { Unit } from './unit.ts'

/** Bit of the active controls: power is limited. */
const st_act_ctl_fixed_w = 2 ** 0

/** Highest raw value of a scaled int16 that leaves room for a surge. */
const steps_max = 20_000

export const scaleFor = (largest: number): number =>
  Math.max(-2, Math.ceil(Math.log10(largest / steps_max)))

/** A 32-bit counter in steps of 10^scale Wh, which wraps like real ones. */
const counterWh = (kwh: number, scale: number): number =>
  (Math.round((kwh * 1000) / 10 ** scale) % 2 ** 32) * 10 ** scale

export const identity = (model: string, serial: string) =>
  encode(models[1], {
    values: { Mn: 'Heliograph', Md: model, Vr: 'sim-1', SN: serial, DA: 1 },
  })

interface InverterNow {
  snapshot: SiteSnapshot
  measured: InverterSnapshot
  counted: Counters['inverters'][number]
  limit: LimitState
  now_ms: number
}

/**
 * Models 1, 103, 120 to 123, 160 for the MPPTs and 403 for string currents; 702 and 704 replace 121
 * and 123 if the site file says so.
 */
export function inverterUnit(plant: Plant, inverter: Inverter): Unit {
  const { limits, counters } = plant
  const { inverter_id } = inverter
  const scale = powerScale(inverter)
  const common = identity('Simulated inverter', `SIM-INV-${inverter_id}`)
  return sunspecUnit<InverterNow, Told>({
    parts: [
      { model: models[1], make: () => common },
      { model: models[103], make: (now) => measurements(inverter, now) },
      ...controlled(inverter, scale),
      {
        model: models[160],
        groups: mpptCount(inverter),
        make: (now) => mpptModel(inverter, now),
      },
      {
        model: models[403],
        groups: stringsOf(inverter).length,
        make: ({ measured }) => combinerModel(inverter, measured),
      },
    ],
    now() {
      const snapshot = plant.snapshot()
      return {
        snapshot,
        measured: snapshot.inverters.find((one) => one.inverter_id === inverter_id)!,
        counted: counters.inverters[inverter_id]!,
        limit: limits.shownOf(inverter_id),
        now_ms: plant.now_ms(),
      }
    },
    version: ({ snapshot }) => `${snapshot.time_ms} ${limits.version}`,
    take: (place, word, told) =>
      writable[place]?.(word, { ...limits.stateOf(inverter_id), ...told }, 10 ** scale),
    tell: (told) => limits.tell(inverter_id, told),
    isAway: () => plant.isAway(inverter_id),
  })
}

function measurements(
  inverter: Inverter,
  { measured, snapshot, counted }: InverterNow,
): Uint16Array {
  const rated_w = inverter.rated_ac_power_kw * 1000
  return classicModel(rated_w, {
    ...pointsFrom(classicInverter, measuredInverter(measured, snapshot)),
    WH: counterWh(counted.ac_kwh, 0),
    DCA_SF: scaleFor(ratedCurrent(rated_w) * 3),
    DCW_SF: scaleFor(rated_w * 1.5),
    St: stOf(measured.state),
  })
}

export const ratedCurrent = (rated_w: number) => rated_w / (Math.sqrt(3) * nominal_voltage_v)

/** Model 103 with the scale factors of a device of this rating. */
export function classicModel(rated_w: number, points: Partial<PointsOf<103>>): Uint16Array {
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

const powerScale = ({ rated_ac_power_kw }: Inverter) => scaleFor(rated_ac_power_kw * 1000 * 1.2)

/** Nameplate, settings, status and controls, of which only the limit is in use. */
function controlled(inverter: Inverter, scale: number): Part<InverterNow>[] {
  const nameplate = { model: models[120], make: () => nameplateModel(inverter, scale) }
  const status: Part<InverterNow> = { model: models[122], make: (now) => statusModel(now, scale) }
  if (hasModel704(inverter)) {
    return [
      { model: models[702], make: ({ limit }) => controls702(limit, scale) },
      { model: models[704], make: ({ limit, now_ms }) => controls704(limit, now_ms) },
      nameplate,
      status,
    ]
  }
  return [
    nameplate,
    { model: models[121], make: ({ limit }) => controls121(limit, scale, nominal_voltage_v) },
    status,
    { model: models[123], make: ({ limit }) => controls123(limit) },
  ]
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

function statusModel({ measured, counted, limit }: InverterNow, scale: number): Uint16Array {
  return encode(models[122], {
    values: {
      PVConn: measured.state === 'sleeping' ? 0 : 7,
      ECPConn: measured.state === 'sleeping' ? 0 : 1,
      ActWh: Math.round(counted.ac_kwh * 1000),
      WAval: measured.available_power_kw * 1000,
      WAval_SF: scale,
      StActCtl: limit.is_enabled ? st_act_ctl_fixed_w : 0,
      Ris: measured.insulation_resistance_kohm * 1000,
      Ris_SF: 3,
    },
  })
}

function mpptModel(inverter: Inverter, { measured, counted }: InverterNow): Uint16Array {
  const rated_w = (inverter.rated_ac_power_kw * 1000) / mpptCount(inverter)
  return encode(models[160], {
    values: { DCA_SF: -2, DCV_SF: -1, DCW_SF: scaleFor(rated_w * 2), DCWH_SF: 0, Evt: 0 },
    groups: measured.mppt_voltage_v.map((voltage_v, mppt) => ({
      ID: mppt + 1,
      IDStr: `MPPT ${mppt + 1}`,
      DCA: measured.mppt_current_a[mppt]!,
      DCV: voltage_v,
      DCW: measured.mppt_current_a[mppt]! * voltage_v,
      DCWH: counterWh(counted.mppt_kwh[mppt] ?? 0, 0),
      Tmp: measured.cabinet_temperature_c,
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

/** A unit that follows from the snapshot alone. */
function measuringUnit(plant: Plant, common: Uint16Array, parts: Part<SiteSnapshot>[]): Unit {
  return sunspecUnit({
    parts: [{ model: models[1], make: () => common }, ...parts],
    now: () => plant.snapshot(),
    version: ({ time_ms }) => `${time_ms} ${plant.limits.version}`,
    isAway: () => false,
  })
}

/** Models 302, 303 and 307, if the station has instruments on them. */
export function stationUnit(plant: Plant, { station_id, instruments }: Station): Unit {
  const places = instruments.map(({ point }) => stationPoint(point)!)
  const parts = stationModels.flatMap((model_id): Part<SiteSnapshot>[] => {
    const own = places.filter((place) => place.model_id === model_id)
    if (own.length === 0) return []
    const model: Model = models[model_id]
    const count = Math.max(...own.map(({ nth }) => nth)) + 1
    const make = ({ stations }: SiteSnapshot) => {
      const { instrument_values } = stations.find((one) => one.station_id === station_id)!
      const points = Array.from({ length: count }, (): Record<string, number> => ({}))
      for (const [index, place] of places.entries()) {
        if (place.model_id === model_id) points[place.nth]![place.name] = instrument_values[index]!
      }
      if (!model.group) return encode(model, { values: points[0]! })
      return encode(model, { values: {}, groups: points as never[] })
    }
    return [{ model, groups: model.group ? count : 0, make }]
  })
  return measuringUnit(plant, identity('Simulated met station', `SIM-MET-${station_id}`), parts)
}

export function meterUnit(plant: Plant, meter: Meter): Unit {
  const { site } = plant.simulation
  return measuringUnit(plant, identity('Simulated meter', `SIM-MTR-${meter.meter_id}`), [
    { model: models[203], make: (snapshot) => meterModel(site, snapshot, plant.counters) },
  ])
}

/** Model 203: a three-phase meter in wye at the grid connection. */
export function meterModel(site: Site, snapshot: SiteSnapshot, counters: Counters): Uint16Array {
  const pcs = (site.batteries ?? []).flatMap((battery) => battery.pcs)
  const rated_w =
    [...site.loggers, ...pcs].reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0) * 1000
  const power_w = snapshot.export_power_kw * 1000
  const { voltage_l1_l2_v: line_v, current_l1_a: current_a } = phasesAt(
    snapshot.export_power_kw,
    snapshot,
  )
  const { voltage_l1_n_v: phase_v } = toNeutral(snapshot)
  return encode(models[203], {
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
  })
}

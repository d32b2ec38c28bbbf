/**
 * A simulated power conversion system as a SunSpec map: models 701, 702, 704, 714 and 715. With
 * "124" in the battery's `model` of site.yaml, 103, 120 and 124 of the older family; with "123",
 * 103, 120, 121 and 123, and it delivers its limit. Power is positive towards the grid.
 */
import type { Pcs } from '@heliograph/domain/battery'
import { encode } from '@heliograph/domain/sunspec/codec'
import { classicInverter, derGridSide, pointsFrom } from '@heliograph/domain/sunspec/grid-side'
import { models } from '@heliograph/domain/sunspec/models'
import type { BatteryUnit } from '../batteries/batteries.ts'
import type { PcsSnapshot } from '../batteries/battery-snapshot.ts'
import type { PcsControl, PcsTold } from '../batteries/pcs-control.ts'
import {
  alarmWords,
  type Grid,
  phasesAt,
  temperaturesAt,
  toNeutral,
  unityPower,
} from '../grid-side.ts'
import { classicModel, identity, ratedCurrent, scaleFor } from './sunspec.ts'
import { beatAt } from './sunspec-battery.ts'
import { flag, type Part, sunspecUnit } from './sunspec-unit.ts'
import { type PlacedUnit, Refusal } from './unit.ts'

interface Now {
  unit: BatteryUnit
  pcs: Pcs
  control: PcsControl
  measured: PcsSnapshot
  grid: Grid
}

type Maker = (now: Now) => Uint16Array

/** `grid` returns the present state of the grid. */
export function pcsUnit(unit: BatteryUnit, pcs: Pcs, grid: () => Grid): PlacedUnit {
  const { connection, unit_id, base_address, pcs_idx } = pcs
  const nth = unit.battery.pcs.indexOf(pcs)
  const control = () => unit.state.controls[nth]!
  const served = sunspecUnit<Now, PcsTold>({
    base_address,
    parts: familyOf(unit),
    now: () => ({
      unit,
      pcs,
      control: control(),
      measured: unit.snapshot().pcs[nth]!,
      grid: grid(),
    }),
    version: () => `${unit.state.time_ms} ${unit.version}`,
    take: (place, word, told) =>
      writable[place]?.(word, { ...control(), ...told }, pcs.rated_power_kw * 1000),
    tell(told) {
      checkTold({ ...control(), ...told }, pcs)
      unit.tellPcs(pcs_idx, told)
    },
    isAway: () => unit.faults().some((fault) => isOf(fault, 'pcs_silent', pcs_idx)),
  })
  return { connection, unit_id, ...served }
}

function familyOf({ battery: { model = '' } }: BatteryUnit): readonly Part<Now>[] {
  if (model.includes('124')) return older
  return model.includes('123') ? limited : newer
}

const isOf = (fault: { kind: string; pcs_idx?: number }, kind: string, pcs_idx: number) =>
  fault.kind === kind && fault.pcs_idx === pcs_idx

function checkTold(control: PcsControl, { rated_power_kw }: Pcs): void {
  const rated_w = rated_power_kw * 1000
  const { setpoint_w, revert_w, bounds } = control
  const { out_pct, in_pct } = bounds
  if ([setpoint_w, revert_w].some((power_w) => Math.abs(power_w) > rated_w)) {
    throw new Refusal('illegal data value')
  }
  if (Math.abs(out_pct) > 100 || Math.abs(in_pct) > 100) throw new Refusal('illegal data value')
}

const common: Maker = ({ unit, pcs }) =>
  identity('Simulated PCS', `SIM-PCS-${unit.battery.bess_id}-${pcs.pcs_idx}`)

/** Allows for a surge. */
const powerScale = ({ rated_power_kw }: Pcs) => scaleFor(rated_power_kw * 1000 * 1.2)
const fault_bit = 2 ** 16
const derated_bit = 2 ** 14

function electric({ unit, pcs, measured, grid }: Now) {
  const load = Math.abs(measured.ac_power_kw) / pcs.rated_power_kw
  return {
    ...unityPower(measured.ac_power_kw),
    ...phasesAt(measured.ac_power_kw, grid),
    ...toNeutral(grid),
    ...temperaturesAt(unit.snapshot().ambient_temperature_c, load),
  }
}

const inv_st = { off: 0, standby: 7, starting: 2, running: 3, fault: 6 } as const
const st = { off: 1, standby: 8, starting: 3, running: 4, fault: 7 } as const

const measurement: Maker = (now) => {
  const { pcs, measured, unit } = now
  const electrical = electric(now)
  const { voltage_l1_l2_v, voltage_l1_n_v, current_l1_a } = electrical
  const { mode, is_throttled } = measured
  const scale = powerScale(pcs)
  return encode(models[701], {
    values: {
      ACType: 2,
      St: mode === 'off' || mode === 'fault' ? 0 : 1,
      ConnSt: mode === 'off' ? 0 : 1,
      InvSt: mode === 'running' && is_throttled ? 4 : inv_st[mode],
      Alrm: mode === 'fault' ? fault_bit : 0,
      DERMode: 1,
      ...pointsFrom(derGridSide, electrical),
      W_SF: scale,
      VA_SF: scale,
      Var_SF: scale,
      PF_SF: -2,
      A: 3 * current_l1_a,
      A_SF: scaleFor(ratedCurrent(pcs.rated_power_kw * 1000) * 4.5),
      LLV: voltage_l1_l2_v,
      LNV: voltage_l1_n_v,
      V_SF: -1,
      Hz_SF: -2,
      VL1L2: voltage_l1_l2_v,
      VL2L3: voltage_l1_l2_v,
      VL3L1: voltage_l1_l2_v,
      VL1: voltage_l1_n_v,
      VL2: voltage_l1_n_v,
      VL3: voltage_l1_n_v,
      AL1: current_l1_a,
      AL2: current_l1_a,
      AL3: current_l1_a,
      TotWhInj: Math.round(measured.injected_kwh * 1000),
      TotWhAbs: Math.round(measured.absorbed_kwh * 1000),
      TotWh_SF: 0,
      TmpAmb: unit.snapshot().ambient_temperature_c,
      Tmp_SF: -1,
      ThrotSrc: is_throttled ? derated_bit : 0,
      ThrotPct: is_throttled ? shortfall(now) : 0,
    },
  })
}

/** Missing power relative to the setpoint, percent of the rating. */
function shortfall({ control, measured, pcs }: Now): number {
  const missing_kw = Math.abs(control.setpoint_w / 1000 - measured.ac_power_kw)
  return Math.min(100, (100 * missing_kw) / pcs.rated_power_kw)
}

const ratings: Maker = ({ pcs }) => {
  const rated_w = pcs.rated_power_kw * 1000
  return encode(models[702], {
    values: {
      WMaxRtg: rated_w,
      WMax: rated_w,
      WChaRteMaxRtg: rated_w,
      WDisChaRteMaxRtg: rated_w,
      WChaRteMax: rated_w,
      WDisChaRteMax: rated_w,
      W_SF: powerScale(pcs),
    },
  })
}

const controls: Maker = ({ unit, control }) => {
  const { reverts_at_ms } = control
  const left_ms = reverts_at_ms === null ? 0 : reverts_at_ms - unit.now_ms()
  return encode(models[704], {
    values: {
      WMaxLimPctEna: 0,
      WSetEna: control.is_enabled ? 1 : 0,
      WSetMod: 1,
      WSet: control.setpoint_w,
      WSetRvrt: control.revert_w,
      WSet_SF: 0,
      WSetEnaRvrt: control.revert_enabled ? 1 : 0,
      WSetRvrtTms: control.revert_s,
      WSetRvrtRem: Math.max(0, Math.ceil(left_ms / 1000)),
    },
  })
}

const storage_port = 1

const port: Maker = ({ unit, measured, pcs }) => {
  const { dc_voltage_v } = unit.snapshot()
  const DCA = (measured.dc_power_kw * 1000) / Math.max(1, dc_voltage_v)
  const DCW = measured.dc_power_kw * 1000
  const most_a = (1500 * pcs.rated_power_kw) / Math.max(1, dc_voltage_v)
  return encode(models[714], {
    values: {
      PrtAlrms: 0,
      DCA,
      DCW,
      DCA_SF: scaleFor(most_a),
      DCV_SF: -1,
      DCW_SF: powerScale(pcs),
    },
    groups: [{ PrtTyp: storage_port, ID: 1, DCA, DCV: dc_voltage_v, DCW, DCAlrm: 0 }],
  })
}

const access: Maker = ({ unit, control }) => {
  const faults = unit.faults()
  return encode(models[715], {
    values: {
      LocRemCtl: faults.some(({ kind }) => kind === 'local_control') ? 1 : 0,
      DERHb: beatAt(faults, unit.now_ms()),
      ControllerHb: control.controller_beat,
    },
  })
}

const classic: Maker = (now) => {
  const { pcs, measured, unit } = now
  const { mode, is_throttled, dc_power_kw, injected_kwh } = measured
  const { dc_voltage_v } = unit.snapshot()
  const values = { ...electric(now), dc_voltage_v, dc_power_kw, ...alarmWords(mode === 'fault') }
  return classicModel(pcs.rated_power_kw * 1000, {
    ...pointsFrom(classicInverter, values),
    WH: Math.round(injected_kwh * 1000) % 2 ** 32,
    DCW_SF: powerScale(pcs),
    St: mode === 'running' && is_throttled ? 5 : st[mode],
  })
}

const storage_der = 82

const nameplate: Maker = ({ pcs }) => {
  const rated_w = pcs.rated_power_kw * 1000
  const scale = powerScale(pcs)
  return encode(models[120], {
    values: {
      DERTyp: storage_der,
      WRtg: rated_w,
      WRtg_SF: scale,
      MaxChaRte: rated_w,
      MaxChaRte_SF: scale,
      MaxDisChaRte: rated_w,
      MaxDisChaRte_SF: scale,
    },
  })
}

const bound_scale = -2
const charge_bit = 1
const discharge_bit = 2
const from_grid = 1

const storage: Maker = ({ unit, pcs, control }) => {
  const { bounds } = control
  const now = unit.snapshot()
  return encode(models[124], {
    values: {
      WChaMax: pcs.rated_power_kw * 1000,
      WChaMax_SF: powerScale(pcs),
      StorCtl_Mod:
        (bounds.charge_is_set ? charge_bit : 0) + (bounds.discharge_is_set ? discharge_bit : 0),
      ChaState: now.soc_pct,
      ChaState_SF: -2,
      InBatV: now.dc_voltage_v,
      InBatV_SF: -1,
      OutWRte: bounds.out_pct,
      InWRte: bounds.in_pct,
      InOutWRte_SF: bound_scale,
      InOutWRte_WinTms: 0,
      InOutWRte_RvrtTms: control.revert_s,
      ChaGriSet: from_grid,
    },
  })
}

const settings: Maker = ({ pcs }) =>
  encode(models[121], {
    values: { WMax: pcs.rated_power_kw * 1000, WMax_SF: powerScale(pcs) },
  })

const percent_scale = -1

const limit: Maker = ({ pcs, control }) => {
  const { is_enabled, setpoint_w, revert_s, reverts_at_ms } = control
  // After its timer expired there is no limit, and it delivers full power.
  const is_over = revert_s > 0 && reverts_at_ms === null
  return encode(models[123], {
    values: {
      Conn: 1,
      WMaxLimPct: setpoint_w / (10 * pcs.rated_power_kw),
      WMaxLimPct_SF: percent_scale,
      WMaxLim_Ena: is_enabled && !is_over ? 1 : 0,
      WMaxLimPct_WinTms: 0,
      WMaxLimPct_RvrtTms: revert_s,
    },
  })
}

const newer: readonly Part<Now>[] = [
  { model: models[1], make: common },
  { model: models[701], make: measurement },
  { model: models[702], make: ratings },
  { model: models[704], make: controls },
  { model: models[714], groups: 1, make: port },
  { model: models[715], make: access },
]
const classics: readonly Part<Now>[] = [
  { model: models[1], make: common },
  { model: models[103], make: classic },
  { model: models[120], make: nameplate },
]
const older: readonly Part<Now>[] = [...classics, { model: models[124], make: storage }]

const limited: readonly Part<Now>[] = [
  ...classics,
  { model: models[121], make: settings },
  { model: models[123], make: limit },
]

type Take = (word: number, control: PcsControl, rated_w: number) => Partial<PcsTold>

const signed = (word: number) => (word << 16) >> 16
const high = (word: number, value: number) => (word << 16) | (value & 0xffff)
const low = (word: number, value: number) => (value & ~0xffff) | word
const count = (value: number) => value >>> 0
const percent = (word: number) => signed(word) * 10 ** bound_scale

/**
 * By model and offset; the registers of a 32-bit value are written one by one. All others are
 * read-only.
 */
const writable: Readonly<Record<string, Take>> = {
  '704.22': (word) => ({ is_enabled: flag(word) }),
  '704.23': (word) => {
    // Setpoints in percent are not available.
    if (word !== 1) throw new Refusal('illegal data value')
    return {}
  },
  '704.24': (word, { setpoint_w }) => ({ setpoint_w: high(word, setpoint_w) }),
  '704.25': (word, { setpoint_w }) => ({ setpoint_w: low(word, setpoint_w) }),
  '704.26': (word, { revert_w }) => ({ revert_w: high(word, revert_w) }),
  '704.27': (word, { revert_w }) => ({ revert_w: low(word, revert_w) }),
  '704.30': (word) => ({ revert_enabled: flag(word) }),
  '704.31': (word, { revert_s }) => ({ revert_s: count(high(word, revert_s)) }),
  '704.32': (word, { revert_s }) => ({ revert_s: count(low(word, revert_s)) }),
  '715.5': (word, { controller_beat }) => ({ controller_beat: count(high(word, controller_beat)) }),
  '715.6': (word, { controller_beat }) => ({ controller_beat: count(low(word, controller_beat)) }),
  '124.5': (word, { bounds }) => ({
    bounds: {
      ...bounds,
      charge_is_set: (word & charge_bit) !== 0,
      discharge_is_set: (word & discharge_bit) !== 0,
    },
  }),
  '124.12': (word, { bounds }) => ({ bounds: { ...bounds, out_pct: percent(word) } }),
  '124.13': (word, { bounds }) => ({ bounds: { ...bounds, in_pct: percent(word) } }),
  '124.14': () => ({}),
  '124.15': (revert_s) => ({ revert_s }),
  '123.5': (word, _control, rated_w) => ({
    setpoint_w: (word * 10 ** percent_scale * rated_w) / 100,
  }),
  '123.6': () => ({}),
  '123.7': (revert_s, _control, rated_w) => ({ revert_s, revert_enabled: true, revert_w: rated_w }),
  '123.9': (word) => ({ is_enabled: flag(word) }),
}

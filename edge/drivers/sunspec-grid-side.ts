/** What SunSpec devices tell of their side to the grid, inverters and PCS alike. */
import type { Decoded } from '@heliograph/domain/sunspec/codec'
import type { models } from '@heliograph/domain/sunspec/models'

export type PointsOf<Id extends keyof typeof models> = Decoded<(typeof models)[Id]>['values']

export function kilo(value: number | null): number | null {
  return value === null ? null : value / 1000
}

export const classicGridSide = (points: PointsOf<103 | 113>) => ({
  ac_power_kw: kilo(points.W),
  reactive_power_kvar: kilo(points.VAr),
  apparent_power_kva: kilo(points.VA),
  power_factor: points.PF === null ? null : points.PF / 100,
  frequency_hz: points.Hz,
  voltage_l1_l2_v: points.PPVphAB,
  voltage_l2_l3_v: points.PPVphBC,
  voltage_l3_l1_v: points.PPVphCA,
  current_l1_a: points.AphA,
  current_l2_a: points.AphB,
  current_l3_a: points.AphC,
  cabinet_temperature_c: points.TmpCab,
  heatsink_temperature_c: points.TmpSnk,
  transformer_temperature_c: points.TmpTrns,
  alarm_1: points.Evt1,
  alarm_2: points.EvtVnd1,
  alarm_3: points.EvtVnd2,
  alarm_4: points.EvtVnd3,
  alarm_5: points.EvtVnd4,
})

export const derGridSide = (points: PointsOf<701>) => ({
  ac_power_kw: kilo(points.W),
  reactive_power_kvar: kilo(points.Var),
  apparent_power_kva: kilo(points.VA),
  power_factor: points.PF,
  frequency_hz: points.Hz,
  voltage_l1_l2_v: points.VL1L2,
  voltage_l2_l3_v: points.VL2L3,
  voltage_l3_l1_v: points.VL3L1,
  current_l1_a: points.AL1,
  current_l2_a: points.AL2,
  current_l3_a: points.AL3,
  cabinet_temperature_c: points.TmpCab,
  heatsink_temperature_c: points.TmpSnk,
  transformer_temperature_c: points.TmpTrns,
  alarm_1: points.Alrm,
})

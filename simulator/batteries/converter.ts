/**
 * Losses of a power conversion system. Power in kW, positive towards the grid.
 *
 * Formula: G. Notton et al., Renewable Energy 35(2), 2010: a constant loss while running, and one
 * that grows with the square of the power. Coefficients: measured on a Sungrow SC1000TL in a
 * battery for frequency reserve (F. Müller, thesis, TU Munich; published with SimSES).
 */
const charging = { running: 0.007702, square: 0.017291 }
const discharging = { running: 0.005512, square: 0.018773 }

/** Consumption in standby, relative to its rating. Our choice. */
const standby_ratio = 0.0002

export const standbyLoss = (rated_kw: number): number => standby_ratio * rated_kw

export function conversionLoss(ac_power_kw: number, rated_kw: number): number {
  const { running, square } = ac_power_kw < 0 ? charging : discharging
  const load = ac_power_kw / rated_kw
  return rated_kw * (running + square * load * load)
}

/** AC power at a DC power, which is positive when discharging. */
export function acPowerAt(dc_power_kw: number, rated_kw: number): number {
  const dc = dc_power_kw / rated_kw
  const ofDirection = ({ running, square }: typeof charging) =>
    ((Math.sqrt(Math.max(0, 1 + 4 * square * (dc - running))) - 1) / (2 * square)) * rated_kw
  const delivered_kw = ofDirection(discharging)
  return delivered_kw >= 0 ? delivered_kw : Math.min(0, ofDirection(charging))
}

export const dcPowerAt = (ac_power_kw: number, rated_kw: number): number =>
  ac_power_kw + conversionLoss(ac_power_kw, rated_kw)

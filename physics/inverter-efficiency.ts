interface PvwattsInverter {
  /** Direct current power at which the alternating current rating is reached, above 0. */
  rated_dc_w: number
  /** Efficiency at that power, 0 to 1. */
  nominal_efficiency_ratio: number
}

/** Efficiency of the inverter from which the curve was taken. */
const reference_efficiency_ratio = 0.9637

/**
 * Alternating current power of an inverter, in the unit of `dc_w` (W). A. P. Dobos, "PVWatts
 * Version 5 Manual", NREL/TP-6A20-62641, 2014, the inverter model.
 * Held to the rating, nominal efficiency * rated dc, above which an inverter clips; 0 where its own
 * consumption exceeds the input (below about 0.6 percent of the rating) and for a rating of 0.
 */
export function pvwattsAcPower(dc_w: number, inverter: PvwattsInverter): number {
  const { rated_dc_w, nominal_efficiency_ratio } = inverter
  if (dc_w <= 0 || rated_dc_w <= 0) return 0
  const load = dc_w / rated_dc_w
  // The curve by the load, so that no load, however small, divides.
  const curve = load * (0.9858 - 0.0162 * load) - 0.0059
  const rated_ac_w = nominal_efficiency_ratio * rated_dc_w
  const ac_w = (rated_ac_w / reference_efficiency_ratio) * curve
  // Far above the rating the curve bends down again; an inverter there still clips.
  return load >= 1 ? rated_ac_w : Math.min(rated_ac_w, Math.max(0, ac_w))
}

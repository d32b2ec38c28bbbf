/**
 * Ageing of cells: loss of capacity and rise of resistance, by time (temperature, state of charge)
 * and by use (depth and rate of cycles).
 */
import { zero_c_in_k } from '@heliograph/physics/cell-curves'

/** Relative to a new cell; 0 for a new one. */
export interface Ageing {
  calendar_fade: number
  cycle_fade: number
  resistance_growth: number
}

interface HalfCycle {
  depth: number
  /** Mean rate, multiples of the capacity per hour. */
  rate_per_h: number
  mean_v: number
}

interface Rest {
  seconds: number
  soc: number
  temperature_c: number
  open_circuit_v: number
}

interface AgeingLaw {
  rest(ageing: Ageing, rest: Rest): Ageing
  cycle(ageing: Ageing, cycle: HalfCycle): Ageing
}

const gas_j_per_mol_k = 8.3144598
const reference_k = 298.15

const arrhenius = (activation_j_per_mol: number, temperature_c: number): number =>
  Math.exp(
    (-activation_j_per_mol / gas_j_per_mol_k) *
      (1 / (temperature_c + zero_c_in_k) - 1 / reference_k),
  )

/** Continues growth with a root of time from its present value at the present stress. */
function onByRoot(so_far: number, stress: number, more: number, exponent = 0.5): number {
  if (stress <= 0) return so_far
  return stress * ((so_far / stress) ** (1 / exponent) + more) ** exponent
}

/**
 * M. Naumann et al., "Analysis and modeling of calendar aging of a commercial LiFePO4/graphite
 * cell", Journal of Energy Storage 17, 2018, and "... of cycle aging ...", Journal of Power Sources
 * 451, 2020. Time in seconds, cycles as full equivalents.
 */
const lfp: AgeingLaw = {
  rest(ageing, { seconds, soc, temperature_c }) {
    const by_soc = 2.8575 * (soc - 0.5) ** 3 + 0.60225
    const fade = 1.2571e-5 * arrhenius(17_126, temperature_c) * by_soc
    const growth_by_soc = -3.3903 * (soc - 0.5) ** 2 + 1.5604
    const growth = 3.4194e-10 * arrhenius(71_827, temperature_c) * growth_by_soc
    return {
      ...ageing,
      calendar_fade: onByRoot(ageing.calendar_fade, fade, seconds),
      resistance_growth: ageing.resistance_growth + growth * seconds,
    }
  },
  cycle(ageing, { depth, rate_per_h }) {
    const cycles = depth / 2
    const fade = (0.063 * rate_per_h + 0.0971) * (4.0253 * (depth - 0.6) ** 3 + 1.0923)
    const growth = (-0.002 * rate_per_h + 0.0021) * (6.8477 * (depth - 0.5) ** 3 + 0.9182)
    return {
      ...ageing,
      cycle_fade: onByRoot(ageing.cycle_fade, fade / 100, cycles),
      resistance_growth: ageing.resistance_growth + (Math.max(0, growth) * cycles) / 100,
    }
  },
}

/** Capacity of the cell of the paper, whose law counts throughput. */
const nmc_cell_ah = 2.05
const day_s = 86_400

/**
 * J. Schmalstieg et al., "A holistic aging model for Li(NiMnCo)O2 based 18650 lithium-ion
 * batteries", Journal of Power Sources 257, 2014. Time in days to the power of 0.75, throughput in
 * Ah to that of 0.5 for the capacity and of 1 for the resistance.
 */
const nmc: AgeingLaw = {
  rest(ageing, { seconds, temperature_c, open_circuit_v }) {
    const temperature_k = temperature_c + zero_c_in_k
    const fade = (7.543 * open_circuit_v - 23.75) * 1e6 * Math.exp(-6976 / temperature_k)
    const growth = (5.27 * open_circuit_v - 16.32) * 1e5 * Math.exp(-5986 / temperature_k)
    const days = seconds / day_s
    return {
      ...ageing,
      calendar_fade: onByRoot(ageing.calendar_fade, fade, days, 0.75),
      resistance_growth: onByRoot(ageing.resistance_growth, growth, days, 0.75),
    }
  },
  cycle(ageing, { depth, mean_v }) {
    const fade = 7.348e-3 * (mean_v - 3.667) ** 2 + 7.6e-4 + 4.081e-3 * depth
    const growth = 2.153e-4 * (mean_v - 3.725) ** 2 - 1.521e-5 + 2.798e-4 * depth
    const throughput_ah = depth * nmc_cell_ah
    return {
      ...ageing,
      cycle_fade: onByRoot(ageing.cycle_fade, fade, throughput_ah),
      resistance_growth: ageing.resistance_growth + Math.max(0, growth) * throughput_ah,
    }
  },
}

export const ageingLaws = { lfp, nmc } as const

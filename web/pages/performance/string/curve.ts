export interface Knees {
  i_sc_a: number
  v_oc_v: number
  i_mp_a: number
  v_mp_v: number
}

/**
 * The curve through short circuit, maximum power and open circuit, as volt and ampere: the explicit
 * form I = Isc (1 - C1 (exp(V / (C2 Voc)) - 1)), which is exact in the three points.
 */
export function curveOf({ i_sc_a, v_oc_v, i_mp_a, v_mp_v }: Knees, count: number) {
  const c2 = (v_mp_v / v_oc_v - 1) / Math.log(1 - i_mp_a / i_sc_a)
  const c1 = (1 - i_mp_a / i_sc_a) * Math.exp(-v_mp_v / (c2 * v_oc_v))
  return Array.from({ length: count + 1 }, (_, nth): [number, number] => {
    const volt = (v_oc_v * nth) / count
    return [volt, Math.max(0, i_sc_a * (1 - c1 * (Math.exp(volt / (c2 * v_oc_v)) - 1)))]
  })
}

/** Units by the suffix of a field name. The longest matching suffix applies. */
const units: Readonly<Record<string, string>> = {
  w: 'W',
  kw: 'kW',
  kw_s: 'kW/s',
  kwh: 'kWh',
  kwp: 'kWp',
  wp: 'Wp',
  kva: 'kVA',
  kvar: 'kvar',
  kvarh: 'kvarh',
  kwh_kwp: 'kWh/kWp',
  kwh_year: 'kWh/a',
  v: 'V',
  kv: 'kV',
  mv: 'mV',
  a: 'A',
  ah: 'Ah',
  hz: 'Hz',
  ohm: 'Ω',
  kohm: 'kΩ',
  c: '°C',
  k: 'K',
  a_per_c: 'A/°C',
  v_per_c: 'V/°C',
  pct_per_c: '%/°C',
  w_m2: 'W/m²',
  kwh_m2: 'kWh/m²',
  m: 'm',
  m2: 'm²',
  km: 'km',
  mm: 'mm',
  m_s: 'm/s',
  hpa: 'hPa',
  deg: '°',
  pct: '%',
  pct_c: '%/°C',
  pct_per_day: '%/d',
  pct_of_rated: '%',
  ratio: '1',
  ms: 'ms',
  s: 's',
  min: 'min',
  minutes: 'min',
  h: 'h',
  hours: 'h',
  days: 'd',
  bytes: 'B',
  amount: 'currency',
  amount_year: 'currency/a',
  per_mwh: 'currency/MWh',
}

export function unitOf(name: string): string | null {
  const words = name.split('_')
  for (let from = 1; from < words.length; from += 1) {
    const unit = units[words.slice(from).join('_')]
    if (unit !== undefined) return unit
  }
  return null
}

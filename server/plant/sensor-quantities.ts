/** Quantity and unit of each measured column of a met station. */
export const sensorQuantities = {
  poa_irradiance_w_m2: { quantity: 'poa_irradiance', unit: 'W/m²' },
  ghi_w_m2: { quantity: 'ghi', unit: 'W/m²' },
  dhi_w_m2: { quantity: 'dhi', unit: 'W/m²' },
  module_temperature_c: { quantity: 'module_temperature', unit: '°C' },
  ambient_temperature_c: { quantity: 'ambient_temperature', unit: '°C' },
  relative_humidity_pct: { quantity: 'relative_humidity', unit: '%' },
  pressure_hpa: { quantity: 'pressure', unit: 'hPa' },
  wind_speed_m_s: { quantity: 'wind_speed', unit: 'm/s' },
  wind_direction_deg: { quantity: 'wind_direction', unit: '°' },
  rain_mm: { quantity: 'rain', unit: 'mm' },
} as const

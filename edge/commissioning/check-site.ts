/** Devices of a site against each other, and met stations against the clear sky. */
import type { Instrument, Meter, Site } from '@heliograph/domain/site'
import { clearSkyIrradiance } from '@heliograph/physics/clear-sky'
import {
  extraterrestrialDni,
  type SolarPosition,
  solarPosition,
} from '@heliograph/physics/solar-position'
import { type CheckedDevice, loaded_part, numberOf } from './checked-device.ts'
import type { SiteDevice } from './site-devices.ts'
import { judged, type TestRow, without } from './test-row.ts'

/** Frequencies are read within seconds of one another. */
const frequency_hz_max = 0.1
/** The meter against the inverters: errors of both, cables and transformers, and of the instant. */
const more_part = 0.05
const less_part = 0.1
/** Edges of clouds reflect beside the sun. */
const enhancement_max = 1.5
/** Below the darkest clouds; covered or dirty, or not a measurement. */
const clear_sky_part_min = 0.02
/** Offset of a pyranometer at night. */
const night_w_m2_max = 20
const night_elevation_deg = -6
/** Lower, trees and hills decide. */
const day_elevation_deg = 10

export function checkSite(site: Site, devices: readonly CheckedDevice[], now_ms: number) {
  const rows: TestRow[] = [
    ...checkFrequencies(devices),
    ...(site.meters ?? []).flatMap((meter) => checkMeter(site, meter, devices)),
    ...devices.flatMap((device) => checkIrradiance(site, device, now_ms)),
    ...checkSerials(devices),
    without('not_judged', null, 'clocks of devices', 'no clock of a device is read'),
  ]
  return rows
}

function checkFrequencies(devices: readonly CheckedDevice[]): TestRow[] {
  const measured = devices.flatMap((device) => {
    const frequency_hz = numberOf(device, 'frequency_hz')
    return frequency_hz === null || frequency_hz === 0 ? [] : [{ device, frequency_hz }]
  })
  if (measured.length < 2) return []
  const sorted = measured.map(({ frequency_hz }) => frequency_hz).toSorted((a, b) => a - b)
  const median_hz = sorted[Math.floor(sorted.length / 2)]!
  return measured.map(({ device, frequency_hz }) =>
    judged({
      device: device.of.name,
      test: 'frequency against the other devices',
      measured: frequency_hz,
      unit: 'Hz',
      min: median_hz - frequency_hz_max,
      max: median_hz + frequency_hz_max,
    }),
  )
}

/** The meter of the grid connection or of a plant against what is behind it. */
function checkMeter(site: Site, meter: Meter, devices: readonly CheckedDevice[]): TestRow[] {
  const { name, role, logger_id } = meter
  if (role !== 'grid_connection' && role !== 'plant') return []
  const test = 'power of the meter against the sum of inverters'
  const unknown = (reason: string) => [without('not_judged', name, test, reason)]
  const measured_kw = devices
    .filter(({ of }) => of.device === meter)
    .map((device) => numberOf(device, 'active_power_kw'))[0]
  if (typeof measured_kw !== 'number') return unknown('the meter has no power')
  const plants = site.loggers.filter(
    (one) => logger_id === undefined || one.logger_id === logger_id,
  )
  const inverters = new Set<unknown>(plants.flatMap((one) => one.inverters))
  const pcs = new Set<unknown>(
    (site.batteries ?? [])
      .filter((one) => logger_id === undefined || one.logger_id === logger_id)
      .flatMap((one) => one.pcs),
  )
  const sources = devices.filter(({ of }) => inverters.has(of.device) || pcs.has(of.device))
  const powers = sources.map((device) => numberOf(device, 'ac_power_kw'))
  const silent = powers.indexOf(null)
  if (silent >= 0) return unknown(`${sources[silent]!.of.name} has no power`)
  const sum_kw = powers.reduce<number>((sum, power_kw) => sum + power_kw!, 0)
  const rated_kw = plants
    .flatMap((one) => one.inverters)
    .reduce((sum, { rated_ac_power_kw }) => sum + rated_ac_power_kw, 0)
  if (Math.abs(sum_kw) < loaded_part * rated_kw) return unknown('the power is too low to compare')
  const row = judged({
    device: name,
    test,
    measured: measured_kw,
    unit: 'kW',
    min: sum_kw - less_part * Math.abs(sum_kw),
    max: sum_kw + more_part * Math.abs(sum_kw),
    reason: `the inverters deliver ${sum_kw.toFixed(1)} kW: check sign, transformer ratio and phases`,
  })
  const is_opposite = Math.abs(measured_kw + sum_kw) <= less_part * Math.abs(sum_kw)
  if (row.result === 'passed' || role === 'plant' || is_opposite) return [row]
  if (measured_kw > sum_kw) return [row]
  const reason =
    `${(sum_kw - measured_kw).toFixed(1)} kW are consumed on site, or the meter is wrong: ` +
    'compare with the loads'
  return [{ ...row, result: 'not_judged', reason }]
}

function checkIrradiance(site: Site, { of, read }: CheckedDevice, now_ms: number): TestRow[] {
  if (of.kind !== 'station' || !read) return []
  return of.device.instruments.flatMap((instrument): TestRow[] => {
    const measured = read.values[instrument.point]
    if (!/^(poa_irradiance|ghi)_w_m2$/.test(instrument.quantity)) return []
    if (typeof measured !== 'number') return []
    const test = `${instrument.point} against the clear sky`
    if (site.latitude === 0 && site.longitude === 0) {
      return [without('not_judged', of.name, test, 'site.yaml has no latitude and longitude')]
    }
    const sun = solarPosition(now_ms, site.latitude, site.longitude)
    const at = { device: of.name, test, measured, unit: 'W/m²' }
    if (sun.elevation_deg < night_elevation_deg) {
      return [judged({ ...at, min: -night_w_m2_max, max: night_w_m2_max, reason: 'it is night' })]
    }
    if (sun.elevation_deg < day_elevation_deg) {
      return [without('not_judged', of.name, test, 'the sun is low')]
    }
    const clear_w_m2 = clearSky(site, instrument, sun)
    if (clear_w_m2 === null) {
      return [without('not_judged', of.name, test, 'site.yaml has no tilt and azimuth of it')]
    }
    return [
      judged({
        ...at,
        min: clear_sky_part_min * clear_w_m2,
        max: enhancement_max * clear_w_m2,
        reason: `a clear sky gives ${clear_w_m2.toFixed(0)} W/m²`,
      }),
    ]
  })
}

/** Usual turbidity of a temperate climate. */
const linke_turbidity = 3
const sea_level_pa = 101_325
const ground_albedo = 0.2
const degree = Math.PI / 180

/** In the plane of the instrument, with an even sky; null for a plane that is not known. */
function clearSky(site: Site, instrument: Instrument, sun: SolarPosition): number | null {
  const altitude_m = site.elevation_m ?? 0
  const { ghi_w_m2, dni_w_m2, dhi_w_m2 } = clearSkyIrradiance({
    apparent_zenith_deg: sun.apparent_zenith_deg,
    linke_turbidity,
    altitude_m,
    pressure_pa: sea_level_pa * Math.exp(-altitude_m / 8434),
    dni_extra_w_m2: extraterrestrialDni(sun.distance_au),
  })
  if (instrument.quantity === 'ghi_w_m2') return ghi_w_m2
  const { tilt_deg, azimuth_deg } = instrument
  if (tilt_deg === undefined || (azimuth_deg === undefined && tilt_deg > 0)) return null
  const tilt = tilt_deg * degree
  const zenith = sun.apparent_zenith_deg * degree
  const turned = (sun.azimuth_deg - (azimuth_deg ?? 0)) * degree
  const cos_incidence =
    Math.cos(zenith) * Math.cos(tilt) + Math.sin(zenith) * Math.sin(tilt) * Math.cos(turned)
  const sky = dhi_w_m2 * ((1 + Math.cos(tilt)) / 2)
  const ground = ground_albedo * ghi_w_m2 * ((1 - Math.cos(tilt)) / 2)
  return dni_w_m2 * Math.max(0, cos_incidence) + sky + ground
}

/** A device that answers at two addresses is in the site file twice. */
function checkSerials(devices: readonly CheckedDevice[]): TestRow[] {
  const named = devices.filter(({ read }) => read?.identity.serial_number)
  const by_serial = Map.groupBy(
    named.filter(({ of }) => of.kind === 'inverter' || of.kind === 'meter'),
    ({ read }) => `${read!.identity.manufacturer} ${read!.identity.serial_number}`,
  )
  return [...by_serial.values()].flatMap(([first, ...others]) => {
    // A meter that is read through an inverter shows the serial number of that.
    const elsewhere = others.filter(({ of }) => !isAtUnitOf(of, first!.of))
    return elsewhere.map(({ of }) =>
      without('failed', of.name, 'serial number', `it is that of ${first!.of.name}`),
    )
  })
}

const isAtUnitOf = (one: SiteDevice, other: SiteDevice): boolean =>
  one.connection === other.connection && one.unit_id === other.unit_id

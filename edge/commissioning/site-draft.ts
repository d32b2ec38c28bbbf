/**
 * The text of a `site.yaml` with the devices of a scan. The edge accepts it as it is; what only a
 * person knows is marked `# fill in:`.
 */
import type { Connection, Instrument } from '@heliograph/domain/site'
import type { DeviceFacts, DeviceKind } from './found-device.ts'
import type { FoundDevice, ScanResult } from './scan.ts'

/** Of an inverter that does not report it: too much, as too little would promise too much. */
const rated_kw_assumed = 1000

type Known = FoundDevice & { driver: string; facts: DeviceFacts }

const instrument_types: Readonly<Record<Instrument['quantity'], Instrument['type']>> = {
  poa_irradiance_w_m2: 'pyranometer',
  ghi_w_m2: 'pyranometer',
  dhi_w_m2: 'pyranometer',
  module_temperature_c: 'module_thermometer',
  ambient_temperature_c: 'thermometer',
  relative_humidity_pct: 'hygrometer',
  pressure_hpa: 'barometer',
  wind_speed_m_s: 'anemometer',
  wind_direction_deg: 'wind_vane',
  rain_mm: 'rain_gauge',
}

interface Written {
  at: Date
  timezone: string
}

export function siteDraft({ devices, notes }: ScanResult, { at, timezone }: Written): string {
  const known = devices.filter(isKnown)
  const of = (kind: DeviceKind) => known.filter((one) => kindOf(one) === kind)
  const inverters = of('inverter')
  // An inverter may have the registers of a meter too.
  const meters = known.filter(({ facts }) => facts.kinds.includes('meter'))
  const alone = meters.filter(({ facts }) => facts.kinds.length === 1)
  const stations = of('station').filter(({ facts }) => facts.instruments.length > 0)
  const plants = plantsOf({ controllers: of('controller'), inverters, stations })
  const controllers = plants.flatMap(({ controller }) => controller ?? [])
  const written = [...controllers, ...inverters, ...meters, ...stations]
  const whole = [...controllers, ...inverters, ...stations, ...alone]
  const left = devices.filter((one) => !whole.some((other) => other === one))
  return [
    `# Written by heliograph-edge scan, ${at.toISOString()}. Go through each "fill in", and through`,
    '# the list at the end; then start the edge.',
    'site_id: my-site # fill in: small letters, digits and -, never changed again',
    'name: My site # fill in: the name of the site',
    `timezone: ${timezone} # fill in: if the site is elsewhere`,
    'country_code: XX # fill in: two letters, such as DE',
    'latitude: 0 # fill in: degrees north',
    'longitude: 0 # fill in: degrees east',
    '',
    'locations: []',
    '',
    'panel_models:',
    '  - params_id: 1',
    '    name: Panel # fill in: the model of the panels, and one entry for each further model',
    '    manufacturer: Unknown # fill in: its maker',
    '    technology: mono_c_si # fill in: its technology',
    '    power_stc_w: 400 # fill in: its rated power',
    '',
    ...list('connections', connectionsOf(written).map(connectionText)),
    '',
    'loggers:',
    '  # fill in: one entry for each plant, with its inverters and met stations.',
    ...plants.flatMap((plant, nth) => plantText(plant, nth + 1, { inverters, stations })),
    '',
    ...(meters.length > 0
      ? [
          ...list(
            'meters',
            meters.map((one, nth) => meterText(one, nth + 1)),
          ),
          '',
        ]
      : []),
    ...leftText(left, notes),
  ].join('\n')
}

const isKnown = (device: FoundDevice): device is Known =>
  device.driver !== null && device.facts !== null

/** The entry of `site.yaml` that a unit gets, beside that of its meter. */
const kindOf = ({ facts }: Known): DeviceKind | undefined =>
  (['controller', 'inverter', 'station'] as const).find((kind) => facts.kinds.includes(kind))

interface Plant {
  controller: Known | null
  inverters: readonly Known[]
  stations: readonly Known[]
}

/**
 * A controller limits the inverters of its own connection, which are a plant. All others are one
 * plant, and so are stations without an inverter beside them.
 */
function plantsOf(found: {
  controllers: readonly Known[]
  inverters: readonly Known[]
  stations: readonly Known[]
}): Plant[] {
  const idOf = ({ connection }: Known) => connection.connection_id
  const controllers = new Map(found.controllers.map((one) => [idOf(one), one]))
  const inverters = Map.groupBy(found.inverters, (one) => controllers.get(idOf(one)) ?? null)
  const [first = null] = inverters.has(null) ? [] : inverters.keys()
  const stations = Map.groupBy(found.stations, (one) => {
    const controller = controllers.get(idOf(one))
    return controller && inverters.has(controller) ? controller : first
  })
  return [...new Set([...inverters.keys(), first])].map((controller) => ({
    controller,
    inverters: inverters.get(controller) ?? [],
    stations: stations.get(controller) ?? [],
  }))
}

type Numbered = Pick<Plant, 'inverters' | 'stations'>

/** @param all the inverters and stations of all plants, which are numbered through */
function plantText({ controller, inverters, stations }: Plant, id: number, all: Numbered) {
  const rated_kw = inverters.reduce((sum, one) => sum + ratedOf(one), 0)
  const inverter_texts = inverters.map((one) => inverterText(one, all.inverters.indexOf(one) + 1))
  const station_texts = stations.map((one) => stationText(one, all.stations.indexOf(one) + 1))
  return [
    `  - logger_id: ${id}`,
    `    name: Plant ${id} # fill in: the name of the plant`,
    `    rated_power_kw: ${rated_kw || 1} # fill in: the power of the plant; this is the sum`,
    ...(controller
      ? [
          '    # fill in: leave the controller out to limit the inverters one by one.',
          '    controller:',
          ...addressText(controller).map((line) => `      ${line}`),
        ]
      : []),
    ...list('inverters', inverter_texts).map(indent),
    ...(stations.length > 0 ? list('stations', station_texts).map(indent) : []),
  ]
}

const ratedOf = ({ facts }: Known): number => facts.rated_kw ?? rated_kw_assumed

function list(name: string, entries: readonly (readonly string[])[]): string[] {
  if (entries.length === 0) return [`${name}: []`]
  return [`${name}:`, ...entries.flatMap((lines) => lines.map((line, nth) => entry(line, nth)))]
}

const entry = (line: string, nth: number): string => (nth === 0 ? `  - ${line}` : `    ${line}`)
const indent = (line: string): string => `    ${line}`
/** A text in YAML's double quotes, which are JSON's. */
const quoted = (text: string): string => JSON.stringify(text)

function connectionsOf(devices: readonly Known[]): Connection[] {
  const all = new Map(devices.map(({ connection }) => [connection.connection_id, connection]))
  return [...all.values()]
}

const connectionText = (connection: Connection): string[] => [
  `{ ${Object.entries(connection)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? quoted(value) : value}`)
    .join(', ')} }`,
]

function addressText({ connection, unit_id, driver, others }: Known): string[] {
  const also = others.length > 0 ? ` # or: ${others.join(', ')}` : ''
  return [
    `connection: ${quoted(connection.connection_id)}`,
    `unit_id: ${unit_id}`,
    `driver: ${driver}${also}`,
  ]
}

function identityText({ facts }: Known): string[] {
  return (['manufacturer', 'model', 'serial_number'] as const).flatMap((name) => {
    const value = facts.identity[name]
    return value === null ? [] : [`${name}: ${quoted(value)}`]
  })
}

const titled = ({ facts }: Known, kind: string, id: number): string =>
  quoted([facts.identity.manufacturer, kind, id].filter((part) => part !== null).join(' '))

function inverterText(device: Known, id: number): string[] {
  const { rated_kw } = device.facts
  const rated = `rated_ac_power_kw: ${ratedOf(device)}`
  return [
    `inverter_id: ${id}`,
    `name: ${titled(device, 'inverter', id)}`,
    ...identityText(device),
    rated_kw === null
      ? `${rated} # fill in: from the nameplate. Without it no limit is right`
      : rated,
    ...addressText(device),
    'string_groups:',
    ...stringsText(device.facts),
  ]
}

/** Strings and MPPTs as far as the device reports them. */
function stringsText({ strings, mppts }: DeviceFacts): string[] {
  const count = strings ?? mppts ?? 1
  const per_mppt = strings && mppts ? Math.ceil(strings / mppts) : 1
  const reported = strings && mppts && strings % mppts === 0
  const what = reported ? 'modules and orientation' : `strings, MPPTs, modules and orientation`
  return [
    `  # fill in: ${what}; one group for each kind of string.`,
    `  - { strings: ${count}, strings_per_mppt: ${per_mppt}, module_count: 20, params_id: 1, ` +
      'azimuth_deg: 180, tilt_deg: 20, orientation_assumed: true }',
  ]
}

function meterText(device: Known, id: number): string[] {
  return [
    `meter_id: ${id}`,
    `name: ${titled(device, 'meter', id)}`,
    'role: other # fill in: grid_connection, plant, auxiliary or other',
    ...identityText(device),
    ...addressText(device),
  ]
}

function stationText(device: Known, id: number): string[] {
  return [
    `station_id: ${id}`,
    `name: ${titled(device, 'met station', id)}`,
    ...identityText(device),
    ...addressText(device),
    'instruments:',
    '  # fill in: type, quantity (poa_irradiance_w_m2 or ghi_w_m2?) and tilt of each.',
    ...device.facts.instruments.flatMap(({ point, quantity }) => [
      `  - sensor_id: ${quoted(point)}`,
      `    name: ${quoted(point)}`,
      `    type: ${instrument_types[quantity]}`,
      `    quantity: ${quantity}`,
      `    point: ${quoted(point)}`,
    ]),
  ]
}

/** What answers and is in no entry, and what the scan came not to. */
function leftText(devices: readonly FoundDevice[], notes: readonly string[]): string[] {
  const lines = [...devices.map(leftDevice), ...notes]
  if (lines.length === 0) return []
  return ['# fill in, where it belongs to the site:', ...lines.map((line) => `# - ${line}`), '']
}

export function leftDevice({ connection, unit_id, driver, others, facts }: FoundDevice): string {
  const place = `${connection.connection_id}, unit ${unit_id}`
  if (driver === null) {
    if (others.length === 0) return `${place}: answers, and no driver recognises it`
    return `${place}: is either of ${others.join(', ')}: choose the driver`
  }
  const { manufacturer, model } = facts?.identity ?? { manufacturer: null, model: null }
  const name = [manufacturer, model].filter((part) => part !== null).join(' ')
  const kinds = facts?.kinds.join(' and ') || 'device'
  return `${place}: ${kinds} ${name}, driver ${driver}`
}

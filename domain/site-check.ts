/**
 * Checks that a schema cannot express: unique ids, valid references, unique addresses, combiners
 * with existing strings, and instruments at registers of a met station.
 */
import type { Battery, Pcs } from './battery.ts'
import { knownTimezone } from './local-day.ts'
import type { Node } from './node.ts'
import { missingOfCircuit, type PanelModel } from './panel-model.ts'
import { array_length_max } from './readings.ts'
import type { Connection, Instrument, Inverter, Logger, Site } from './site.ts'
import { stationPoint, stationPointNames } from './sunspec/station-points.ts'

export type SitePath = readonly (string | number)[]

/** A problem and the path of the field to change: `['loggers', 0, 'inverters', 2, 'unit_id']`. */
export interface SiteProblem {
  path: SitePath
  message: string
}

interface Placed<Of> {
  value: Of
  path: SitePath
}

interface Addressed {
  connection: string
  unit_id: number
  name?: string
  driver?: string
}

/** All problems of a site that its schema accepts, in the order of the checks. */
export function checkSite(site: Site): SiteProblem[] {
  return [...checkInventory(site), ...checkDevices(site)]
}

type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never

/** The lists of this name in each of `owners`, as one. */
function within<Of, Name extends keyof Of & string>(owners: readonly Placed<Of>[], name: Name) {
  return owners.flatMap(({ value, path }) =>
    placed(value[name] as readonly ItemOf<Of[Name]>[] | undefined, [...path, name]),
  )
}

function listsOf(site: Site) {
  const loggers = placed(site.loggers, ['loggers'])
  const inverters = within(loggers, 'inverters')
  const combiners = within(inverters, 'combiners')
  const stations = within(loggers, 'stations')
  const meters = placed(site.meters, ['meters'])
  const batteries = placed(site.batteries, ['batteries'])
  const devices: Placed<Addressed>[] = [
    ...controllersOf(loggers),
    ...inverters,
    ...combiners,
    ...stations,
    ...meters,
    ...batteries.flatMap(batteryUnits),
  ]
  return { loggers, inverters, combiners, stations, meters, batteries, devices }
}

/** Problems that only the edge decides on, as it reads the devices. A newer edge may know more. */
function checkDevices(site: Site): SiteProblem[] {
  const { stations, batteries, devices } = listsOf(site)
  const sunspec_stations = stations.filter(({ value }) => value.driver === 'sunspec')
  return [
    ...checkSerialPorts(site),
    ...checkAddresses(devices, site.connections),
    ...within(sunspec_stations, 'instruments').flatMap(checkPoint),
    ...checkBroker(site),
    ...checkCentres(site),
    ...checkRelays(site),
    ...within(batteries, 'pcs').flatMap(checkPcs),
  ]
}

/** Problems of an inventory: ids, references, and values that contradict each other. */
export function checkInventory(site: Site): SiteProblem[] {
  const { loggers, inverters, combiners, stations, meters, batteries, devices } = listsOf(site)
  const nodes = placed(site.nodes, ['nodes'])
  const locations = placed(site.locations, ['locations'])
  const models = placed(site.panel_models, ['panel_models'])
  const connections = placed(site.connections, ['connections'])
  const logger_ids = new Set(loggers.map(({ value }) => value.logger_id))
  return [
    ...checkTimezone(site.timezone),
    ...duplicates(loggers, 'logger_id'),
    ...duplicates(inverters, 'inverter_id'),
    ...duplicates(combiners, 'combiner_id'),
    ...duplicates(stations, 'station_id'),
    ...duplicates(meters, 'meter_id'),
    ...duplicates(nodes, 'node_id'),
    ...duplicates(nodes, 'node_number'),
    ...duplicates(batteries, 'bess_id'),
    ...batteries.flatMap((one) => duplicates(within([one], 'pcs'), 'pcs_idx')),
    ...duplicates(locations, 'location_id'),
    ...duplicates(models, 'params_id'),
    ...duplicates(connections, 'connection_id'),
    ...stations.flatMap((one) => duplicates(within([one], 'instruments'), 'sensor_id')),
    ...unknown(
      within(inverters, 'string_groups'),
      'params_id',
      new Set(models.map(({ value }) => value.params_id)),
    ),
    ...unknown(devices, 'connection', new Set(connections.map((c) => c.value.connection_id))),
    ...unknown(meters, 'logger_id', logger_ids),
    ...unknown(nodes, 'logger_id', logger_ids),
    ...unknown(batteries, 'logger_id', logger_ids),
    ...checkLocations(site, [...loggers, ...inverters, ...stations, ...nodes, ...batteries]),
    ...models.flatMap(checkCircuit),
    ...inverters.flatMap(checkCombiners),
    ...nodes.flatMap(checkChannels),
    ...batteries.flatMap(checkBattery),
  ]
}

/** Text form of a path: `loggers[0].inverters[2].unit_id`. */
export function fieldOf(path: SitePath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function placed<Of>(list: readonly Of[] | undefined, path: SitePath): Placed<Of>[] {
  return (list ?? []).map((value, index) => ({ value, path: [...path, index] }))
}

function controllersOf(loggers: readonly Placed<Logger>[]) {
  return loggers.flatMap(({ value: { controller }, path }) =>
    controller ? [{ value: controller, path: [...path, 'controller'] }] : [],
  )
}

function checkTimezone(timezone: string): SiteProblem[] {
  // The schema reports a missing zone, and one that is no text.
  if (timezone === undefined || knownTimezone(String(timezone)) !== null) return []
  const message = `'${timezone}' is no time zone of the IANA database, such as Europe/Berlin`
  return [{ path: ['timezone'], message }]
}

/** A problem of `field` for each entry with the key of an earlier one; undefined is no key. */
function repeated<Of>(
  list: readonly Placed<Of>[],
  field: string,
  keyOf: (value: Of) => unknown,
  messageOf: (one: Placed<Of>, earlier: Placed<Of>) => string,
): SiteProblem[] {
  const first = new Map<unknown, Placed<Of>>()
  return list.flatMap((one) => {
    const key = keyOf(one.value)
    const earlier = first.get(key)
    if (key === undefined) return []
    if (earlier) return [{ path: [...one.path, field], message: messageOf(one, earlier) }]
    first.set(key, one)
    return []
  })
}

const duplicates = <Of>(list: readonly Placed<Of>[], name: keyof Of & string) =>
  repeated(
    list,
    name,
    // The schema reports a missing id.
    (value) => value[name],
    ({ value }, { path }) => `${name} ${value[name]} is already that of ${fieldOf(path)}`,
  )

function unknown<Of>(
  list: readonly Placed<Of>[],
  name: keyof Of & string,
  known: ReadonlySet<unknown>,
): SiteProblem[] {
  return list.flatMap(({ value, path }) => {
    const id = value[name]
    if (id === undefined || known.has(id)) return []
    return [{ path: [...path, name], message: `there is no ${name} ${id} in this file` }]
  })
}

function checkLocations(
  { locations }: Site,
  things: readonly Placed<{ location_id?: number }>[],
): SiteProblem[] {
  const parents = new Map(locations.map((l) => [l.location_id, l.parent_location_id]))
  const known = new Set(parents.keys())
  const list = placed(locations, ['locations'])
  const circles = list.flatMap(({ value, path }) => {
    const passed = new Set<number>()
    let at = value.parent_location_id
    while (at !== undefined && at !== value.location_id && !passed.has(at)) {
      passed.add(at)
      at = parents.get(at)
    }
    if (at === undefined || at !== value.location_id) return []
    const message = `location ${at} lies within itself`
    return [{ path: [...path, 'parent_location_id'], message }]
  })
  return [
    ...unknown(things, 'location_id', known),
    ...unknown(list, 'parent_location_id', known),
    ...circles,
  ]
}

function checkCircuit({ value, path }: Placed<PanelModel>): SiteProblem[] {
  return missingOfCircuit(value).map((name) => ({
    path: [...path, name],
    message: 'is missing: give all seven parameters of the circuit, or none',
  }))
}

/** Two connections would open one serial port twice, which is not possible. */
const checkSerialPorts = ({ connections }: Site) =>
  repeated(
    placed(connections, ['connections']),
    'path',
    // The schema reports a missing path.
    serialPort,
    ({ value }, earlier) =>
      `'${serialPort(value)}' is already the port of connection '${earlier.value.connection_id}': ` +
      'give its devices that connection',
  )

const serialPort = (connection: Connection): string | undefined =>
  connection.protocol === 'modbus_rtu' ? connection.path : undefined

/** Address of the gateway. Several connections may share one, with different units. */
function endpointOf(connection: Connection): string {
  if (connection.protocol === 'modbus_rtu') return connection.path
  return `${connection.host}:${connection.port}`.toLowerCase()
}

/** A combiner at the address of its inverter is part of the inverter and needs no entry. */
/** A meter may be read through another device: an inverter or a controller has its registers. */
function checkAddresses(
  devices: readonly Placed<Addressed>[],
  connections: readonly Connection[],
): SiteProblem[] {
  const endpoints = new Map(connections.map((one) => [one.connection_id, endpointOf(one)]))
  const endpointAt = (connection: string) => endpoints.get(connection) ?? connection
  const keyOf = (device: Addressed) => {
    const { connection, unit_id, driver } = device
    if (connection === undefined || unit_id === undefined) return undefined
    const key = `${unit_id} ${endpointAt(connection)}`
    return 'meter_id' in device ? `${key} meter ${driver}` : key
  }
  return repeated(devices, 'unit_id', keyOf, (device, earlier) => {
    const { connection, unit_id } = device.value
    const inside =
      device.path.includes('combiners') && earlier.path.every((step, i) => device.path[i] === step)
    const unit = `unit ${unit_id} on connection '${connection}'`
    const by = earlier.value.connection
    const route =
      by === connection
        ? ''
        : `, by connection '${by}', which leads to ${endpointAt(connection)} too`
    return inside
      ? `${unit} is the inverter itself: leave the entry out`
      : `${unit} cannot be ${namesOf(device)}: it is already ${namesOf(earlier)}${route}`
  })
}

const namesOf = ({ value: { name }, path }: Placed<Addressed>) =>
  name === undefined ? fieldOf(path) : `'${name}' (${fieldOf(path)})`

function checkCombiners({ value, path }: Placed<Inverter>): SiteProblem[] {
  const strings = value.string_groups.reduce((sum, group) => sum + group.strings, 0)
  const owners: (string | undefined)[] = []
  return placed(value.combiners, [...path, 'combiners']).flatMap((combiner) => {
    const { first_string_index: first, string_count, combiner_id } = combiner.value
    const last = first + string_count - 1
    if (last >= strings) {
      const message = `no strings ${first} to ${last}: the inverter has ${strings}, from 0`
      return [{ path: [...combiner.path, 'string_count'], message }]
    }
    for (let index = first; index <= last; index += 1) {
      const owner = owners[index]
      if (owner !== undefined) {
        const message = `string ${index} is already measured by combiner '${owner}'`
        return [{ path: [...combiner.path, 'first_string_index'], message }]
      }
    }
    owners.length = Math.max(owners.length, last + 1)
    owners.fill(combiner_id, first, last + 1)
    return []
  })
}

function checkPoint({ value: { point }, path }: Placed<Instrument>): SiteProblem[] {
  if (stationPoint(point)) return []
  const message = `'${point}' is no point of a met station: models and points are `
  return [{ path: [...path, 'point'], message: message + stationPointNames() }]
}

/** The units of a battery; one device may serve as all of them. */
function batteryUnits({ value: { bms, pcs }, path }: Placed<Battery>): Placed<Addressed>[] {
  const clusters = placed(bms.clusters, [...path, 'bms', 'clusters'])
  const isAt = (one: Addressed) => (other: Addressed) =>
    one.unit_id === other.unit_id && one.connection === other.connection
  return [
    ...(!pcs.some(isAt(bms)) ? [{ value: bms, path: [...path, 'bms'] }] : []),
    ...placed(pcs, [...path, 'pcs']),
    ...clusters.filter(({ value }) => ![...pcs, bms].some(isAt(value))),
  ]
}

const checkBattery = (one: Placed<Battery>): SiteProblem[] => [
  ...checkWindow(one),
  ...checkCells(one),
  ...checkCurve(one),
]

function checkWindow({ value, path }: Placed<Battery>): SiteProblem[] {
  const { soc_min_pct, soc_max_pct, soc_reserve_pct = soc_min_pct } = value
  if (soc_min_pct >= soc_max_pct) {
    const message = `is not above soc_min_pct, which is ${soc_min_pct}`
    return [{ path: [...path, 'soc_max_pct'], message }]
  }
  if (soc_reserve_pct >= soc_min_pct && soc_reserve_pct < soc_max_pct) return []
  const message = `has to be from soc_min_pct (${soc_min_pct}) to below soc_max_pct (${soc_max_pct})`
  return [{ path: [...path, 'soc_reserve_pct'], message }]
}

/** A reading holds all cells of a cluster in one row of limited length. */
function checkCells({ value, path }: Placed<Battery>): SiteProblem[] {
  const cells = value.modules_per_cluster * value.cells_per_module
  if (!(cells > array_length_max)) return []
  const message = `makes ${cells} cells of a cluster, and there can be ${array_length_max}`
  return [{ path: [...path, 'cells_per_module'], message }]
}

function checkPcs({ value, path }: Placed<Pcs>): SiteProblem[] {
  if (!value.wmaxlimpct_is_setpoint || value.driver === 'sunspec') return []
  const message = `is of SunSpec devices, and the driver here is ${value.driver}`
  return [{ path: [...path, 'wmaxlimpct_is_setpoint'], message }]
}

/** Plans need points in ascending order on a concave curve, and power at both ends. */
function checkCurve({ value, path }: Placed<Battery>): SiteProblem[] {
  const points = value.power_curve ?? []
  const at = (nth: number, message: string) => [
    { path: [...path, 'power_curve', nth, 'soc_pct'], message },
  ]
  for (const [nth, point] of points.entries()) {
    const [before, after] = [points[nth - 1], points[nth + 1]]
    if (before && before.soc_pct >= point.soc_pct) return at(nth, 'is not above the point before')
    if (!before || !after) continue
    const share = (point.soc_pct - before.soc_pct) / (after.soc_pct - before.soc_pct)
    for (const name of ['max_charge_power_kw', 'max_discharge_power_kw'] as const) {
      const between = before[name] + share * (after[name] - before[name])
      if (point[name] < between - 1e-9) return at(nth, `has a ${name} that the curve bends up from`)
    }
  }
  const [first, last] = [points[0], points.at(-1)]
  if (first && first.max_charge_power_kw === 0) return at(0, 'is where it could not be charged')
  if (last && last.max_discharge_power_kw === 0) {
    return at(points.length - 1, 'is where it could not be discharged')
  }
  return []
}

function checkCentres({ iec104 }: Site): SiteProblem[] {
  if (!iec104) return []
  const centres = placed(iec104.centres, ['iec104', 'centres'])
  const { t1_s = 15, t2_s = 10, k = 12, w = 8 } = iec104
  const problems = duplicates(centres, 'group')
  if (t2_s >= t1_s) {
    const message = `is ${t2_s} and has to be below t1_s, which is ${t1_s}`
    problems.push({ path: ['iec104', 't2_s'], message })
  }
  if (w > k) {
    const message = `is ${w} and has to be at most k, which is ${k}`
    problems.push({ path: ['iec104', 'w'], message })
  }
  return problems
}

function checkRelays({ relay_inputs, connections, batteries = [] }: Site): SiteProblem[] {
  if (!relay_inputs) return []
  const one = { value: relay_inputs, path: ['relay_inputs'] }
  const bits = placed(relay_inputs.inputs, ['relay_inputs', 'inputs'])
  const beside = batteries.find(({ logger_id }) => logger_id === undefined)
  const message = `would not bind battery ${beside?.bess_id}, which belongs to no plant`
  return [
    ...unknown([one], 'connection', new Set(connections.map((c) => c.connection_id))),
    ...duplicates(bits, 'bit'),
    ...(beside ? [{ path: ['relay_inputs', 'inputs'], message }] : []),
  ]
}

/** Sensor nodes need a broker, either the edge's own or another. */
function checkBroker({ mqtt, nodes }: Site): SiteProblem[] {
  if (!mqtt) {
    const message = 'is missing: nodes are heard by MQTT'
    return (nodes ?? []).length > 0 ? [{ path: ['mqtt'], message }] : []
  }
  if ((mqtt.listen === undefined) !== (mqtt.url === undefined)) return []
  const message = "give 'listen' for a broker within the edge or 'url' for another, one of them"
  return [{ path: ['mqtt'], message }]
}

function checkChannels({ value: { channels }, path }: Placed<Node>): SiteProblem[] {
  const list = placed(channels, [...path, 'channels'])
  const relays = new Set((channels ?? []).flatMap((c) => (c.kind === 'relay' ? [c.channel] : [])))
  const strays = list.flatMap(({ value: { relay }, path }) => {
    if (relay === undefined || relays.has(relay)) return []
    const message = `the node has no channel '${relay}' of kind relay`
    return [{ path: [...path, 'relay'], message }]
  })
  return [...duplicates(list, 'channel'), ...strays]
}

import { createHash } from 'node:crypto'
import { Battery } from '@heliograph/domain/battery'
import { default_report_s, Node } from '@heliograph/domain/node'
import { PanelModel } from '@heliograph/domain/panel-model'
import { listedDevicesOf } from '@heliograph/domain/positions'
import { significant } from '@heliograph/domain/significant'
import {
  Inverter,
  Location,
  Logger,
  Meter,
  mpptCount,
  type PvString,
  type Site,
  Station,
  stringsOf,
} from '@heliograph/domain/site'
import type { TObject } from 'typebox'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { reportMovedPositions } from './inventory-positions.ts'
import { reportRetirements } from './retirements.ts'

/** Event code: the inventory has enumeration values that this server does not know. */
export const unknown_words = 'inventory_values_unknown'

/** The frame that brought an inventory. */
interface Announcement {
  /** `site` as JSON text for `jsonb`. */
  json: string
  epoch: string
  seq: number
  /** Unix ms. */
  at: number
}

interface Table {
  name: string
  keys: readonly string[]
  columns: readonly string[]
  is_dated: boolean
  is_retired: boolean
}

type Row = Record<string, unknown>

/** Fields that address a device; the server does not talk to devices. */
const address = ['connection', 'unit_id', 'driver', 'base_address']

const tables = {
  locations: dated('locations', ['location_id'], fieldsOf(Location)),
  panel_models: {
    name: 'panel_models',
    keys: ['params_id'],
    columns: fieldsOf(PanelModel, 'params_id'),
    is_dated: false,
    is_retired: false,
  },
  loggers: dated(
    'loggers',
    ['logger_id'],
    [...fieldsOf(Logger, 'controller', 'inverters', 'stations'), 'dc_capacity_kwp'],
  ),
  inverters: dated(
    'inverters',
    ['inverter_id'],
    [
      ...fieldsOf(
        Inverter,
        'max_ac_power_kw',
        'limit',
        'answers_at_night',
        'string_groups',
        'combiners',
        ...address,
      ),
      'logger_id',
      'driver',
      'modbus_unit_id',
      'mppt_count',
      'string_count',
      'dc_capacity_kwp',
    ],
  ),
  strings: {
    name: 'strings',
    keys: ['inverter_id', 'string_index'],
    columns: [
      'mppt_index',
      'combiner_id',
      'combiner_input',
      'connected',
      'module_count',
      'params_id',
      'dc_capacity_kwp',
      'azimuth_deg',
      'tilt_deg',
      'orientation_assumed',
    ],
    is_dated: false,
    is_retired: true,
  },
  stations: dated(
    'stations',
    ['station_id'],
    [...fieldsOf(Station, 'installed_date', ...address), 'logger_id'],
  ),
  meters: dated(
    'meters',
    ['meter_id'],
    fieldsOf(Meter, 'installed_date', 'positive_power', ...address),
  ),
  nodes: dated('nodes', ['node_id'], fieldsOf(Node)),
  batteries: dated('batteries', ['bess_id'], fieldsOf(Battery, 'bms')),
} satisfies Record<string, Table>

/** The fields of an announced object, which are columns of its table. */
function fieldsOf({ properties }: TObject, ...left_out: readonly string[]): string[] {
  return Object.keys(properties).filter((name) => !left_out.includes(name))
}

function dated(name: string, keys: readonly string[], fields: readonly string[]): Table {
  const columns = fields.filter((field) => !keys.includes(field))
  return { name, keys, columns, is_dated: true, is_retired: true }
}

/**
 * Applies an announced `site.yaml` to the tables. Missing devices are retired and stay readable;
 * restored devices lose `retired_at`. Unchanged rows are not written. An announcement older than
 * the one in force, of the same journal, has no effect.
 */
export async function applyInventory(
  transaction: Transaction,
  site: Site,
  { json, epoch, seq, at }: Announcement,
): Promise<void> {
  const now = isoTime(at)
  const sha256 = createHash('sha256').update(json).digest()
  const moved = await transaction.execute(
    `update sites
     set name = $2, inventory = $3::jsonb, inventory_sha256 = $4, inventory_at = $5,
       inventory_epoch = $6, inventory_seq = $7, updated_at = $5
     where site_id = $1 and (inventory_epoch is distinct from $6 or inventory_seq < $7)`,
    [site.site_id, site.name, json, sha256, now, epoch, seq],
  )
  if (moved === 0) return
  const rows = rowsOf(site)
  const scope = { site_id: site.site_id, at: new Date(at) }
  await reportRetirements(transaction, { ...scope, rows })
  await reportMovedPositions(transaction, { ...scope, announced: listedDevicesOf(site) })
  for (const [name, table] of Object.entries(tables)) {
    await putRows(transaction, table, site.site_id, rows[name as keyof typeof tables], now)
  }
}

async function putRows(
  transaction: Transaction,
  { name, keys, columns, is_dated, is_retired }: Table,
  site_id: string,
  rows: readonly Row[],
  now: string,
): Promise<void> {
  const announced = [...keys, ...columns]
  const stamps = [...(is_dated ? ['created_at'] : []), ...(is_retired ? ['updated_at'] : [])]
  const changes = [
    ...columns.map((column) => `${column} = excluded.${column}`),
    ...(is_retired ? ['updated_at = excluded.updated_at', 'retired_at = null'] : []),
  ]
  const tuple = (of: string) => `(${columns.map((column) => `${of}.${column}`).join(', ')})`
  await transaction.execute(
    `insert into ${name} as known (${['site_id', ...announced, ...stamps].join(', ')})
     select ${['$1', ...announced, ...stamps.map(() => '$3::timestamptz')].join(', ')}
     from jsonb_populate_recordset(null::${name}, $2::jsonb)
     on conflict (site_id, ${keys.join(', ')}) do update set ${changes.join(', ')}
     where ${tuple('known')} is distinct from ${tuple('excluded')}
       ${is_retired ? 'or known.retired_at is not null' : ''}`,
    stamps.length > 0 ? [site_id, JSON.stringify(rows), now] : [site_id, JSON.stringify(rows)],
  )
  if (!is_retired) return
  // `not in` uses a hash, and no key is null. A join would take minutes for tens of thousands of
  // strings, since the planner assumes a hundred announced rows.
  await transaction.execute(
    `update ${name} set retired_at = $3, updated_at = $3
     where site_id = $1 and retired_at is null and (${keys.join(', ')}) not in (
       select ${keys.join(', ')} from jsonb_populate_recordset(null::${name}, $2::jsonb))`,
    [site_id, JSON.stringify(rows), now],
  )
}

function rowsOf(site: Site): Record<keyof typeof tables, Row[]> {
  const models = new Map(site.panel_models.map((model) => [model.params_id, model]))
  const inverters = site.loggers.flatMap((logger) =>
    logger.inverters.map((inverter) => ({ logger, inverter })),
  )
  return {
    locations: site.locations.map((location) => ({ ...location })),
    panel_models: site.panel_models.map((model) => ({ ...model })),
    loggers: site.loggers.map((logger) => loggerRow(logger, models)),
    inverters: inverters.map(({ logger, inverter }) => inverterRow(logger, inverter, models)),
    strings: inverters.flatMap(({ inverter }) =>
      stringsOf(inverter).map((string) => stringRow(inverter, string, models)),
    ),
    stations: site.loggers.flatMap(({ logger_id, stations }) =>
      (stations ?? []).map((station) => ({ ...station, logger_id })),
    ),
    meters: (site.meters ?? []).map((meter) => ({ ...meter })),
    nodes: (site.nodes ?? []).map((node) => ({ report_s: default_report_s, ...node })),
    batteries: (site.batteries ?? []).map((battery) => ({ ...battery })),
  }
}

type Models = ReadonlyMap<number, PanelModel>

function loggerRow(logger: Logger, models: Models): Row {
  const capacities = logger.inverters.map((inverter) => inverterCapacity(inverter, models))
  return { ...logger, dc_capacity_kwp: significant(capacities.reduce((a, b) => a + b, 0)) }
}

function inverterRow({ logger_id }: Logger, inverter: Inverter, models: Models): Row {
  return {
    ...inverter,
    logger_id,
    phase_count: inverter.phase_count ?? 3,
    mppt_count: mpptCount(inverter),
    string_count: stringsOf(inverter).length,
    dc_capacity_kwp: inverterCapacity(inverter, models),
    modbus_unit_id: inverter.unit_id,
  }
}

function stringRow(inverter: Inverter, string: PvString, models: Models): Row {
  const combiner = inverter.combiners?.find(({ combiner_id }) => combiner_id === string.combiner_id)
  return {
    ...string,
    inverter_id: inverter.inverter_id,
    // Inputs are numbered from 1, as on the combiner box.
    combiner_input: combiner ? string.string_index - combiner.first_string_index + 1 : null,
    dc_capacity_kwp: stringCapacity(string, models),
  }
}

/** kWp of all connected strings. */
function inverterCapacity(inverter: Inverter, models: Models): number {
  const strings = stringsOf(inverter)
  return significant(strings.reduce((sum, string) => sum + stringCapacity(string, models), 0))
}

function stringCapacity({ connected, module_count, params_id }: PvString, models: Models): number {
  if (!connected) return 0
  return (module_count * models.get(params_id)!.power_stc_w) / 1000
}

/** The devices of a site with their communication state and their latest reading. */
import type { CommState } from '@heliograph/domain/link'
import type { Instrument } from '@heliograph/domain/site'
import { edgeSeenAt } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { expanded, latestColumns } from '../rows.ts'
import { type Delivered, deliveredBy, deliveredByInstruments } from './quantities.ts'

export const commissionedKinds = ['logger', 'inverter', 'meter', 'station', 'bess'] as const

interface CommissionedDevice {
  kind: (typeof commissionedKinds)[number]
  device_id: string
  name: string
  manufacturer: string | null
  model: string | null
  serial_number: string | null
  comm_state: CommState
  last_ok_at: Date | null
  error: string | null
  measured_at: Date | null
  quantities: Delivered[]
}

type Row = Omit<CommissionedDevice, 'kind' | 'comm_state' | 'quantities'> & {
  comm_state: CommState | null
  compact?: Buffer | null
  compact_at?: Date | null
  instruments?: Pick<Instrument, 'sensor_id' | 'quantity'>[]
}

const status = `
  d.manufacturer, d.model, d.serial_number, d.comm_state, d.last_ok_at, d.error`

const tables = {
  inverter: { table: 'inverters', id: 'inverter_id', latest: 'inverter' },
  meter: { table: 'meters', id: 'meter_id', latest: 'meter' },
  station: { table: 'stations', id: 'station_id', latest: 'weather' },
  bess: { table: 'batteries', id: 'bess_id', latest: 'bess' },
} as const
type Measured = keyof typeof tables

function statementOf(kind: Measured): { name: string; text: string } {
  const { table, id, latest } = tables[kind]
  const [, ...columns] = latestColumns(latest).map((name) => `l.${name}`)
  const more = kind === 'station' ? 'i.instruments,' : ''
  return {
    name: `commissioning_${kind}`,
    text: `
      SELECT i.${id}::text AS device_id, i.name, ${more} ${status}, ${columns.join(', ')}
      FROM ${table} i
      LEFT JOIN ${latest}_latest l ON l.site_id = i.site_id AND l.${id} = i.${id}
      LEFT JOIN device_status d
        ON d.site_id = i.site_id AND d.kind = '${kind}' AND d.id = i.${id}::text
      WHERE i.site_id = $1 AND i.retired_at IS NULL
      ORDER BY i.${id}`,
  }
}

/** Plants have a state of communication where a controller limits them. */
const controllers = {
  name: 'commissioning_logger',
  text: `
    SELECT i.logger_id::text AS device_id, i.name, ${status}, NULL AS measured_at
    FROM loggers i
    JOIN device_status d
      ON d.site_id = i.site_id AND d.kind = 'logger' AND d.id = i.logger_id::text
    WHERE i.site_id = $1 AND i.retired_at IS NULL
    ORDER BY i.logger_id`,
}

export async function readDevices(db: Queries, site_id: string): Promise<CommissionedDevice[]> {
  const measured = (Object.keys(tables) as Measured[]).map(async (kind) => {
    const rows = await db.query<Row>(statementOf(kind), [site_id])
    return rows.map((row) => deviceOf(kind, row, quantitiesOf(kind, row)))
  })
  const plants = await db.query<Row>(controllers, [site_id])
  return [
    ...plants.map((row) => deviceOf('logger', row, [])),
    ...(await Promise.all(measured)).flat(),
  ]
}

function quantitiesOf(kind: Measured, row: Row): Delivered[] {
  const reading = expanded(tables[kind].latest, row) as Row & Readonly<Record<string, unknown>>
  if (kind === 'station') return deliveredByInstruments(row.instruments ?? [], reading)
  return deliveredBy(kind, reading)
}

function deviceOf(
  kind: CommissionedDevice['kind'],
  row: Row,
  quantities: Delivered[],
): CommissionedDevice {
  const { device_id, name, manufacturer, model, serial_number } = row
  const { comm_state, last_ok_at, error, measured_at } = row
  return {
    kind,
    device_id,
    name,
    manufacturer,
    model,
    serial_number,
    comm_state: comm_state ?? 'unknown',
    last_ok_at,
    error,
    measured_at,
    quantities,
  }
}

interface AnnouncedFacts {
  edge_seen_at: Date | null
  is_announced: boolean
  is_placed: boolean
  has_grid_meter: boolean
  has_irradiance: boolean
}

/** What the site file and the edge say of the site as a whole. */
export async function readAnnounced(db: Queries, site_id: string): Promise<AnnouncedFacts> {
  const facts = await db.queryOne<AnnouncedFacts>(announced, [site_id])
  return facts!
}

const inService = (table: string, condition: string) =>
  `EXISTS (SELECT FROM ${table} t WHERE t.site_id = $1 AND t.retired_at IS NULL AND ${condition})`

const announced = {
  name: 'commissioning_site',
  text: `
    SELECT ${edgeSeenAt('$1')},
      s.inventory IS NOT NULL AS is_announced,
      coalesce((s.inventory ->> 'latitude')::float8 <> 0
        OR (s.inventory ->> 'longitude')::float8 <> 0, false) AS is_placed,
      ${inService('meters', "t.role = 'grid_connection'")} AS has_grid_meter,
      ${inService('stations', "t.instruments::text ~ '(poa_irradiance|ghi)_w_m2'")} AS has_irradiance
    FROM sites s WHERE s.site_id = $1`,
}

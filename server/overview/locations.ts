/** Places on the site, in a tree below the site itself. */

import { locationTypes } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import type { Caller } from '../http/endpoint.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { exampleOf } from '../http/example.ts'
import * as field from '../http/fields.ts'
import { LocationId, Named, Nullable } from '../http/params.ts'
import { inventoried } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'
import { type Stored, served } from '../storage/records.ts'
import { openDefectStates } from '../work/defect-states.ts'
import { workingStates } from '../work/work-order-states.ts'

const Count = (what: string, example: number) =>
  field.CountOrNull(`${what}; null without \`om:read\`.`, example)

type Location = Static<typeof Location>
const Location = Named('Location', {
  location_id: LocationId,
  parent_location_id: Nullable(LocationId),
  type: Type.Enum([...locationTypes], { examples: ['plot'] }),
  name: Type.String({ examples: ['East slope'] }),
  code: Nullable(Type.String()),
  latitude: field.NumOrNull('Degrees, north positive.', 48.62),
  longitude: field.NumOrNull('Degrees, east positive.', 12.18),
  elevation_m: field.NumOrNull('Height above sea level, m.', 415),
  address: Nullable(Type.String()),
  access_notes: field.TextOrNull(
    'How to reach and enter the place.',
    'Gate code at the substation.',
  ),
  logger_ids: Type.Array(Type.Integer(), {
    description: 'Loggers at this location, ascending.',
    examples: [[2]],
  }),
  inverter_ids: Type.Array(Type.Integer(), {
    description: 'Inverters at this location, ascending.',
    examples: [[5, 6, 7, 8]],
  }),
  station_ids: Type.Array(Type.Integer(), {
    description: 'Met stations at this location, ascending.',
    examples: [[]],
  }),
  node_ids: Type.Array(Type.String(), {
    description: 'Sensor nodes at this location, ascending.',
    examples: [['ts-1']],
  }),
  open_work_order_count: Count('Unfinished work orders at this location itself', 2),
  open_defect_count: Count('Defects at this location itself that are `open` or `in_progress`', 1),
  ...inventoried,
})

const locationExample = exampleOf(Location, { location_id: 3, parent_location_id: 1 })

const plant = { method: 'GET', tag: 'Plant', scope: 'plant:read', module: 'basic_scada' } as const

export const listLocations = endpoint({
  ...plant,
  path: '/locations',
  operation_id: 'locations_list',
  summary: 'The locations of the site',
  description: 'Returns the locations by id. Retired locations carry `retired_at`.',
  returns: List(Location),
  example: { answer: list([locationExample]) },
  handle: async ({ site: { site_id }, caller }, { db }: Context) =>
    list(await readLocations(db, { site_id, caller })),
})

export const getLocation = endpoint({
  ...plant,
  path: '/locations/{location_id}',
  operation_id: 'locations_get',
  summary: 'One location',
  params: { location_id: LocationId },
  cache: 'resource',
  returns: Location,
  example: { answer: locationExample },
  async handle({ site: { site_id }, caller, params: { location_id } }, { db }: Context) {
    const [location] = await readLocations(db, { site_id, location_id, caller })
    if (!location) throw new ApiError('not_found', { location_id })
    return location
  },
})

async function readLocations(
  db: Queries,
  {
    site_id,
    location_id = null,
    caller,
  }: { site_id: string; location_id?: number | null; caller: Caller },
): Promise<Location[]> {
  const values = [site_id, location_id, mayRead(caller, 'om:read')]
  const rows = await db.query<Stored<Location>>(locations, values)
  return rows.map((row) => served(Location, row))
}

const idsAt = (table: string, id: string) => `
  ARRAY(SELECT d.${id} FROM ${table} d
        WHERE d.site_id = $1 AND d.location_id = p.location_id AND d.retired_at IS NULL
        ORDER BY 1) AS ${id}s`

/** Counts by location; empty when $3 is false. */
const openAt = (table: string, states: readonly string[]) => `(
    SELECT location_id, count(*) AS count FROM ${table}
    WHERE $3::boolean AND site_id = $1 AND status IN (${states.map((one) => `'${one}'`).join(', ')})
    GROUP BY location_id)`

const locations = `
  SELECT p.location_id, p.parent_location_id, p.type, p.name, p.code, p.latitude, p.longitude,
         p.elevation_m, p.address, p.access_notes, ${idsAt('loggers', 'logger_id')},
         ${idsAt('inverters', 'inverter_id')}, ${idsAt('stations', 'station_id')},
         ${idsAt('nodes', 'node_id')},
         CASE WHEN $3 THEN coalesce(w.count, 0) END AS open_work_order_count,
         CASE WHEN $3 THEN coalesce(f.count, 0) END AS open_defect_count,
         p.created_at, p.updated_at, p.retired_at
  FROM locations p
  LEFT JOIN ${openAt('work_orders', workingStates)} w USING (location_id)
  LEFT JOIN ${openAt('defects', openDefectStates)} f USING (location_id)
  WHERE p.site_id = $1 AND ($2::int IS NULL OR p.location_id = $2)
  ORDER BY p.location_id`

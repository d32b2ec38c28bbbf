/** A place on the site, in a tree below the site itself. */
import { locationTypes } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { LocationId, Nullable } from '../http/params.ts'
import { inventoried, iso } from '../plant/frame.ts'

const count = (what: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${what}; null without \`om:read\`.` }))

export type Location = Static<typeof Location>
export const Location = Type.Object(
  {
    location_id: LocationId,
    parent_location_id: Nullable(LocationId),
    type: Type.Enum([...locationTypes]),
    name: Type.String(),
    code: Nullable(Type.String()),
    latitude: Nullable(Type.Number({ description: 'Degrees, north positive.' })),
    longitude: Nullable(Type.Number({ description: 'Degrees, east positive.' })),
    elevation_m: Nullable(Type.Number({ description: 'Height above sea level, m.' })),
    address: Nullable(Type.String()),
    access_notes: Nullable(Type.String({ description: 'How to get there and in.' })),
    logger_ids: Type.Array(Type.Integer(), { description: 'Loggers placed here, ascending.' }),
    inverter_ids: Type.Array(Type.Integer(), { description: 'Inverters placed here, ascending.' }),
    station_ids: Type.Array(Type.Integer(), { description: 'Met stations here, ascending.' }),
    node_ids: Type.Array(Type.String(), { description: 'Sensor nodes here, ascending.' }),
    open_work_order_count: count('Work orders at this place itself that are not over'),
    open_defect_count: count('Defects at this place itself that are `open` or `in_progress`'),
    ...inventoried,
  },
  { additionalProperties: false, $id: 'Location' },
)

export interface LocationRow extends Omit<Location, 'created_at' | 'updated_at' | 'retired_at'> {
  created_at: Date
  updated_at: Date
  retired_at: Date | null
}

export function locationRecord(row: LocationRow): Location {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    retired_at: iso(row.retired_at),
  }
}

/** Checks the devices, locations and alerts that work orders and defects refer to. */
import { ApiError, invalid, unknownReference } from '../http/errors.ts'
import type { Queries, Transaction } from '../storage/database.ts'

interface Devices {
  location_id: number | null
  logger_id: number | null
  inverter_id: number | null
  string_index: number | null
  bess_id: number | null
  node_id: string | null
}

/**
 * Fills in the plant of the inverter and the location of the device where they are not given.
 * @throws ApiError invalid for unknown ids, and for a device outside the given location
 */
export async function requireDevices<Of extends Devices>(
  tx: Transaction,
  site_id: string,
  of: Of,
): Promise<Of> {
  const { location_id, logger_id, inverter_id, string_index, bess_id, node_id } = of
  const [found] = await tx.query<{
    location: boolean
    logger: boolean
    inverter_logger_id: number | null
    placed_at: Partial<Record<(typeof placed)[number], number | null>>
    below: number[]
    string: boolean
    bess: boolean
    node: boolean
  }>(
    `select exists (select from locations where site_id = $1 and location_id = $2) as location,
            exists (select from loggers where site_id = $1 and logger_id = $3) as logger,
            (select logger_id from inverters
             where site_id = $1 and inverter_id = $4) as inverter_logger_id,
            exists (select from strings
                    where site_id = $1 and inverter_id = $4 and string_index = $5) as "string",
            exists (select from batteries where site_id = $1 and bess_id = $6) as bess,
            exists (select from nodes where site_id = $1 and node_id = $7) as node,
            ${places}, ${below} as below`,
    [site_id, location_id, logger_id, inverter_id, string_index, bess_id, node_id],
  )
  const { inverter_logger_id, placed_at, below: within, ...is } = found!
  const absent = (field: string, value: unknown, is_there: boolean, what: string) =>
    value === null || is_there ? [] : [unknownReference(field, `is not a ${what} of this site`)]
  const faults = [
    ...absent('location_id', location_id, is.location, 'location'),
    ...absent('logger_id', logger_id, is.logger, 'logger'),
    ...absent('inverter_id', inverter_id, inverter_logger_id !== null, 'inverter'),
    ...absent('bess_id', bess_id, is.bess, 'battery unit'),
    ...absent('node_id', node_id, is.node, 'node'),
    ...(string_index !== null && inverter_id === null
      ? [unknownReference('string_index', 'requires inverter_id')]
      : absent('string_index', string_index, is.string, 'string of the inverter')),
    ...(logger_id !== null && inverter_logger_id !== null && inverter_logger_id !== logger_id
      ? [
          unknownReference(
            'logger_id',
            `is not the logger of the inverter, which is ${inverter_logger_id}`,
          ),
        ]
      : []),
    ...placed.flatMap((field) => {
      const place = placed_at[field] ?? null
      if (!is.location || place === null || within.includes(place)) return []
      return [unknownReference(field, `is at location ${place}, not at or below ${location_id}`)]
    }),
  ]
  if (faults.length > 0) throw invalid(...faults)
  const place = placed.map((field) => placed_at[field] ?? null).find((id) => id !== null) ?? null
  return {
    ...of,
    logger_id: logger_id ?? inverter_logger_id,
    location_id: location_id ?? place,
  }
}

export interface ListFilter {
  site_id: string
  location_id?: number
  logger_id?: number
  offset?: number
  limit?: number
}

/** @throws ApiError not_found for an unknown location or logger in a filter */
export async function requireFilters(
  db: Queries,
  { site_id, location_id, logger_id }: ListFilter,
): Promise<void> {
  if (location_id === undefined && logger_id === undefined) return
  const [is] = await db.query<{ location: boolean; logger: boolean }>(
    `select exists (select from locations where site_id = $1 and location_id = $2) as location,
            exists (select from loggers where site_id = $1 and logger_id = $3) as logger`,
    [site_id, location_id ?? null, logger_id ?? null],
  )
  if (location_id !== undefined && !is!.location) throw new ApiError('not_found', { location_id })
  if (logger_id !== undefined && !is!.logger) throw new ApiError('not_found', { logger_id })
}

export const namesDevices = (given: Partial<Devices>): boolean =>
  given.location_id !== undefined || deviceFields.some((field) => given[field] !== undefined)

/**
 * Fields to clear when a device changes and they are not given: plant and location, and the string
 * of an inverter.
 */
export function movedBy(before: Partial<Devices>, given: Partial<Devices>): Partial<Devices> {
  const isOther = (field: keyof Devices) =>
    given[field] !== undefined && given[field] !== before[field]
  const becomes = (field: keyof Devices) => isOther(field) && given[field] !== null
  const { logger_id, location_id, string_index } = given
  const is_moved = placed.some(becomes)
  return {
    ...(becomes('inverter_id') && logger_id === undefined && { logger_id: null }),
    ...(is_moved && location_id === undefined && { location_id: null }),
    ...(isOther('inverter_id') && string_index === undefined && { string_index: null }),
  }
}

/** Devices with a location; the first given one determines the location of the work. */
const placed = ['inverter_id', 'bess_id', 'node_id', 'logger_id'] as const

/** Locations of the devices; an inverter defaults to the location of its plant. */
const places = `json_build_object(
  'inverter_id', (select coalesce(i.location_id, l.location_id)
                  from inverters i join loggers l using (site_id, logger_id)
                  where i.site_id = $1 and i.inverter_id = $4),
  'bess_id', (select location_id from batteries where site_id = $1 and bess_id = $6),
  'node_id', (select location_id from nodes where site_id = $1 and node_id = $7),
  'logger_id', case when $4::integer is null then
    (select location_id from loggers where site_id = $1 and logger_id = $3) end) as placed_at`

/** A location and all below it. */
const below = `array(
  with recursive tree as (
    select location_id from locations where site_id = $1 and location_id = $2
    union
    select p.location_id from locations p join tree on p.parent_location_id = tree.location_id
    where p.site_id = $1)
  select location_id from tree)`

const deviceFields = ['logger_id', 'inverter_id', 'string_index', 'bess_id', 'node_id'] as const

/**
 * The given devices, else the devices that all alerts have in common, else their common location.
 * Unknown alerts are rejected by `linkAlerts`.
 */
export async function devicesOfAlerts<Of extends Devices>(
  tx: Transaction,
  site_id: string,
  { of, alert_ids }: { of: Of; alert_ids: readonly number[] },
): Promise<Of> {
  if (alert_ids.length === 0 || deviceFields.some((field) => of[field] !== null)) return of
  const alerts = await tx.query<Devices>(
    `select ${deviceFields.join(', ')}, location_id from alerts
     where site_id = $1 and alert_id = any($2)`,
    [site_id, alert_ids],
  )
  const agreed = <Field extends keyof Devices>(field: Field) => {
    const [first] = alerts
    return first && alerts.every((alert) => alert[field] === first[field]) ? first[field] : null
  }
  const devices = {
    logger_id: agreed('logger_id'),
    inverter_id: agreed('inverter_id'),
    bess_id: agreed('bess_id'),
    node_id: agreed('node_id'),
  }
  const string_index = devices.inverter_id === null ? null : agreed('string_index')
  const is_device = Object.values(devices).some((id) => id !== null)
  const location_id = of.location_id ?? (is_device ? null : agreed('location_id'))
  return { ...of, ...devices, string_index, location_id }
}

/**
 * Replaces the linked alerts.
 * @throws ApiError invalid for an unknown alert
 */
export async function linkAlerts(
  tx: Transaction,
  of: { site_id: string } & ({ wo_id: number } | { defect_id: number }),
  ids: readonly number[],
): Promise<void> {
  const found = await tx.query<{ alert_id: number }>(
    'select alert_id from alerts where site_id = $1 and alert_id = any($2)',
    [of.site_id, ids],
  )
  const known = new Set(found.map(({ alert_id }) => alert_id))
  const faults = ids.flatMap((id, index) =>
    known.has(id) ? [] : [unknownReference(`alert_ids.${index}`, 'is not an alert of this site')],
  )
  if (faults.length > 0) throw invalid(...faults)
  const [table, name, id] =
    'wo_id' in of
      ? ['work_order_alerts', 'wo_id', of.wo_id]
      : ['defect_alerts', 'defect_id', of.defect_id]
  await tx.execute(
    `delete from ${table} where site_id = $1 and ${name} = $2 and alert_id <> all($3)`,
    [of.site_id, id, ids],
  )
  await tx.execute(
    `insert into ${table} (site_id, ${name}, alert_id)
     select $1, $2, unnest($3::bigint[]) on conflict do nothing`,
    [of.site_id, id, ids],
  )
}

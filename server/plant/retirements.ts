/** Devices that a site file leaves out or names again: events that explain why nothing came. */
import type { Transaction } from '../storage/database.ts'
import { recordEvent } from '../storage/events.ts'

const devices = [
  { kind: 'logger', table: 'loggers', key: 'logger_id' },
  { kind: 'inverter', table: 'inverters', key: 'inverter_id' },
  { kind: 'station', table: 'stations', key: 'station_id' },
  { kind: 'meter', table: 'meters', key: 'meter_id' },
  { kind: 'node', table: 'nodes', key: 'node_id' },
] as const

type Rows = { [Name in (typeof devices)[number]['table']]: readonly Record<string, unknown>[] }

/**
 * Raises `device_retired` for every device that is in force and not among `rows`, and ends it for
 * those that come back; to be called before the tables change.
 */
export async function tellRetirements(
  transaction: Transaction,
  { site_id, at, rows }: { site_id: string; at: Date; rows: Rows },
): Promise<void> {
  for (const { kind, table, key } of devices) {
    const named = rows[table].map((row) => String(row[key]))
    const changed = await transaction.query<{ id: string; leaves: boolean }>(
      `select ${key}::text as id, retired_at is null as leaves from ${table}
       where site_id = $1 and (retired_at is not null) = (${key}::text = any($2)) order by ${key}`,
      [site_id, named],
    )
    for (const { id, leaves } of changed) {
      await recordEvent(transaction, {
        site_id,
        at,
        source_kind: kind,
        source_id: id,
        code: 'device_retired',
        edge: leaves ? 'rising' : 'falling',
        severity: 'info',
        message: leaves
          ? `${kind} ${id} is no longer in the site file`
          : `${kind} ${id} is in the site file again`,
      })
    }
  }
}

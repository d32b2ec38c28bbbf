/** Events for devices that a site file removes or restores; they explain missing readings. */
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
 * Raises `device_retired` for every device in service that is missing in `rows`, and ends it for
 * restored devices. Call before the tables change.
 */
export async function reportRetirements(
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

/**
 * Exchanged devices: each change of the serial number at the address of a device. From its instant
 * on, readings are of another device, with counters of its own.
 */
import type { LinkEvent } from '@heliograph/domain/link'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Queries, Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'

export interface Device {
  kind: string
  device_id: string
}

const Identity = Type.Object({ serial_number: Type.String({ minLength: 1 }) })
const identities = Compile(Type.Object({ before: Identity, after: Identity }))

/**
 * Stores the changes of serial numbers among events; an event that comes again changes nothing.
 * A serial number that either device does not report says nothing about an exchange. Returns the
 * new changes.
 */
export async function storeSerialChanges(
  transaction: Transaction,
  { site_id, received_at }: { site_id: string; received_at: number },
  events: readonly LinkEvent[],
): Promise<(Device & { changed_at: Date })[]> {
  const records = events.flatMap(({ code, source_kind, source_id, at, details }) => {
    if (code !== 'device_identity_changed' || !identities.Check(details)) return []
    const old_serial_number = details.before.serial_number
    const { serial_number } = details.after
    if (serial_number === old_serial_number) return []
    const device = { kind: source_kind, device_id: source_id }
    return [{ ...device, changed_at: isoTime(at), old_serial_number, serial_number }]
  })
  if (records.length === 0) return []
  return transaction.query(
    `insert into device_exchanges
       (site_id, kind, device_id, changed_at, received_at, old_serial_number, serial_number)
     select $1, kind, device_id, changed_at, $2, old_serial_number, serial_number
     from jsonb_populate_recordset(null::device_exchanges, $3::jsonb)
     order by kind, device_id, changed_at
     on conflict do nothing
     returning kind, device_id, changed_at`,
    [site_id, isoTime(received_at), JSON.stringify(records)],
  )
}

/** The instants, Unix ms, at which another device of a kind was found, by device id. */
export async function readExchanges(
  db: Queries,
  site_id: string,
  kind: string,
): Promise<Map<string, number[]>> {
  const rows = await db.query<{ device_id: string; changed_at: Date }>(exchangesOfKind, [
    site_id,
    kind,
  ])
  const exchanges = new Map<string, number[]>()
  for (const { device_id, changed_at } of rows) {
    const times_ms = exchanges.get(device_id) ?? []
    exchanges.set(device_id, times_ms)
    times_ms.push(changed_at.getTime())
  }
  return exchanges
}

const exchangesOfKind = {
  name: 'exchanges_of_kind',
  text: `
    select device_id, changed_at from device_exchanges where site_id = $1 and kind = $2
    order by device_id, changed_at`,
} as const

/** Whether readings at these instants, Unix ms, are of different devices. */
export const isExchanged = (
  exchanged_ms: readonly number[],
  before_ms: number,
  after_ms: number,
): boolean => exchanged_ms.some((at_ms) => at_ms > before_ms && at_ms <= after_ms)

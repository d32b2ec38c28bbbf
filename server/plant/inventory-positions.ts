/** Instruments and channels moved by a site file: past readings then belong to another name. */
import type { Node } from '@heliograph/domain/node'
import { type ListedDevice, listedDevices, movedDevices } from '@heliograph/domain/positions'
import type { Station } from '@heliograph/domain/site'
import type { Transaction } from '../storage/database.ts'
import { recordEvent } from '../storage/events.ts'

const code = 'channels_renumbered'

/**
 * Raises `channels_renumbered` for every met station and sensor node whose past readings change
 * their meaning with `announced`. Call before the tables change. Retired devices count with their
 * last list.
 */
export async function reportMovedPositions(
  transaction: Transaction,
  { site_id, at, announced }: { site_id: string; at: Date; announced: readonly ListedDevice[] },
): Promise<void> {
  const stations = await transaction.query<Pick<Station, 'station_id' | 'instruments'>>(
    'select station_id, instruments from stations where site_id = $1',
    [site_id],
  )
  const nodes = await transaction.query<Pick<Node, 'node_id' | 'node_number' | 'channels'>>(
    `select distinct on (node_number) node_id, node_number, channels from nodes
     where site_id = $1 order by node_number, retired_at desc nulls first`,
    [site_id],
  )
  const former: ListedDevice[] = []
  for (const device of listedDevices({ stations, nodes })) {
    const now = announced.find(
      ({ kind, number }) => kind === device.kind && number === device.number,
    )
    const lost = now ? await lostPlaces(transaction, site_id, device, now.places.length) : []
    former.push({ ...device, places: [...device.places, ...lost] })
  }
  for (const { kind, id, positions } of movedDevices(former, announced)) {
    const list = kind === 'station' ? 'instruments' : 'channels'
    await recordEvent(transaction, {
      site_id,
      at,
      source_kind: kind,
      source_id: id,
      code,
      edge: 'once',
      severity: 'warning',
      message:
        `the site file moves ${list} of ${kind} ${id}: past readings at positions ` +
        `${positions.map(({ position }) => position).join(', ')} have another name or none now`,
      details: { positions },
    })
  }
}

/**
 * The former names at the positions up to `length` that a shortened list gains again: readings of
 * that time still exist.
 */
async function lostPlaces(
  transaction: Transaction,
  site_id: string,
  { kind, id, places }: ListedDevice,
  length: number,
): Promise<string[]> {
  if (length <= places.length) return []
  const lost = await transaction.query<{ was: string }>(
    `select distinct on (position) was
     from events, jsonb_to_recordset(details -> 'positions') as p (position integer, was text)
     where site_id = $1 and source_kind = $2 and source_id = $3 and code = $4
       and position >= $5 and position < $6
     order by position, event_id desc`,
    [site_id, kind, id, code, places.length, length],
  )
  return lost.map(({ was }) => was)
}

/** Switchings of relays: node events that are also stored in their own table. */
import type { LinkEvent } from '@heliograph/domain/link'
import { RelayChange, relayCodePrefix } from '@heliograph/domain/node'
import { Compile } from 'typebox/compile'
import type { Transaction } from '../storage/database.ts'
import { nextIdOf } from '../storage/site-ids.ts'
import { isoTime } from '../storage/values.ts'
import { Refused, shown } from './refused.ts'

const change = Compile(RelayChange)

const isRelayEvent = ({ source_kind, code, edge }: LinkEvent) =>
  source_kind === 'node' && edge === 'once' && code.startsWith(relayCodePrefix)

/** @throws Refused if the details of a relay event are invalid */
export function checkRelayEvents(events: readonly LinkEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (!isRelayEvent(event)) continue
    const { details, code } = event
    const is_right = change.Check(details) && code === relayCodePrefix + details.channel
    if (!is_right) throw new Refused(`event ${index}: details: ${shown(details)} is not valid`)
  }
}

/** Stores relay events; a repetition with the same node, channel and instant is ignored. */
export async function storeRelayEvents(
  transaction: Transaction,
  { site_id, received_at }: { site_id: string; received_at: number },
  events: readonly LinkEvent[],
): Promise<void> {
  const records = events.filter(isRelayEvent).map(({ at, source_id, details }) => {
    const { channel, from, to, cause, reason } = details as RelayChange
    const states = { from_state: from, to_state: to, cause, reason }
    return { node_id: source_id, channel, at: isoTime(at), ...states }
  })
  if (records.length === 0) return
  await transaction.execute(
    `insert into relay_events
       (site_id, relay_event_id, node_id, channel, at, received_at, from_state, to_state, cause,
        reason)
     select $1, ${nextIdOf('site', '$1')}, node_id, channel, at, $2, from_state, to_state, cause, reason
     from jsonb_to_recordset($3::jsonb) as e (
       node_id text, channel text, at timestamptz, from_state boolean, to_state boolean,
       cause text, reason text)
     order by node_id, channel, at
     on conflict do nothing`,
    [site_id, isoTime(received_at), JSON.stringify(records)],
  )
}

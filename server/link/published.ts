/** The events of devices and edges that the link reports. */
import { deviceKinds, type LinkEvent } from '@heliograph/domain/link'
import type { EventType } from '../events/event-types.ts'
import { publish } from '../events/publish.ts'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'

export const CommunicationState = Named('CommunicationState', {
  kind: field.OneOf(deviceKinds, 'The kind of device, or `edge`.', 'inverter'),
  id: field.Text('The id of the device or edge.', '7'),
  state: field.OneOf(['offline', 'online'], 'The state since `since_at`.'),
  since_at: field.At('When the edge or the server noticed.'),
  message: field.Text('A description for people.', 'Inverter 7 does not answer.'),
})

type Reported = Pick<LinkEvent, 'source_kind' | 'source_id' | 'code' | 'edge' | 'message'> & {
  at: Date
}

const nouns: Readonly<Record<string, 'device' | 'edge'>> = {
  device_offline: 'device',
  edge_offline: 'edge',
}

/** Publishes that a device or an edge went offline or came back; all else is no event. */
export function publishComm(tx: Transaction, site_id: string, event: Reported): void {
  const { source_kind: kind, source_id: id, code, edge, at, message } = event
  const noun = nouns[code]
  if (noun === undefined || edge === 'once') return
  const state = edge === 'rising' ? 'offline' : 'online'
  const type: EventType = `${noun}.${state}`
  const record = { kind, id, state, since_at: at.toISOString(), message }
  publish(tx, { site_id, at, type, subject: `${kind}/${id}`, link: '/overview', record })
}

/** A switching of a relay, as reported by its sensor node. */

import { relayCauses } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { LocationId, Named, Nullable } from '../../http/params.ts'
import { type Stored, served } from '../../storage/records.ts'

export type RelaySwitching = Static<typeof RelaySwitching>
export const RelaySwitching = Named('RelaySwitching', {
  command_id: field.Int('Unique within the site.', 12),
  node_id: Type.String({ examples: ['ts-1'] }),
  location_id: Nullable(LocationId),
  channel: field.Text('The relay, as in `channels` of /sensors.', 'fan-relay'),
  label: field.TextOrNull(
    'The current label of the relay; null if it was removed.',
    'Fan contactor',
  ),
  command: Type.Enum(['on', 'off']),
  previous_state: field.FlagOrNull('Whether the relay was on before; null if unknown.', false),
  resulting_state: field.Flag('Whether the relay was on afterwards.', true),
  source: field.OneOf(
    relayCauses,
    'Who switched the relay. `automation`: the node by its own rules; `manual`: a person at ' +
      'the node; `command`: a remote command; `unknown`: not reported.',
  ),
  reason: field.TextOrNull('The reason that the node reports, as text.', 'oil above 60 °C'),
  switched_at: field.At('When the relay was switched, or first seen in the new state.'),
  received_at: field.At('When the server received the report.'),
})

export const switchingRecord = (row: Stored<RelaySwitching>) => served(RelaySwitching, row)

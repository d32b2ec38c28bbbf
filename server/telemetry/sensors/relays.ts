/** A relay that was switched, as the node that did it told. */
import { relayCauses } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { LocationId, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import type { SwitchingRow } from './store.ts'

export type RelaySwitching = Static<typeof RelaySwitching>
export const RelaySwitching = Type.Object(
  {
    command_id: Type.Integer({ description: 'Unique within the site.' }),
    node_id: Type.String(),
    location_id: Nullable(LocationId),
    channel: Type.String({ description: 'The relay, as in `channels` of /sensors.' }),
    label: Nullable(Type.String({ description: 'Its label now; null where it is no more.' })),
    command: Type.Enum(['on', 'off']),
    previous_state: Nullable(
      Type.Boolean({ description: 'Whether it was on; null where nobody knows.' }),
    ),
    resulting_state: Type.Boolean({ description: 'Whether it is on since.' }),
    source: Type.Enum([...relayCauses], {
      description:
        'Who switched it. `automation`: the node by its own rules; `manual`: a person at the ' +
        'node; `command`: somebody from afar; `unknown`: the node does not say.',
    }),
    reason: Nullable(Type.String({ description: 'What the node says of it, for people.' })),
    switched_at: At('When it was switched, or was first seen to be.'),
    received_at: At('When the server learned of it.'),
  },
  { additionalProperties: false, $id: 'RelaySwitching' },
)

export function switchingRecord({ at, received_at, ...row }: SwitchingRow): RelaySwitching {
  return { ...row, switched_at: at.toISOString(), received_at: received_at.toISOString() }
}

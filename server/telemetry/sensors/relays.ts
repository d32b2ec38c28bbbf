/** A switching of a relay, as reported by its sensor node. */
import { relayCauses } from '@heliograph/domain/node'
import { type Static, Type } from 'typebox'
import { LocationId, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { type Stored, served } from '../../storage/records.ts'

export type RelaySwitching = Static<typeof RelaySwitching>
export const RelaySwitching = Type.Object(
  {
    command_id: Type.Integer({ description: 'Unique within the site.', examples: [12] }),
    node_id: Type.String({ examples: ['ts-1'] }),
    location_id: Nullable(LocationId),
    channel: Type.String({
      description: 'The relay, as in `channels` of /sensors.',
      examples: ['fan-relay'],
    }),
    label: Nullable(
      Type.String({
        description: 'The current label of the relay; null if it was removed.',
        examples: ['Fan contactor'],
      }),
    ),
    command: Type.Enum(['on', 'off']),
    previous_state: Nullable(
      Type.Boolean({
        description: 'Whether the relay was on before; null if unknown.',
        examples: [false],
      }),
    ),
    resulting_state: Type.Boolean({
      description: 'Whether the relay was on afterwards.',
      examples: [true],
    }),
    source: Type.Enum([...relayCauses], {
      description:
        'Who switched the relay. `automation`: the node by its own rules; `manual`: a person at ' +
        'the node; `command`: a remote command; `unknown`: not reported.',
    }),
    reason: Nullable(
      Type.String({
        description: 'The reason that the node reports, as text.',
        examples: ['oil above 60 °C'],
      }),
    ),
    switched_at: At('When the relay was switched, or first seen in the new state.'),
    received_at: At('When the server received the report.'),
  },
  { additionalProperties: false, $id: 'RelaySwitching' },
)

const names = Object.keys(RelaySwitching.properties)
export const switchingRecord = (row: Stored<RelaySwitching>) => served(names, row) as RelaySwitching

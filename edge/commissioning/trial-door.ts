/**
 * A Unix socket in the data directory of the running agent, through which `heliograph-edge check`
 * has the control of that agent try a limit. A trial ends with its connection, so that the end of
 * either program gives the limit back by the rules of control.
 */
import { join } from 'node:path'
import { Closed } from '@heliograph/domain/schema'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { LimitTrial, LimitTrials, TrialView } from '../control/limit-trials.ts'
import { type Door, openDoor, parsedLine } from './door.ts'

export const trialDoorPath = (data_dir: string): string => join(data_dir, 'trials.sock')

const inverter_id = Type.Integer()

/** A line of JSON. `inverter_id` as control has it, below zero for the controller of a plant. */
export type TrialRequest = Static<typeof TrialRequest>
const TrialRequest = Type.Union([
  Closed({ is: Type.Literal('look'), inverter_id }),
  Closed({
    is: Type.Literal('begin'),
    inverter_id,
    limit_w: Type.Number({ minimum: 0 }),
    /** Without control characters: the control log has it. */
    asked_by: Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$' }),
  }),
  Closed({ is: Type.Literal('give_back'), inverter_id }),
  Closed({ is: Type.Literal('end'), inverter_id }),
])

/** The answer to it, a line of JSON too: how the device is. */
export type TrialAnswer =
  | { view: TrialView; over: string | null; found_w: number | null }
  | { refused: string }

interface DoorNeeds {
  data_dir: string
  trials: Pick<LimitTrials, 'look' | 'begin'>
}

const clients_max = 4

/** @throws Error where the socket cannot be made; the lock of the directory must be held */
export async function openTrialDoor({ data_dir, trials }: DoorNeeds): Promise<Door> {
  return await openDoor({
    path: trialDoorPath(data_dir),
    clients_max,
    busy: { refused: `${clients_max} commands are connected already` } satisfies TrialAnswer,
    open() {
      let trial: LimitTrial | null = null
      return {
        async answer(line) {
          const request = parsedLine(line)
          if (!Value.Check(TrialRequest, request)) {
            return { answer: { refused: 'this is no request for a trial' }, is_last: true }
          }
          if (request.is === 'begin') {
            const { inverter_id, limit_w, asked_by } = request
            try {
              trial = trials.begin(inverter_id, limit_w, asked_by)
            } catch (error) {
              return { answer: { refused: (error as Error).message }, is_last: false }
            }
          }
          if (request.is === 'give_back') trial?.giveBack()
          if (request.is === 'end') trial?.end()
          const view = trials.look(request.inverter_id)
          const { over = null, found_w = null } = trial ?? {}
          const answer = view ? { view, over, found_w } : { refused: 'the site has no such device' }
          return { answer, is_last: false }
        },
        end() {
          trial?.end()
        },
      }
    },
  })
}

/** Operations of agents, below /mcp: the tools call them, and so may a script. */
import { addDays } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import { planOrder, refusalError } from '../batteries/schedules/commands.ts'
import type { Needs } from '../batteries/schedules/endpoints.ts'
import { OptimizeBody } from '../batteries/schedules/schemas.ts'
import { foresee } from '../control/commands.ts'
import { windowExample } from '../control/endpoints.ts'
import { WindowBody } from '../control/schemas.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, id_max } from '../http/params.ts'
import { listProposals, makeProposal, Proposal, ProposalId } from './proposals.ts'

const reason = 'The price is below 0 from 11:00.'
const Reason = field.Text('Why, for the person who decides.', {
  minLength: 3,
  maxLength: 500,
  pattern: '\\S.*\\S.*\\S',
  examples: [reason],
})

export const CurtailmentProposal = Closed({ ...WindowBody.properties, reason: Reason })
export const BatteryPlanProposal = Closed({
  bess_id: field.Int('The battery unit.', { minimum: 0, maximum: id_max, examples: [1] }),
  ...OptimizeBody.properties,
  reason: Reason,
})

const tag = { tag: 'Agents' } as const
const waits =
  'Nothing is commanded: the proposal waits for a person, who decides on the page of the site ' +
  'within an hour.'

const proposeCurtailment = endpoint({
  ...tag,
  scope: 'curtailment:write',
  module: 'basic_scada',
  method: 'POST',
  path: '/mcp/sites/{site_id}/curtailment-proposals',
  operation_id: 'agent_curtailment_propose',
  summary: 'Propose a limit of plants in a time window',
  description: `Returns the proposal with the limit of each plant and warnings. ${waits}`,
  params: { site_id: Type.String() },
  body: CurtailmentProposal,
  status: 201,
  returns: Proposal,
  example: { body: { ...windowExample, reason } },
  async handle({ tx, site: { site_id }, caller, body }, { clock }: Needs) {
    const { reason, ...command } = body
    const now = clock.now()
    const [start_at, end_at] = [new Date(command.start_at), new Date(command.end_at)]
    const seen = await foresee(tx, { ...command, site_id, start_at, end_at, now })
    const limits = seen.limits.map(({ logger_id, rated_power_kw, max_power_kw }) => ({
      logger_id,
      rated_power_kw,
      max_power_kw,
    }))
    const effect = { limits, warnings: seen.warnings }
    const order = { site_id, kind: 'curtailment', command, effect, reason, caller, now } as const
    return makeProposal(tx, { ...order, ends_at: end_at })
  },
})

const proposeBatteryPlan = endpoint({
  ...tag,
  scope: 'bess:write',
  module: 'bess',
  method: 'POST',
  path: '/mcp/sites/{site_id}/battery-plan-proposals',
  operation_id: 'agent_battery_plan_propose',
  summary: 'Propose a plan of a battery for a day',
  description:
    `Returns the proposal with the best plan at present, which is not stored as a schedule. ${waits} ` +
    'The plan is computed again at the approval, which is rejected when it has changed.',
  params: { site_id: Type.String() },
  body: BatteryPlanProposal,
  status: 201,
  returns: Proposal,
  example: { body: { bess_id: 1, reason } },
  async handle({ tx, site: { site_id }, caller, body }, { clock, batteryPlanner }: Needs) {
    const { reason, bess_id, ...asked } = body
    const now = clock.now()
    const order = { planner: batteryPlanner, body: asked, bess_id }
    const plan = () => planOrder(tx, { site_id, now }, order)
    const { date, planned, refused } = await batteryPlanner.admit(site_id, plan)
    if (refused[0]) throw refusalError(refused[0].refusal)
    const [unit] = planned
    if (!unit) throw new ApiError('not_found', { bess_id })
    const command = { ...asked, bess_id, target_date: date, idle: asked.idle ?? false }
    const hours = unit.hours
      .filter(({ start_at }) => Date.parse(start_at) > now.getTime())
      .map(({ start_at, power_kw, soc_end_pct, price_per_mwh }) => ({
        start_at,
        power_kw,
        soc_end_pct,
        price_per_mwh,
      }))
    const effect = { objective: unit.objective, totals: unit.plan.totals, hours }
    const ends_at = new Date(addDays(date, 1))
    const made = { site_id, kind: 'battery_plan', command, effect, reason, caller, now } as const
    return makeProposal(tx, { ...made, ends_at })
  },
})

const listOwnProposals = endpoint({
  ...tag,
  scope: null,
  module: null,
  method: 'GET',
  path: '/mcp/sites/{site_id}/proposals',
  operation_id: 'agent_proposals_list',
  summary: 'List the proposals of the key',
  description: 'Returns the proposals of the key, newest first, with what people decided.',
  params: { site_id: Type.String() },
  cursor: { proposal_id: ProposalId },
  returns: CursorList(Proposal),
  async handle({ site: { site_id }, caller, after }, { db, clock }: Needs) {
    const of = { site_id, caller, key_id: caller.key_id, after: after?.proposal_id ?? null }
    const { page, count } = await listProposals(db, of, clock.now())
    return cursorList(page, count)
  },
})

export const agentEndpoints: readonly Endpoint<Needs>[] = [
  proposeCurtailment,
  proposeBatteryPlan,
  listOwnProposals,
]

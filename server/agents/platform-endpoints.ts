/** A person decides on the proposals of agents. An approval runs the command of the page. */
import { checkSite, type PlatformNeeds, platformOperation } from '../access/platform-operation.ts'
import { SiteId } from '../access/schemas.ts'
import {
  approveSchedule,
  optimizeUnit,
  type Needs as ScheduleNeeds,
} from '../batteries/schedules/endpoints.ts'
import type { Schedule } from '../batteries/schedules.ts'
import { curtailWindow } from '../control/endpoints.ts'
import type { CurtailmentGroup } from '../control/schemas.ts'
import { loadSites, requireModule, requireScope, siteKey } from '../http/authorize.ts'
import {
  type Caller,
  type Endpoint,
  endpoint,
  type RequestSite,
  type WriteParts,
} from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed } from '../http/params.ts'
import { refuseInSafeMode } from '../http/safe-mode.ts'
import { scopeModules } from '../http/scope-modules.ts'
import { validators } from '../http/validate.ts'
import {
  decide,
  listProposals,
  lockWaiting,
  type PlannedHour,
  Proposal,
  ProposalId,
  type ProposalRow,
  proposalScopes,
} from './proposals.ts'

export interface Needs extends PlatformNeeds, Omit<ScheduleNeeds, 'clock' | 'db'> {}

export const getProposals = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path: '/platform/proposals',
  operation_id: 'platform_proposals_list',
  summary: 'List the proposals of agents',
  description: 'Returns the proposals of a site, newest first.',
  query: { site_id: SiteId },
  cursor: { proposal_id: ProposalId },
  returns: CursorList(Proposal),
  async handle({ caller, query: { site_id }, after }, { db, clock }: Needs) {
    await checkSite(db, caller, site_id)
    const of = { site_id, caller, key_id: null, after: after?.proposal_id ?? null }
    const { page, count } = await listProposals(db, of, clock.now())
    return cursorList(page, count)
  },
})

const example = { site_id: 'demo', proposal_id: 12 }

const target = { site_id: SiteId, proposal_id: ProposalId }

export const approveProposal = endpoint({
  ...platformOperation,
  role: 'operator',
  method: 'POST',
  path: '/platform/proposals/approve',
  operation_id: 'platform_proposal_approve',
  summary: 'Approve a proposal, which commands it',
  description:
    'Returns the approved proposal. Its command is checked as one of the person and executed in ' +
    'their name. Rejected with 409 when the proposal does not wait any more, and, with ' +
    '`details.current_state` `plan_changed`, when the best plan of the battery is another by now.',
  body: Closed(target),
  returns: Proposal,
  example: { body: example },
  async handle({ tx, caller, request_id, body }, needs: Needs) {
    const { site, row } = await waiting(tx, caller, body, needs)
    const run = runner({ tx, caller, request_id, site }, needs)
    const result_id = await commands[row.kind](row, run, needs)
    return decideAs(tx, { caller, site, row }, needs, { decision: 'approved', result_id })
  },
})

export const rejectProposal = endpoint({
  ...platformOperation,
  role: 'operator',
  method: 'POST',
  path: '/platform/proposals/reject',
  operation_id: 'platform_proposal_reject',
  summary: 'Reject a proposal',
  example: { body: { ...example, note: null } },
  description: 'Returns the rejected proposal. Rejected with 409 when it does not wait any more.',
  body: Closed({
    ...target,
    note: field.TextOrNull('Why.', { maxLength: 500, examples: ['No.'] }),
  }),
  returns: Proposal,
  async handle({ tx, caller, body }, needs: Needs) {
    const { site, row } = await waiting(tx, caller, body, needs)
    return decideAs(tx, { caller, site, row }, needs, { decision: 'rejected', note: body.note })
  },
})

/** @throws ApiError also for a person without the scope of the command */
async function waiting(
  tx: WriteParts['tx'],
  caller: Caller,
  { site_id, proposal_id }: { site_id: string; proposal_id: number },
  { clock }: Needs,
) {
  await checkSite(tx, caller, site_id)
  const row = await lockWaiting(tx, { site_id, proposal_id }, clock.now())
  const scope = proposalScopes[row.kind].write
  requireScope(caller, scope)
  requireModule(caller, scopeModules[scope])
  const key = siteKey(caller.client_id, site_id)
  const site = (await loadSites(tx, [key])).get(key)
  if (!site) throw new ApiError('not_found')
  return { site, row }
}

function decideAs(
  tx: WriteParts['tx'],
  { caller, site, row }: { caller: Caller; site: RequestSite; row: ProposalRow },
  { clock }: Needs,
  {
    decision,
    note = null,
    result_id = null,
  }: Pick<ProposalRow, 'decision'> & {
    note?: string | null
    result_id?: string | null
  },
) {
  const by = { decided_at: clock.now(), decided_by: caller.key_name }
  return decide(tx, site.site_id, row, { decision, note, result_id, ...by })
}

type Run = <Answer>(
  name: keyof typeof operations,
  given: { params?: Record<string, unknown>; body?: object },
) => Promise<Answer>

const operations = { curtailWindow, optimizeUnit, approveSchedule }
const declared = Object.values(operations) as unknown as Endpoint<never>[]

/** Runs operations of the API as the person, in the transaction of the approval. */
function runner(
  as: { tx: WriteParts['tx']; caller: Caller; request_id: string; site: RequestSite },
  needs: Needs,
): Run {
  refuseInSafeMode(as.site)
  return async (name, { params = {}, body }) => {
    const of = operations[name] as unknown as Endpoint<never>
    const validate = validators(declared)(of)
    const valid = validate({ params, query: {}, body, body_bytes: 0 })
    const write = { if_match: null, idempotency_key: null, read_only: {} }
    const request = { ...as, ...valid, ...write, window: undefined }
    return (await of.handle(request as never, needs as never)) as never
  }
}

/** Commands by kind; each returns the id of what it created. */
const commands = {
  async curtailment({ command }: ProposalRow, run: Run) {
    const group = await run<CurtailmentGroup>('curtailWindow', { body: command })
    return group.group_id
  },
  async battery_plan({ command, effect }: ProposalRow, run: Run, { clock }: Needs) {
    const { bess_id, ...body } = command as { bess_id: number }
    const { hours } = effect as { hours: PlannedHour[] }
    const made = await run<Schedule>('optimizeUnit', { params: { bess_id }, body })
    refuseChanged(hours, made, clock.now())
    const { schedule_id } = made
    await run<Schedule>('approveSchedule', { params: { schedule_id } })
    return String(schedule_id)
  },
}

/** Difference of an hour that is accepted: a measured state of charge is never quite the same. */
const changed_kw = 1
const changed_pct = 5

/** What is approved is what was shown, as far as it has not begun. */
function refuseChanged(shown: readonly PlannedHour[], { hours }: Schedule, now: Date): void {
  const largest_kw = Math.max(0, ...shown.map(({ power_kw }) => Math.abs(power_kw)))
  const accepted_kw = changed_kw + (changed_pct / 100) * largest_kw
  const powers = new Map(hours.map(({ start_at, power_kw }) => [Date.parse(start_at), power_kw]))
  for (const { start_at, power_kw } of shown) {
    const at_ms = Date.parse(start_at)
    const planned_kw = powers.get(at_ms) ?? 0
    if (at_ms <= now.getTime() || Math.abs(planned_kw - power_kw) <= accepted_kw) continue
    const details = { hour_at: start_at, shown_kw: power_kw, planned_kw }
    throw new ApiError('conflict_state', { current_state: 'plan_changed', ...details })
  }
}

/** Commands that agents propose: stored until a person decides, at most for an hour. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { objectives } from '@heliograph/optimize/dispatch-problem'
import { type Static, Type } from 'typebox'
import { ScheduleTotals } from '../batteries/schedule-plan.ts'
import { limitModes, rowScopes } from '../control/curtailment-row.ts'
import { CurtailmentGroup } from '../control/schemas.ts'
import { publish } from '../events/publish.ts'
import { mayRead } from '../http/authorize.ts'
import { pageOf } from '../http/cursor.ts'
import type { Caller, Scope } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { id_max, Named, Nullable } from '../http/params.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { type Stored, served } from '../storage/records.ts'
import { insertRow } from '../storage/rows.ts'
import { takeId } from '../storage/site-ids.ts'
import { notify } from '../work/notifications.ts'

/** Each kind with the scope that it takes to propose and to approve it, and to read it. */
export const proposalScopes = {
  curtailment: { write: 'curtailment:write', read: 'curtailment:read' },
  battery_plan: { write: 'bess:write', read: 'bess:read' },
} as const satisfies Record<string, { write: Scope; read: Scope }>
type ProposalKind = keyof typeof proposalScopes
const kinds = Object.keys(proposalScopes) as ProposalKind[]

export const ProposalId = field.Int('The proposal.', {
  minimum: 1,
  maximum: id_max,
  examples: [12],
})
const BessId = field.Int('The battery unit.', 1)

const ProposedCurtailment = Named('ProposedCurtailment', {
  scope: Type.Enum([...rowScopes]),
  limit_mode: Type.Enum([...limitModes]),
  limit_value: field.Num('In % or kW by `limit_mode`.', 60),
  start_at: field.At('Start.', '2036-06-21T11:00:00Z'),
  end_at: field.At('End.', '2036-06-21T13:30:00Z'),
  limits: Type.Array(
    Named('ProposedLimit', {
      logger_id: field.Int('The plant.', 2),
      rated_power_kw: field.Num('Rated power of the plant, kW.', 400),
      max_power_kw: field.Num('Limit of the plant, kW.', 240),
    }),
    { description: 'The limit of each plant.' },
  ),
  warnings: CurtailmentGroup.properties.warnings,
})

export type PlannedHour = Static<typeof PlannedHour>
const PlannedHour = Named('ProposedHour', {
  start_at: field.At('Start of the hour.', '2026-06-21T19:00:00.000Z'),
  power_kw: field.Num('Power, kW; positive is discharging.', 180),
  soc_end_pct: field.Num('State of charge at the end of the hour, %.', 34.86),
  price_per_mwh: field.NumOrNull('Price, per MWh.', 132),
})

const ProposedBatteryPlan = Named('ProposedBatteryPlan', {
  bess_id: BessId,
  target_date: field.Day('UTC day of the plan.', '2026-06-21'),
  objective: Type.Enum([...objectives]),
  idle: field.Flag('The unit stops for the rest of the day.', false),
  totals: ScheduleTotals,
  hours: Type.Array(PlannedHour, { description: 'Hours that have not begun at the proposal.' }),
})

/** Details of each kind: the command, and what it would do when it was proposed. */
const Details = {
  curtailment: ProposedCurtailment,
  battery_plan: ProposedBatteryPlan,
}
const made = {
  proposal_id: ProposalId,
  kind: field.OneOf(kinds, 'What is proposed.', 'curtailment'),
  reason: field.Text('Reason of the agent.', 'The price is below 0 from 11:00.'),
  made_at: field.At('When it was proposed.'),
  made_by: field.Text('Name of the key of the agent.', 'assistant'),
  lapses_at: field.At('Until when it can be approved.', '2026-06-21T11:00:00.000Z'),
}

/** The record of the event: the command itself needs the scope of its kind. */
export const ProposalMade = Named('ProposalMade', made)

const statuses = ['waiting', 'approved', 'rejected', 'lapsed', 'key_ended'] as const

export type Proposal = Static<typeof Proposal>
export const Proposal = Named('Proposal', {
  ...made,
  status: field.OneOf(
    statuses,
    '`lapsed`: nobody decided in time. `key_ended`: the key of the agent was revoked, has expired ' +
      'or lost its scope or site. Only a `waiting` proposal can be approved or rejected.',
    'waiting',
  ),
  decided_at: field.AtOrNull('When a person decided.'),
  decided_by: field.TextOrNull('The person who decided.', 'Ada'),
  note: field.TextOrNull('Note of that person.', 'Needed for the works on Tuesday.'),
  result_id: field.TextOrNull('The `group_id` or `schedule_id` that the approval created.'),
  curtailment: Nullable(ProposedCurtailment),
  battery_plan: Nullable(ProposedBatteryPlan),
})

export interface ProposalRow
  extends Stored<Omit<Proposal, 'status' | 'curtailment' | 'battery_plan'>> {
  key_id: string
  command: object
  effect: object
  decision: 'approved' | 'rejected' | null
  is_key_entitled: boolean
}

function statusOf({ decision, is_key_entitled, lapses_at }: ProposalRow, now: Date) {
  if (decision !== null) return decision
  if (!is_key_entitled) return 'key_ended'
  return lapses_at > now ? 'waiting' : 'lapsed'
}

function proposalRecord(row: ProposalRow, now: Date): Proposal {
  const detail = { ...row.command, ...row.effect }
  return served(Proposal, {
    ...row,
    status: statusOf(row, now),
    curtailment: null,
    battery_plan: null,
    [row.kind]: served(Details[row.kind], detail as never),
  })
}

/** Proposals with whether their key has the right to make them at the time `now`. */
const selecting = (now: string) => `
  select p.*, k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})
    and case p.kind ${kinds.map((kind) => `when '${kind}' then '${proposalScopes[kind].write}'`).join(' ')} end
      = any (k.scopes)
    and (k.site_ids is null or p.site_id = any (k.site_ids)) as is_key_entitled
  from proposals p join api_keys k using (key_id)`

const kept_days = 400

export async function deleteOldProposals(db: Queries, now: Date): Promise<void> {
  await db.execute(
    `delete from proposals p using sites s where p.site_id = s.site_id and p.made_at < $1`,
    [new Date(now.getTime() - kept_days * day_ms)],
  )
}

const lifetime_ms = hour_ms
const waiting_max = 20

interface NewProposal<Kind extends ProposalKind> {
  site_id: string
  kind: Kind
  command: object
  effect: object
  reason: string
  caller: Caller
  now: Date
  /** The end of what is proposed. */
  ends_at: Date
}

/** @throws ApiError 401 for a session, 409 when too many proposals wait */
export async function makeProposal<Kind extends ProposalKind>(
  tx: Transaction,
  { site_id, kind, command, effect, reason, caller, now, ends_at }: NewProposal<Kind>,
): Promise<Proposal> {
  // People command by themselves.
  if (caller.role !== undefined) throw new ApiError('missing_api_key')
  const [waiting] = await tx.query<{ count: number }>(
    `select count(*)::int as count from proposals
     where site_id = $1 and key_id = $2 and decision is null and lapses_at > $3`,
    [site_id, caller.key_id, now],
  )
  if (waiting!.count >= waiting_max) {
    throw new ApiError('conflict_state', { current_state: 'too_many_waiting', waiting_max })
  }
  const lapses_at = new Date(Math.min(now.getTime() + lifetime_ms, ends_at.getTime()))
  const columns = {
    site_id,
    proposal_id: await takeId(tx, site_id, 'proposal_id'),
    kind,
    command: JSON.stringify(command),
    effect: JSON.stringify(effect),
    reason,
    made_at: now,
    made_by: caller.key_name,
    key_id: caller.key_id,
    lapses_at,
  }
  const returning = 'returning *, true as is_key_entitled'
  const row = await insertRow<ProposalRow>(tx, 'proposals', columns, returning)
  const proposal = proposalRecord(row!, now)
  const { proposal_id, battery_plan } = proposal
  publish(tx, {
    site_id,
    at: now,
    type: 'proposal.made',
    subject: `proposal/${proposal_id}`,
    link: battery_plan ? `/bess/${battery_plan.bess_id}/schedules` : '/curtailment',
    record: served(ProposalMade, proposal),
  })
  await notify(tx, {
    site_id,
    at: now,
    type: 'system',
    severity: 'warning',
    recipient: null,
    title: `${caller.key_name} proposes a ${kind.replace('_', ' ')}`,
    body: `${reason} Decide on the page Proposals until ${proposal.lapses_at.slice(0, 16)}Z.`,
  })
  return proposal
}

const page_size = 50

/** Newest first. `key_id`: only proposals of this key. */
export async function listProposals(
  db: Queries,
  of: { site_id: string; caller: Caller; key_id: string | null; after: number | null },
  now: Date,
) {
  const readable = kinds.filter((kind) => mayRead(of.caller, proposalScopes[kind].read))
  const where = `p.site_id = $1 and p.kind = any ($2) and ($3::text is null or p.key_id = $3)`
  const values = [of.site_id, readable, of.key_id]
  const rows = await db.query<ProposalRow>(
    `${selecting('$4')} where ${where} and ($5::int is null or p.proposal_id < $5)
     order by p.proposal_id desc limit $6`,
    [...values, now, of.after, page_size + 1],
  )
  const [all] = await db.query<{ count: number }>(
    `select count(*)::int as count from proposals p where ${where}`,
    values,
  )
  const page = pageOf(rows, page_size, ({ proposal_id }) => ({ proposal_id }))
  const items = page.rows.map((row) => proposalRecord(row, now))
  return { page: { ...page, rows: items }, count: all!.count }
}

/** Locks a proposal and its key. @throws ApiError 404, and 409 when it does not wait */
export async function lockWaiting(
  tx: Transaction,
  { site_id, proposal_id }: { site_id: string; proposal_id: number },
  now: Date,
): Promise<ProposalRow> {
  const [row] = await tx.query<ProposalRow>(
    `${selecting('$3')} where p.site_id = $1 and p.proposal_id = $2 for update of p for share of k`,
    [site_id, proposal_id, now],
  )
  if (!row) throw new ApiError('not_found', { proposal_id })
  const current_state = statusOf(row, now)
  if (current_state !== 'waiting') {
    throw new ApiError('conflict_state', { current_state, allowed: ['waiting'] })
  }
  return row
}

interface Decision extends Pick<ProposalRow, 'decision' | 'note' | 'result_id'> {
  decided_at: Date
  decided_by: string
}

export async function decide(
  tx: Transaction,
  site_id: string,
  row: ProposalRow,
  decision: Decision,
): Promise<Proposal> {
  await tx.execute(
    `update proposals set decision = $3, decided_at = $4, decided_by = $5, note = $6,
       result_id = $7
     where site_id = $1 and proposal_id = $2`,
    [
      site_id,
      row.proposal_id,
      decision.decision,
      decision.decided_at,
      decision.decided_by,
      decision.note,
      decision.result_id,
    ],
  )
  return proposalRecord({ ...row, ...decision }, decision.decided_at)
}

/** Creates and releases curtailment groups, each within the transaction of its request. */

import {
  limitsOf,
  type Plant,
  type PlantLimit,
  type RequestedLimit,
} from '@heliograph/domain/limit-shares'
import { ApiError, invalid, unknownReference, type Violation, violation } from '../http/errors.ts'
import { isFromOutside, noteChange } from '../storage/curtailment.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { takeIds } from '../storage/site-ids.ts'
import { publishAccepted } from './published.ts'
import type { CurtailmentGroup } from './schemas.ts'
import { warningsOf } from './warnings.ts'

export interface Command extends RequestedLimit {
  site_id: string
  source: 'api' | 'standing_order'
  scope: 'site' | 'logger'
  /** The plant; for scope `logger` alone. */
  logger_id?: number | null | undefined
  start_at: Date
  end_at: Date
  /** End of an immediate command; null for a window. */
  hold_until_at: Date | null
  now: Date
  created_by: string
  request_id: string
  idempotency_key: string | null
}

interface Created extends Pick<CurtailmentGroup, 'group_id' | 'warnings' | 'skipped'> {}

/** Limit of open rows per site: the edge receives all of them in one message. */
const open_rows_max = 10_000

/**
 * Creates the group with one row for each plant.
 *
 * @throws ApiError 422 for an invalid field, 409 without a plant in service or with too many open
 *   rows
 */
export async function createGroup(tx: Transaction, command: Command): Promise<Created> {
  const { site_id } = command
  // First, as it locks the site: each write then sees the rows of the writes before.
  await noteChange(tx, site_id)
  const { plants, skipped } = await plantsFor(tx, command)
  const limits = limitsOf(command, plants)
  await checkOpenRows(tx, command, limits.length)
  const group_id = await insertGroup(tx, command, limits)
  await publishAccepted(tx, { site_id, group_id, now: command.now })
  return { group_id, skipped, warnings: await warningsOf(tx, command, { group_id, limits }) }
}

type Addressed = Pick<Command, 'site_id' | 'scope' | 'logger_id' | 'end_at' | 'now'>

/** @throws ApiError 422 for an unknown plant or a past end, 409 without a plant in service */
export async function plantsFor(
  db: Queries,
  { site_id, scope, logger_id, end_at, now }: Addressed,
) {
  const loggers = await db.query<Plant & { is_retired: boolean }>(
    `select logger_id, rated_power_kw, retired_at is not null as is_retired
     from loggers where site_id = $1 order by logger_id`,
    [site_id],
  )
  const in_service = loggers.filter(({ is_retired }) => !is_retired)
  const addressed =
    scope === 'site' ? in_service : in_service.filter((plant) => plant.logger_id === logger_id)
  const is_given = logger_id !== undefined && logger_id !== null
  const violations: Violation[] = []
  if (scope === 'logger' && !is_given) {
    violations.push(violation('logger_id', 'required', 'is required with scope "logger"'))
  } else if (scope === 'logger' && addressed.length === 0) {
    const message = 'must be a logger of this site that is in service'
    violations.push(unknownReference('logger_id', message))
  }
  if (end_at <= now) violations.push(violation('end_at', 'out_of_range', 'must be later than now'))
  if (violations.length > 0) throw invalid(...violations)
  if (addressed.length === 0) {
    throw new ApiError('conflict_state', { current_state: 'no_plants', allowed: ['in_service'] })
  }
  const retired = scope === 'site' ? loggers.filter(({ is_retired }) => is_retired) : []
  return {
    plants: addressed.map(({ logger_id, rated_power_kw }) => ({ logger_id, rated_power_kw })),
    skipped: retired.map(({ logger_id }) => ({ logger_id, reason: 'retired' as const })),
  }
}

/** What a command would do if it was created now. Throws as `createGroup` does. */
export async function foresee(
  db: Queries,
  command: Omit<
    Command,
    'source' | 'created_by' | 'request_id' | 'idempotency_key' | 'hold_until_at'
  >,
) {
  const { plants } = await plantsFor(db, command)
  const limits = limitsOf(command, plants)
  return { limits, warnings: await warningsOf(db, command, { group_id: null, limits }) }
}

async function checkOpenRows(tx: Transaction, { site_id, now }: Command, count: number) {
  const [open] = await tx.query<{ count: number }>(
    'select count(*)::int as count from curtailment_rows where site_id = $1 and end_at > $2',
    [site_id, now],
  )
  if (open!.count + count <= open_rows_max) return
  const details = { current_state: 'too_many_rows', open_rows: open!.count, open_rows_max }
  throw new ApiError('conflict_state', details)
}

async function insertGroup(
  tx: Transaction,
  command: Command,
  limits: readonly PlantLimit[],
): Promise<string> {
  const { site_id, start_at, end_at } = command
  const [group] = await tx.query<{ group_id: string }>(
    `insert into curtailment_groups
       (site_id, source, scope, limit_mode, limit_value, hold_until_at, created_at, created_by,
        idempotency_key, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning group_id`,
    [
      site_id,
      command.source,
      command.scope,
      command.limit_mode,
      command.limit_value,
      command.hold_until_at,
      command.now,
      command.created_by,
      command.idempotency_key,
      command.request_id,
    ],
  )
  const row_ids = await takeIds(tx, { site_id, kind: 'row_id', count: limits.length })
  const rows = limits.map((limit, nth) => ({ ...limit, row_id: row_ids[nth] }))
  await tx.execute(
    `insert into curtailment_rows
       (site_id, group_id, start_at, end_at, row_id, logger_id, max_power_kw,
        requested_max_power_kw, rated_power_kw)
     select $1, $2, $3, $4, row_id, logger_id, max_power_kw, requested_max_power_kw, rated_power_kw
     from jsonb_populate_recordset(null::curtailment_rows, $5::jsonb)`,
    [site_id, group!.group_id, start_at, end_at, JSON.stringify(rows)],
  )
  return group!.group_id
}

/** Releases the open rows of a group. Returns false for an unknown group, or one from outside. */
export async function releaseGroup(
  tx: Transaction,
  { site_id, group_id, now, by }: { site_id: string; group_id: string; now: Date; by: string },
): Promise<boolean> {
  const found = await tx.query(
    `select from curtailment_groups g
     where site_id = $1 and group_id = $2 and not ${isFromOutside}`,
    [site_id, group_id],
  )
  if (found.length === 0) return false
  await noteChange(tx, site_id)
  const released = await tx.execute(
    `update curtailment_rows set released_at = $3
     where site_id = $1 and group_id = $2 and released_at is null and end_at > $3`,
    [site_id, group_id, now],
  )
  if (released > 0) {
    await tx.execute(
      `update curtailment_groups set cancelled_by = coalesce(cancelled_by, $3)
       where site_id = $1 and group_id = $2`,
      [site_id, group_id, by],
    )
  }
  return true
}

/** The audit log for the operator of the server: writes, sign-ins and the progress of limits. */
import { day_ms } from '@heliograph/domain/durations'
import type { Admin } from './admin.ts'
import type { AuditEntry } from './schemas.ts'
import { findSite } from './sites.ts'

/** Progress of a limit at one plant; each instant is null until it is reached. */
interface LimitedPlant {
  logger_id: number
  start_at: string
  end_at: string
  max_power_kw: number
  acknowledged_at: string | null
  applied_at: string | null
  verified_at: string | null
  released_at: string | null
  restored_at: string | null
  failure_code: string | null
}

/** An entry; texts are truncated to 4096 characters. */
export interface AuditedWrite
  extends Pick<
    AuditEntry,
    'site_id' | 'method' | 'path' | 'body' | 'status' | 'address' | 'request_id'
  > {
  at: Date
  client: string
  /** `by` and `by_name` of the API. */
  key_id: string
  key_name: string
  /** JSON; null without a body. */
  answer: string | null
  idempotency_key: string | null
  /** The limit that was set or released. */
  curtailment: {
    group_id: string
    released_by: string | null
    plants: LimitedPlant[]
  } | null
}

interface AuditAsked {
  site_id?: string | undefined
  /** Inclusive. Defaults to 30 days before `to`. */
  from?: Date | undefined
  /** Exclusive. Defaults to now. */
  to?: Date | undefined
  /** Id or name of a key or user. */
  key?: string | undefined
  /** Maximum number of entries; the newest are returned. */
  limit: number
}

const window_ms = 30 * day_ms

/** The matching entries in order of time; `count` is their number, whatever the limit. */
export async function listWrites(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  asked: AuditAsked,
): Promise<{ from: Date; to: Date; count: number; writes: AuditedWrite[] }> {
  const to = asked.to ?? clock.now()
  const from = asked.from ?? new Date(to.getTime() - window_ms)
  if (asked.site_id !== undefined) await findSite({ db }, asked.site_id)
  const values = [asked.site_id ?? null, from, to, asked.key ?? null]
  const [matching] = await db.query<{ count: number }>(
    `select count(*)::int as count from ${audited} as a where ${condition}`,
    values,
  )
  const newest = await db.query<AuditedWrite>(
    `select a.at, o.name as client, a.site_id, a.key_id, a.key_name, a.method, a.path, a.body,
       a.status, a.answer, a.address, a.request_id, a.idempotency_key, c.curtailment
     from (select * from ${audited} as a where ${condition}
           order by a.at desc, a.audit_id desc limit $5) as a
       join clients o using (client_id)
       left join lateral (${curtailment}) as c on true
     order by a.at, a.audit_id`,
    [...values, asked.limit],
  )
  return { from, to, count: matching!.count, writes: newest.map(inUtc) }
}

/** PostgreSQL writes timestamps in JSON with the offset of the session. */
function inUtc(write: AuditedWrite): AuditedWrite {
  const { curtailment } = write
  if (curtailment === null) return write
  const plants = curtailment.plants.map((plant) => {
    const instants = Object.entries(plant).filter(([name, at]) => name.endsWith('_at') && at)
    const utc = instants.map(([name, at]) => [name, new Date(at as string).toISOString()])
    return { ...plant, ...Object.fromEntries(utc) }
  })
  return { ...write, curtailment: { ...curtailment, plants } }
}

const columns = `audit_id, at, key_id, key_name, method, path, body, status, answer, address,
  request_id, idempotency_key`

const audited = `(
  select client_id, site_id, ${columns} from write_audit join sites using (site_id)
  union all select client_id, null, ${columns} from client_audit)`

const condition = `
  ($1::text is null or a.site_id = $1) and a.at >= $2 and a.at < $3
  and ($4::text is null or a.key_id = $4 or a.key_name = $4)`

/** Request ids may repeat, so a group must also match caller, key and time. */
const curtailment = `
  select jsonb_build_object('group_id', g.group_id, 'released_by', g.cancelled_by, 'plants', (
      select jsonb_agg(jsonb_build_object(
        'logger_id', r.logger_id, 'start_at', r.start_at, 'end_at', r.end_at,
        'max_power_kw', r.max_power_kw, 'acknowledged_at', r.acknowledged_at,
        'applied_at', r.applied_at, 'verified_at', r.verified_at, 'released_at', r.released_at,
        'restored_at', r.restored_at, 'failure_code', r.failure_code) order by r.logger_id)
      from curtailment_rows r where r.site_id = g.site_id and r.group_id = g.group_id
    )) as curtailment
  from curtailment_groups g
  where g.site_id = a.site_id and coalesce(a.status, 200) < 300
    and (a.method = 'DELETE' and a.path = '/curtailment/group/' || g.group_id
      or a.method = 'POST' and a.path like '/curtailment/%' and g.request_id = a.request_id
        and g.created_by = a.key_name and g.idempotency_key is not distinct from a.idempotency_key
        and g.created_at between a.at - interval '1 minute' and a.at + interval '1 minute')
  order by g.created_at desc limit 1`

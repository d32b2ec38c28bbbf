/**
 * Who asked for which write, when, what the answer was, and what became of limits; and what people
 * did about signing in.
 */
import { day_ms } from '@heliograph/domain/utc-day'
import type { Admin } from './admin.ts'
import { findSite } from './sites.ts'

/** How far the edge has come with one plant of a limit; every instant null until it is. */
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

export interface AuditedWrite {
  at: Date
  /** The name of whose it is. */
  client: string
  /** null: of the client, as its keys and people are. */
  site_id: string | null
  /**
   * The first half of the key, which names it, or a person: whose account was named, where anybody
   * may ask; `operator`: of the server, by a command.
   */
  key_id: string
  /** As the key or the person was called then. */
  key_name: string
  method: string
  /** Below the site, where it has one. */
  path: string
  /** JSON, cut after 4096 characters; null without one, and where it was not read. */
  body: string | null
  /** null: it is done, and its answer is yet to come or never came. */
  status: number | null
  /** JSON, cut like `body`; null where it had no content. */
  answer: string | null
  /** The network address that asked; null: of a command, or before it was noted. */
  address: string | null
  /** null: of a command, and of signing in before it was noted. */
  request_id: string | null
  idempotency_key: string | null
  /** Of a limit that was set or released. */
  curtailment: {
    group_id: string
    released_by: string | null
    plants: LimitedPlant[]
  } | null
}

interface AuditAsked {
  site_id?: string | undefined
  /** Inclusive; 30 days before `to` where none is given. */
  from?: Date | undefined
  /** Exclusive; now where none is given. */
  to?: Date | undefined
  /** The id of a key or a person, or the name. */
  key?: string | undefined
  /** The newest of them. */
  limit: number
}

const window_ms = 30 * day_ms

/** By time. `count` is of all that match, also beyond the limit. */
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

/** PostgreSQL writes instants within JSON by the time zone of its session. */
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

/** A request may carry an id that another had: the group is the one made with it at that time. */
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

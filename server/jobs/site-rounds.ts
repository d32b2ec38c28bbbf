/**
 * Rounds over many sites that all servers share. One begins a round; each claims some sites at a
 * time until none is left. The sites of a server that died are claimed again after a while.
 */
import type { Database, Queries } from '../storage/database.ts'

/** Notified when a round begins; the payload is the name of the job. */
export const round_channel = 'round_begins'

const sites_per_claim = 4
/** For work of less than a second a site. */
const claim_s_usual = 60

/** The job that evaluates alerts. A serious event begins a round of its site at once. */
export const alerts_job = 'evaluate_alerts'

/** Makes sites due; those left from the round before stay due. */
export async function beginRound(
  db: Queries,
  job: string,
  site_ids: readonly string[],
): Promise<void> {
  await db.execute(
    `with due as (
       insert into due_sites (site_id, job) select site_id, $1 from unnest($2::text[]) as site_id
       on conflict do nothing
     )
     select pg_notify('${round_channel}', $1)`,
    [job, site_ids],
  )
}

/** Begins a round of the sites that a statement selects. */
export async function beginRoundOf(
  db: Queries,
  job: string,
  ...query: Parameters<Queries['query']>
): Promise<void> {
  const sites = (await db.query(...query)) as { site_id: string }[]
  await beginRound(
    db,
    job,
    sites.map(({ site_id }) => site_id),
  )
}

/**
 * Works on due sites until none is left to claim. When a site fails, the others are still visited;
 * then the first error is thrown.
 */
export async function shareRound(
  db: Database,
  job: string,
  {
    work,
    signal,
    claim_s = claim_s_usual,
  }: {
    work: (site_id: string) => Promise<unknown>
    signal?: AbortSignal | undefined
    /** After this long the server of a claimed site is considered dead. */
    claim_s?: number
  },
): Promise<void> {
  const failures: unknown[] = []
  let visited = 0
  const claimNext = () => claim(db, job, claim_s)
  for (let claimed = await claimNext(); claimed.length > 0; claimed = await claimNext()) {
    const left = new Set(claimed)
    try {
      for (const site_id of claimed) {
        signal?.throwIfAborted()
        await work(site_id).catch((error: unknown) => {
          // A site that was not finished stays due.
          signal?.throwIfAborted()
          failures.push(error)
        })
        left.delete(site_id)
        visited += 1
      }
    } finally {
      await settle(db, job, { visited: claimed.filter((one) => !left.has(one)), left: [...left] })
    }
  }
  if (failures.length === 0) return
  throw new Error(`${job} failed at ${failures.length} of ${visited} sites`, { cause: failures[0] })
}

async function claim(db: Database, job: string, claim_s: number): Promise<string[]> {
  const sites = await db.query<{ site_id: string }>(
    `update due_sites d set claimed_until = now() + $2 * interval '1 s'
     from (
       select site_id from due_sites
       where job = $1 and (claimed_until is null or claimed_until < now())
       order by site_id limit ${sites_per_claim} for update skip locked
     ) as due
     where d.site_id = due.site_id and d.job = $1
     returning d.site_id`,
    [job, claim_s],
  )
  return sites.map(({ site_id }) => site_id).sort()
}

async function settle(
  db: Database,
  job: string,
  { visited, left }: { visited: readonly string[]; left: readonly string[] },
): Promise<void> {
  await db.execute('delete from due_sites where site_id = any($1) and job = $2', [visited, job])
  if (left.length === 0) return
  await db.execute(
    'update due_sites set claimed_until = null where site_id = any($1) and job = $2',
    [left, job],
  )
}

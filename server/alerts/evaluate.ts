/**
 * A round of alerts: every source looks at a site, and what it finds and does not find any more is
 * brought in step with the alerts that are there, in one transaction.
 */
import { readPlantPrices } from '../contracts/plant-prices.ts'
import { tryLock } from '../storage/advisory-lock.ts'
import type { Database, Log, Queries, Transaction } from '../storage/database.ts'
import type { ListedListener } from './alert-listeners.ts'
import type { ListedSource } from './alert-sources.ts'
import {
  dedupKey,
  type Finding,
  type Look,
  type ReadSuppression,
  type SourceContext,
  type Suppression,
} from './finding.ts'
import type { AlertChange, FinishedRound, StoredAlert } from './listener.ts'
import { type Price, reconcile, type Update } from './reconcile.ts'
import { readSettings } from './settings-store.ts'
import { addAlerts, addTransitions, changeAlerts, holdAlerts, type Transition } from './store.ts'

/** Of PostgreSQL's advisory locks, ours for the alerts of a site: `hgal`. */
const advisory_class = 0x6867616c

export interface RoundParts {
  db: Database
  log: Log
  sources: readonly ListedSource[]
  listeners: readonly ListedListener[]
  readSuppression: ReadSuppression
}

/**
 * A round of every site, one after the other. A site that fails does not keep the others from
 * theirs; the error of the first one is thrown in the end.
 */
export async function evaluateAlerts(
  parts: RoundParts,
  { now, signal }: { now: () => Date; signal?: AbortSignal },
): Promise<void> {
  const { db, log } = parts
  const sites = await db.query<{ site_id: string }>(
    // An edge whose first inventory was refused has something to tell as well.
    `select site_id from sites s
     where inventory is not null or exists (select from edges e where e.site_id = s.site_id)
     order by site_id`,
  )
  const failures: unknown[] = []
  for (const { site_id } of sites) {
    signal?.throwIfAborted()
    try {
      await evaluateSite(parts, site_id, now())
    } catch (error) {
      log.error({ err: error, site_id }, 'the alerts of a site could not be evaluated')
      failures.push(error)
    }
  }
  if (failures.length > 0) {
    const what = `alerts of ${failures.length} of ${sites.length} sites could not be evaluated`
    throw new Error(what, { cause: failures[0] })
  }
}

/**
 * One round of a site. Returns what became of its alerts; null where another process is at it, or
 * the edge has not announced the site yet.
 */
export async function evaluateSite(
  parts: RoundParts,
  site_id: string,
  now: Date,
): Promise<AlertChange[] | null> {
  const site = await readSite(parts.db, site_id)
  if (!site) return null
  const settings = await readSettings(parts.db, site_id)
  const context = { db: parts.db, site, settings, now }
  const look = await lookAll(parts, context)
  const suppression = await orTold(parts, context, 'suppression', parts.readSuppression(context))
  const prices = await orTold(parts, context, 'prices', readPrices(look.findings, context))
  const priceOf = prices ?? (() => null)
  return parts.db.transaction(async (tx) => {
    if (!(await tryLock(tx, advisory_class, site_id))) return null
    const window_ms = 1000 * settings.reopen_window_s
    const resolved_since = new Date(now.getTime() - window_ms)
    const known = await holdAlerts(tx, site_id, { resolved_since, findings: look.findings })
    const { raised, updates } = reconcile(known, look, {
      settings,
      now,
      priceOf,
      suppression: suppression ?? asBefore(known.open),
    })
    const added = raised.length > 0 ? await addAlerts(tx, site_id, raised, now) : []
    if (updates.length > 0) {
      const changed = updates.map(({ alert }) => alert)
      await changeAlerts(tx, site_id, changed, now)
    }
    await recordTransitions(tx, site_id, { added, updates, now })
    const changes = [
      ...added.map((alert) => ({ kind: 'raised' as const, alert })),
      ...updates.flatMap(({ alert, kind }) => (kind ? [{ kind, alert }] : [])),
    ]
    const open = openAfter(known.open, added, updates)
    await tell(parts, tx, { site, settings, now, changes, open })
    return changes
  })
}

async function readSite(db: Queries, site_id: string): Promise<FinishedRound['site'] | null> {
  const [site] = await db.query<FinishedRound['site']>(
    `select site_id, name, coalesce(inventory->>'timezone', 'UTC') as timezone,
       coalesce((inventory->>'latitude')::float8, 0) as latitude,
       coalesce((inventory->>'longitude')::float8, 0) as longitude, inventory->>'currency' as currency
     from sites s where site_id = $1 and (
       inventory is not null or exists (select from edges e where e.site_id = s.site_id))`,
    [site_id],
  )
  return site ?? null
}

/** What a round can do without; null, and told, where it failed. */
async function orTold<Part>(
  { log }: RoundParts,
  { site: { site_id } }: SourceContext,
  what: string,
  reading: Promise<Part>,
): Promise<Part | null> {
  try {
    return await reading
  } catch (error) {
    log.error({ err: error, site_id, what }, 'a part of a round of alerts failed')
    return null
  }
}

/** While nobody knows what explains alerts, those that were suppressed stay so. */
function asBefore(open: readonly StoredAlert[]): Suppression {
  const reasons = new Map(open.map((alert) => [alert.dedup_key, alert.suppressed_reason]))
  return (finding) => reasons.get(dedupKey(finding)) ?? null
}

/** What all sources say; one that fails can tell nothing of its alerts. */
async function lookAll(parts: RoundParts, context: SourceContext): Promise<Look> {
  const { log, sources } = parts
  const findings: Finding[] = []
  const looks = new Map<string, Look['cannotTell']>()
  for (const source of sources) {
    let look: Look
    try {
      look = checked(source, await source.look(context))
    } catch (error) {
      const { site_id } = context.site
      log.error({ err: error, site_id, source: source.name }, 'a source of alerts failed')
      continue
    }
    findings.push(...look.findings)
    for (const code of source.codes) looks.set(code, look.cannotTell)
  }
  return { findings, cannotTell: (open) => looks.get(open.code)?.(open) ?? true }
}

/** What is wrong with one finding would keep the alerts of all sources from being stored. */
function checked({ codes }: ListedSource, look: Look): Look {
  for (const { code, source_type, source_id, since } of look.findings) {
    if (!codes.includes(code)) throw new Error(`it found ${code}, which is not listed of it`)
    if (Number.isNaN(since.getTime())) {
      throw new Error(
        `it found ${code} of ${source_type} ${source_id} since an instant that is none`,
      )
    }
  }
  return look
}

const quarter_ms = 900_000

/** What contracts pay plants now, where power of any of them is affected. */
async function readPrices(
  findings: readonly Finding[],
  { db, site, now }: SourceContext,
): Promise<(plant: { logger_id: number | null }) => Price | null> {
  if (!findings.some(({ affected_power_kw: kw }) => kw !== undefined && kw > 0)) return () => null
  const hour_ms = 4 * quarter_ms
  const from_ms = Math.floor(now.getTime() / hour_ms) * hour_ms
  const { plants } = await readPlantPrices(db, {
    site_id: site.site_id,
    logger_id: null,
    site_currency: site.currency,
    from_ms,
    to_ms: from_ms + hour_ms,
  })
  const at_ms = Math.floor(now.getTime() / quarter_ms) * quarter_ms
  return ({ logger_id }) => {
    const quarter = logger_id === null ? null : plants.get(logger_id)?.(at_ms)
    if (quarter?.price == null) return null
    return { per_mwh: quarter.price / 1e6, currency: quarter.currency }
  }
}

async function recordTransitions(
  tx: Transaction,
  site_id: string,
  round: { added: readonly StoredAlert[]; updates: readonly Update[]; now: Date },
): Promise<void> {
  const by = { changed_by: 'system' }
  const transitions: Transition[] = [
    ...round.added.map(({ alert_id, status }) => ({
      alert_id,
      from_status: null,
      to_status: status,
      note: null,
      ...by,
    })),
    ...round.updates
      .filter(({ alert, from_status }) => alert.status !== from_status)
      .map(({ alert: { alert_id, status, resolution_note: note }, from_status }) => ({
        alert_id,
        from_status,
        to_status: status,
        note,
        ...by,
      })),
  ]
  if (transitions.length > 0) await addTransitions(tx, site_id, transitions, round.now)
}

function openAfter(
  before: readonly StoredAlert[],
  added: readonly StoredAlert[],
  updates: readonly Update[],
): StoredAlert[] {
  const after = new Map(before.map((alert) => [alert.alert_id, alert]))
  for (const { alert } of updates) after.set(alert.alert_id, alert)
  return [...after.values(), ...added].filter(({ status }) => status !== 'resolved')
}

/** One listener that fails must not keep alerts from being stored, nor the others from hearing. */
async function tell(parts: RoundParts, tx: Transaction, round: FinishedRound): Promise<void> {
  const { log, listeners } = parts
  for (const { name, hear } of listeners) {
    await tx.execute('savepoint listener')
    try {
      await hear(tx, round)
      await tx.execute('release savepoint listener')
    } catch (error) {
      await tx.execute('rollback to savepoint listener')
      const { site_id } = round.site
      log.error({ err: error, site_id, listener: name }, 'a listener to alerts failed')
    }
  }
}

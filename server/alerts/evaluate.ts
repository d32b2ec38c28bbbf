/**
 * A round of alerts: all sources scan a site, and its alerts are updated to the findings in one
 * transaction.
 */
import { quarter_ms } from '@heliograph/domain/durations'
import { readPlantPrices } from '../contracts/plant-prices.ts'
import { alerts_job, beginRoundOf, shareRound } from '../jobs/site-rounds.ts'
import { tryLock } from '../storage/advisory-lock.ts'
import type { Database, Log, Queries, Transaction } from '../storage/database.ts'
import type { ListedSource } from './alert-sources.ts'
import {
  dedupKey,
  type Finding,
  type ReadSuppression,
  type Scan,
  type SourceContext,
  type Suppression,
} from './finding.ts'
import type { AlertChange, FinishedRound, ListedListener } from './listener.ts'
import { publishAlerts } from './published.ts'
import { type Price, reconcile, type Update } from './reconcile.ts'
import type { StoredAlert } from './record.ts'
import { readSettings } from './settings-store.ts'
import { addAlerts, addTransitions, changeAlerts, lockAlerts } from './store.ts'

/** Class of the PostgreSQL advisory lock for the alerts of a site: `hgal`. */
const advisory_class = 0x6867616c

export interface RoundParts {
  db: Database
  log: Log
  sources: readonly ListedSource[]
  listeners: readonly ListedListener[]
  readSuppression: ReadSuppression
}

interface RoundTimes {
  now: () => Date
  signal?: AbortSignal
}

/** One round for every site, with the help of other servers. */
export async function evaluateAlerts(parts: RoundParts, times: RoundTimes): Promise<void> {
  const { db } = parts
  await beginRoundOf(
    db,
    alerts_job,
    // An edge without an accepted inventory also reports conditions.
    `select site_id from sites s
     where inventory is not null or exists (select from edges e where e.site_id = s.site_id)
     order by site_id`,
  )
  await shareAlerts(parts, times)
}

/** Evaluates sites of a round that are still due. */
export function shareAlerts(parts: RoundParts, { now, signal }: RoundTimes): Promise<void> {
  const { db, log } = parts
  const work = (site_id: string) =>
    evaluateSite(parts, site_id, now()).catch((error: unknown) => {
      log.error({ err: error, site_id }, 'the alerts of a site could not be evaluated')
      throw error
    })
  return shareRound(db, alerts_job, { work, signal })
}

/**
 * One round of a site. Returns the changes; null while another process evaluates the site, or
 * before the edge announced it.
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
  const scan = await scanAll(parts, context)
  const suppression = await orNull(parts, context, 'suppression', parts.readSuppression(context))
  const prices = await orNull(parts, context, 'prices', readPrices(scan.findings, context))
  const priceOf = prices ?? (() => null)
  return parts.db.transaction(async (tx) => {
    if (!(await tryLock(tx, advisory_class, site_id))) return null
    const window_ms = 1000 * settings.reopen_window_s
    const resolved_since = new Date(now.getTime() - window_ms)
    const known = await lockAlerts(tx, site_id, { resolved_since, findings: scan.findings })
    const { raised, updates } = reconcile(known, scan, {
      settings,
      now,
      priceOf,
      suppression: suppression ?? asBefore(known.open),
    })
    const added = raised.length > 0 ? await addAlerts(tx, site_id, raised, now) : []
    const changed = updates.map(({ alert }) => alert)
    if (updates.length > 0) await changeAlerts(tx, site_id, changed, now)
    const transitions = [
      ...added.map((alert) => ({ alert, from_status: null })),
      ...updates.filter(({ alert, from_status }) => alert.status !== from_status),
    ].map(({ alert: { alert_id, status, resolution_note }, from_status }) => ({
      alert_id,
      from_status,
      to_status: status,
      note: resolution_note,
    }))
    await addTransitions(tx, site_id, transitions, { changed_by: 'system', at: now })
    const changes = [
      ...added.map((alert) => ({ kind: 'raised' as const, alert })),
      ...updates.flatMap(({ alert, kind }) => (kind ? [{ kind, alert }] : [])),
    ]
    await publishAlerts(tx, { site_id, now }, changes)
    const open = openAfter(known.open, added, updates)
    await callListeners(parts, tx, { site, settings, now, changes, open })
    return changes
  })
}

const readSite = (db: Queries, site_id: string) =>
  db.queryOne<FinishedRound['site']>(
    `select site_id, name, coalesce(inventory->>'timezone', 'UTC') as timezone,
       coalesce((inventory->>'latitude')::float8, 0) as latitude,
       coalesce((inventory->>'longitude')::float8, 0) as longitude, inventory->>'currency' as currency
     from sites where site_id = $1 and (
       inventory is not null or exists (select from edges where site_id = $1))`,
    [site_id],
  )

/** An optional part of a round: a failure is logged and gives null. */
const orNull = <Part>(
  { log }: RoundParts,
  { site: { site_id } }: SourceContext,
  part: string,
  reading: Promise<Part>,
): Promise<Part | null> =>
  reading.catch((error: unknown) => {
    log.error({ err: error, site_id, part }, 'a part of the alert evaluation failed')
    return null
  })

/** The fallback when suppression cannot be read: suppressed alerts stay suppressed. */
function asBefore(open: readonly StoredAlert[]): Suppression {
  const reasons = new Map(open.map((alert) => [alert.dedup_key, alert.suppressed_reason]))
  return (finding) => reasons.get(dedupKey(finding)) ?? null
}

/** Alerts of a source that fails are unknown in this round. */
async function scanAll(parts: RoundParts, context: SourceContext): Promise<Scan> {
  const { log, sources } = parts
  const findings: Finding[] = []
  const scans = new Map<string, Scan['isUnknown']>()
  for (const source of sources) {
    let scan: Scan
    try {
      scan = checked(source, await source.scan(context))
    } catch (error) {
      const { site_id } = context.site
      log.error({ err: error, site_id, source: source.name }, 'an alert source failed')
      continue
    }
    findings.push(...scan.findings)
    for (const code of source.codes) scans.set(code, scan.isUnknown)
  }
  return { findings, isUnknown: (open) => scans.get(open.code)?.(open) ?? true }
}

/** One invalid finding would fail the transaction for the alerts of all sources. */
function checked({ codes }: ListedSource, scan: Scan): Scan {
  for (const { code, source_type, source_id, since } of scan.findings) {
    if (!codes.includes(code))
      throw new Error(`found ${code}, which is not among the codes of the source`)
    if (Number.isNaN(since.getTime())) {
      throw new Error(`found ${code} of ${source_type} ${source_id} with an invalid time`)
    }
  }
  return scan
}

/** Prices that the contracts pay now; read only when a finding affects power. */
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

function openAfter(
  before: readonly StoredAlert[],
  added: readonly StoredAlert[],
  updates: readonly Update[],
): StoredAlert[] {
  const after = new Map(before.map((alert) => [alert.alert_id, alert]))
  for (const { alert } of updates) after.set(alert.alert_id, alert)
  return [...after.values(), ...added].filter(({ status }) => status !== 'resolved')
}

/** A listener that fails is rolled back alone: alerts are stored and the others are called. */
async function callListeners(
  parts: RoundParts,
  tx: Transaction,
  round: FinishedRound,
): Promise<void> {
  const { log, listeners } = parts
  for (const { name, handle } of listeners) {
    await tx.execute('savepoint listener')
    try {
      await handle(tx, round)
      await tx.execute('release savepoint listener')
    } catch (error) {
      await tx.execute('rollback to savepoint listener')
      const { site_id } = round.site
      log.error({ err: error, site_id, listener: name }, 'an alert listener failed')
    }
  }
}

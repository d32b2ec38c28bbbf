/**
 * Updates the alerts of a site to the findings of a round. Pure.
 *
 * - A condition that holds longer than the raise delay becomes an alert. An alert resolves once its
 *   condition is known to be gone for the clear delay. Changes within these delays count as one
 *   occurrence.
 * - A condition that returns within the reopen window reopens its alert.
 * - An alert that a person resolved while its condition held reopens only after the condition was
 *   gone. It is raised anew if the condition outlasts the reopen window.
 * - Occurrences do not overlap.
 */
import { activeSeconds, urgentSince } from './durations.ts'
import { dedupKey, type Finding, type OpenAlert, type Scan, type Suppression } from './finding.ts'
import type { AlertChange } from './listener.ts'
import type { StoredAlert } from './record.ts'
import { alertSeverities } from './rule.ts'
import { type AlertCode, isAlertCode, ruleOf } from './rules.ts'
import type { AlertSettings } from './settings.ts'

/** Lost energy accrues for at most this long between two rounds. */
export const accrual_ms_max = 300_000

export interface Known {
  /** Unresolved alerts, at most one per key. */
  open: readonly StoredAlert[]
  /**
   * The newest resolved alert of each key. Alerts from before the reopen window are needed only
   * where a finding began before their end.
   */
  resolved: readonly StoredAlert[]
}

export interface Price {
  per_mwh: number
  currency: string
}

interface Round {
  settings: AlertSettings
  now: Date
  suppression: Suppression
  /** The current price of energy of the plant; null where unknown. */
  priceOf(plant: { logger_id: number | null }): Price | null
}

export type NewAlert = Omit<StoredAlert, 'alert_id'>

export interface Update {
  alert: StoredAlert
  /** The status before the round. */
  from_status: StoredAlert['status']
  /** The change for listeners; null where there is none to report. */
  kind: AlertChange['kind'] | null
}

interface Reconciled {
  raised: NewAlert[]
  /** Changed alerts only. */
  updates: Update[]
}

export function reconcile(known: Known, scan: Scan, round: Round): Reconciled {
  const found = new Map<string, Finding>()
  for (const finding of scan.findings) {
    const key = dedupKey(finding)
    if (isEnabled(finding.code, round) && !found.has(key)) found.set(key, finding)
  }
  const updates = known.open.flatMap((alert) => next(alert, found, scan, round) ?? [])
  const open_keys = new Set(known.open.map(({ dedup_key }) => dedup_key))
  const waited = known.resolved.map((alert) => awaitEnd(alert, found, scan, round))
  const resolved = new Map(waited.map((alert) => [alert.dedup_key, alert]))
  const raised: NewAlert[] = []
  for (const [key, finding] of found) {
    if (open_keys.has(key) || !isRipe(finding, round)) continue
    const before = resolved.get(key)
    if (!before || !mayComeAgain(before, round)) raised.push(raise(finding, before, round))
    else if (!before.awaits_end || isNew(finding, before)) {
      updates.push(reopened(before, finding, round))
    }
  }
  const waiting = waited.filter((alert, nth) => alert !== known.resolved[nth])
  const seen = waiting.map((alert) => ({ alert, from_status: alert.status, kind: null }))
  return { raised, updates: [...updates, ...seen] }
}

const isEnabled = (code: AlertCode, { settings }: Round) => settings.rules[code].enabled

const isRipe = ({ code, since }: Finding, { settings, now }: Round) =>
  now.getTime() - since.getTime() >= 1000 * settings.rules[code].raise_delay_s

const mayComeAgain = ({ resolved_at }: StoredAlert, { settings, now }: Round) =>
  resolved_at !== null && now.getTime() - resolved_at.getTime() < 1000 * settings.reopen_window_s

/** The open alert after the round; null where it is unchanged. */
function next(
  alert: StoredAlert,
  found: ReadonlyMap<string, Finding>,
  scan: Scan,
  round: Round,
): Update | null {
  const { code, status } = alert
  if (!isAlertCode(code)) {
    return resolved(alert, 'this version of the server does not have the rule', round)
  }
  if (!isEnabled(code, round)) return resolved(alert, 'the rule was disabled', round)
  const finding = found.get(alert.dedup_key)
  if (finding) return seenAgain(alert, finding, round)
  const ended_at = endOf(alert, scan, round)
  if (ended_at !== null && hasBeenGone(code, ended_at, round)) {
    return resolved({ ...alert, ended_at }, null, round)
  }
  const is_same = ended_at?.getTime() === alert.ended_at?.getTime()
  return is_same ? null : { alert: { ...alert, ended_at }, from_status: status, kind: null }
}

/**
 * Since when a condition without a finding is known to be gone. While it cannot be judged it is
 * null, and the clear delay starts anew afterwards.
 */
function endOf(alert: StoredAlert, scan: Scan, { now }: Round): Date | null {
  return scan.isUnknown(alert as OpenAlert) ? null : (alert.ended_at ?? now)
}

const hasBeenGone = (code: AlertCode, ended_at: Date, { settings, now }: Round) =>
  now.getTime() - ended_at.getTime() >= 1000 * settings.rules[code].clear_delay_s

function resolved(alert: StoredAlert, resolution_note: string | null, { now }: Round): Update {
  return {
    alert: {
      ...alert,
      status: 'resolved',
      ended_at: alert.ended_at ?? now,
      resolved_at: now,
      resolved_by: 'system',
      resolution: 'auto',
      resolution_note,
      awaits_end: false,
    },
    from_status: alert.status,
    kind: 'resolved',
  }
}

function seenAgain(alert: StoredAlert, finding: Finding, round: Round): Update {
  const fields = fieldsOf(finding, round)
  const updated = { ...alert, ...fields, ...lossOf(alert, fields, round) }
  const urgent_since = urgentSince(alert.urgent_since, updated, round.now)
  const seen = { ...updated, urgent_since }
  return {
    alert: { ...seen, last_seen_at: latest(alert.last_seen_at, round.now), ended_at: null },
    from_status: alert.status,
    kind: kindOf(alert, seen),
  }
}

function kindOf(before: StoredAlert, after: StoredAlert): Update['kind'] {
  if (before.suppressed_reason !== null && after.suppressed_reason === null) return 'unsuppressed'
  return rankOf(after) > rankOf(before) ? 'worsened' : null
}

const rankOf = ({ severity }: StoredAlert) => alertSeverities.indexOf(severity)
const latest = (a: Date, b: Date) => (a > b ? a : b)

/**
 * Whether the finding began after the alert was resolved and last seen. Sources search only a
 * limited time back for the start of a condition: an older start moves on with every scan.
 */
const isNew = ({ since }: Finding, { resolved_at, last_seen_at }: StoredAlert) =>
  resolved_at !== null && since > resolved_at && since > last_seen_at

/** Watches the condition of a manually resolved alert until it is known to be gone. */
function awaitEnd(
  alert: StoredAlert,
  found: ReadonlyMap<string, Finding>,
  scan: Scan,
  round: Round,
): StoredAlert {
  if (!alert.awaits_end || !isAlertCode(alert.code) || !mayComeAgain(alert, round)) return alert
  const finding = found.get(alert.dedup_key)
  if (finding) {
    if (isNew(finding, alert)) return alert
    return { ...alert, ended_at: null, last_seen_at: latest(alert.last_seen_at, round.now) }
  }
  const ended_at = endOf(alert, scan, round)
  const is_gone = ended_at !== null && hasBeenGone(alert.code, ended_at, round)
  if (!is_gone && ended_at?.getTime() === alert.ended_at?.getTime()) return alert
  return { ...alert, ended_at, awaits_end: !is_gone }
}

/** The end of a resolved alert, before which no further occurrence may begin. */
function overAt({ ended_at, resolved_at, resolution }: StoredAlert, now: Date): Date {
  const over_at = ended_at ?? resolved_at ?? now
  return resolution === 'manual' && resolved_at ? latest(over_at, resolved_at) : over_at
}

function raise(finding: Finding, before: StoredAlert | undefined, round: Round): NewAlert {
  const { code, source_type, source_id, part = null } = finding
  const { now } = round
  const { title, category } = ruleOf(code)
  const fields = fieldsOf(finding, round)
  return {
    dedup_key: dedupKey(finding),
    code,
    source_type,
    source_id,
    part,
    title,
    category,
    ...fields,
    logger_id: finding.logger_id ?? null,
    inverter_id: finding.inverter_id ?? null,
    string_index: finding.string_index ?? null,
    bess_id: finding.bess_id ?? null,
    node_id: finding.node_id ?? null,
    location_id: finding.location_id ?? null,
    status: 'active',
    started_at: before ? latest(finding.since, overAt(before, now)) : finding.since,
    detected_at: now,
    last_seen_at: now,
    ended_at: null,
    occurrence_count: 1,
    reopened_at: null,
    held_before_s: 0,
    lost_energy_kwh: fields.affected_power_kw === null ? null : 0,
    lost_amount: null,
    currency: null,
    acknowledged_at: null,
    acknowledged_by: null,
    ack_note: null,
    urgent_since: urgentSince(null, { ...fields, status: 'active' }, now),
    ...unresolved,
  }
}

/** The earlier acknowledgement stays on record; `status` is active again. */
function reopened(before: StoredAlert, finding: Finding, round: Round): Update {
  const { now } = round
  const fields = fieldsOf(finding, round)
  const alert = {
    ...before,
    ...fields,
    status: 'active' as const,
    urgent_since: urgentSince(null, { ...fields, status: 'active' }, now),
    last_seen_at: latest(before.last_seen_at, now),
    ended_at: null,
    occurrence_count: before.occurrence_count + 1,
    reopened_at: latest(overAt(before, now), finding.since),
    held_before_s: activeSeconds(before, before.ended_at ?? before.resolved_at ?? now),
    ...unresolved,
  }
  return { alert, from_status: before.status, kind: 'reopened' }
}

const unresolved = {
  resolved_at: null,
  resolved_by: null,
  resolution: null,
  resolution_note: null,
  awaits_end: false,
}

/** The fields of an alert that follow its finding. */
function fieldsOf(finding: Finding, { settings, suppression }: Round) {
  const { code, message, severity, vendor_codes = [] } = finding
  const rule = ruleOf(code)
  const reason = suppression(finding)
  const values = {
    value: known(finding.value),
    threshold: known(finding.threshold),
    unit: finding.unit ?? null,
    affected_power_kw: atLeastZero(known(finding.affected_power_kw)),
  }
  const none = { value: null, threshold: null, unit: null, affected_power_kw: null }
  return {
    message,
    severity: settings.rules[code].severity ?? severity ?? rule.severity,
    vendor_codes,
    suppressed_reason: reason !== null && rule.suppressed_by.includes(reason) ? reason : null,
    ...(rule.without_values ? none : values),
  }
}

const known = (value: number | undefined) => (Number.isFinite(value) ? value! : null)
const atLeastZero = (kw: number | null) => kw && Math.max(0, kw)

/**
 * Adds the energy lost since the alert was last seen, at the affected power. The amount becomes
 * null once energy was lost at an unknown price.
 */
function lossOf(
  alert: StoredAlert,
  { affected_power_kw }: Pick<StoredAlert, 'affected_power_kw'>,
  round: Round,
): Pick<StoredAlert, 'lost_energy_kwh' | 'lost_amount' | 'currency'> {
  const { lost_energy_kwh, lost_amount, currency } = alert
  if (affected_power_kw === null) return { lost_energy_kwh, lost_amount, currency }
  const passed_ms = round.now.getTime() - alert.last_seen_at.getTime()
  const lasted_ms = alert.ended_at ? 0 : Math.min(Math.max(0, passed_ms), accrual_ms_max)
  const lost_kwh = (affected_power_kw * lasted_ms) / 3_600_000
  const energy = { lost_energy_kwh: (lost_energy_kwh ?? 0) + lost_kwh }
  if (lost_kwh === 0) return { ...energy, lost_amount, currency }
  const price = round.priceOf(alert)
  const is_first = (lost_energy_kwh ?? 0) === 0
  const may_add = price && (is_first || (lost_amount !== null && currency === price.currency))
  if (!may_add) return { ...energy, lost_amount: null, currency: null }
  const amount = (is_first ? 0 : lost_amount!) + (price.per_mwh * lost_kwh) / 1000
  return { ...energy, lost_amount: amount, currency: price.currency }
}

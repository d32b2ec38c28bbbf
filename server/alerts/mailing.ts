/** Decides which recipient gets which mail about alerts, and when. Pure. */

import type { MailRecipient, MailSettings } from './mail-settings.ts'
import { isQuiet, lastDigest } from './mail-times.ts'
import type { StoredAlert } from './record.ts'
import { type AlertSeverity, alertSeverities } from './rule.ts'

/**
 * - `noticed`: without recipient; when the alert was first open and not suppressed;
 * - `raised`, `resolved`: mailed to a recipient;
 * - `worsened`: mailed to a recipient of an earlier notice; the alert has become critical;
 * - `escalated`: mailed to an escalation recipient, or, without recipient, a platform notification.
 */
type NoticeKind = 'noticed' | 'raised' | 'worsened' | 'escalated' | 'resolved'

/** A notice about an occurrence of an alert, as a row of `alert_tellings`. */
export interface SentNotice {
  alert_id: number
  occurrence: number
  kind: NoticeKind
  /** Empty: without recipient. */
  recipient: string
  told_at: Date
  severity: AlertSeverity
}

export interface MailItem {
  alert: StoredAlert
  kind: Exclude<NoticeKind, 'noticed'>
}

interface PlannedMail {
  recipient: string
  items: readonly MailItem[]
}

interface Situation {
  settings: MailSettings
  timezone: string
  now: Date
  /** Unresolved and recently resolved alerts. */
  alerts: readonly StoredAlert[]
  /** All earlier notices of these alerts. */
  notices: readonly SentNotice[]
}

/** A flapping alert sends at most one mail per hour, unless it is critical. */
const repeat_ms_min = 3_600_000

/**
 * Suppressed alerts send no mail until they are no longer suppressed. Every recipient of a raised
 * or escalated alert also gets its resolution. An alert that is raised and resolved within quiet
 * hours sends no mail. A digest lists all alerts raised since the last one. Alerts in `escalated`
 * get a platform notification. The notices are stored with the mails, so that none is sent twice.
 */
export function decideMails(situation: Situation) {
  const ledger = openLedger(situation)
  for (const alert of situation.alerts) {
    if (alert.status !== 'resolved' && alert.suppressed_reason === null) {
      ledger.add({ alert, kind: 'noticed' }, '')
    }
  }
  const mails = [
    ...situation.settings.recipients.flatMap((one) => mailsTo(one, situation, ledger)),
    ...escalationMails(situation, ledger),
  ]
  const due = situation.alerts.filter((alert) => isToEscalate(alert, situation, ledger))
  const escalated = due.filter((alert) => ledger.add({ alert, kind: 'escalated' }, ''))
  return { mails, escalated, notices: ledger.added }
}

type Notice = { alert: StoredAlert; kind: NoticeKind }

type Ledger = ReturnType<typeof openLedger>

function openLedger({ notices, now }: Situation) {
  const ledger = new Map<string, SentNotice>()
  const raised_at = new Map<string, Date>()
  const put = (notice: SentNotice) => {
    const { alert_id, occurrence, kind, recipient, told_at } = notice
    ledger.set(`${alert_id} ${occurrence} ${kind} ${recipient}`, notice)
    const of = `${alert_id} ${recipient}`
    if (kind === 'raised' && told_at > (raised_at.get(of) ?? 0)) raised_at.set(of, told_at)
  }
  for (const notice of notices) put(notice)
  const added: SentNotice[] = []
  const find = ({ alert, kind }: Notice, recipient: string) =>
    ledger.get(`${alert.alert_id} ${alert.occurrence_count} ${kind} ${recipient}`)
  return {
    added,
    find,
    /** When the recipient last got a `raised` notice of the alert, for any occurrence. */
    lastRaised: ({ alert_id }: StoredAlert, recipient: string) =>
      raised_at.get(`${alert_id} ${recipient}`),
    /** False where the notice was recorded before. */
    add(notice: Notice, recipient: string): boolean {
      if (find(notice, recipient)) return false
      const { alert_id, occurrence_count: occurrence, severity } = notice.alert
      const { kind } = notice
      const sent = { alert_id, occurrence, kind, recipient, told_at: now, severity }
      put(sent)
      added.push(sent)
      return true
    },
  }
}

function mailsTo(recipient: MailRecipient, situation: Situation, ledger: Ledger): PlannedMail[] {
  const { timezone, now, alerts, settings } = situation
  const is_quiet = isQuiet(recipient.quiet_hours, now, timezone)
  const digest_due_at = lastDigest(recipient, now, timezone)
  const at_once: MailItem[] = []
  const in_digest: MailItem[] = []
  for (const alert of alerts) {
    const due = dueNotice(alert, recipient, situation, ledger)
    if (!due) continue
    const breaks_through = alert.severity === 'critical' && recipient.critical_at_once
    if (breaks_through) at_once.push(due.item)
    else if (is_quiet) continue
    else if (digest_due_at === null) at_once.push(due.item)
    else if (due.since < digest_due_at) in_digest.push(due.item)
  }
  const groups = grouped(at_once, settings.storm_count)
  if (in_digest.length > 0) groups.push(in_digest)
  for (const items of groups) recordAll(items, recipient.address, ledger)
  return groups.map((items) => ({ recipient: recipient.address, items }))
}

function dueNotice(
  alert: StoredAlert,
  { address, min_severity, digest }: MailRecipient,
  { now }: Situation,
  ledger: Ledger,
): { item: MailItem; since: Date } | null {
  const noticed = ledger.find({ alert, kind: 'noticed' }, '')
  const raised = ledger.find({ alert, kind: 'raised' }, address)
  const informed = raised ?? ledger.find({ alert, kind: 'escalated' }, address)
  if (informed && alert.resolved_at !== null) {
    if (ledger.find({ alert, kind: 'resolved' }, address)) return null
    return { item: { alert, kind: 'resolved' }, since: alert.resolved_at }
  }
  if (!noticed || alert.suppressed_reason !== null) return null
  const is_critical = alert.severity === 'critical'
  if (informed) {
    const is_worse = is_critical && raised !== undefined && raised.severity !== 'critical'
    const is_sent = ledger.find({ alert, kind: 'worsened' }, address)
    return is_worse && !is_sent
      ? { item: { alert, kind: 'worsened' }, since: raised.told_at }
      : null
  }
  if (rankOf(alert.severity) < rankOf(min_severity)) return null
  if (alert.status === 'resolved' && digest === 'immediate') return null
  const last_ms = ledger.lastRaised(alert, address)?.getTime() ?? Number.NEGATIVE_INFINITY
  if (!is_critical && now.getTime() - last_ms < repeat_ms_min) return null
  return { item: { alert, kind: 'raised' }, since: noticed.told_at }
}

const rankOf = (severity: StoredAlert['severity']) => alertSeverities.indexOf(severity)

/** One mail per alert, or one for all when there are more than `storm_count`. */
const grouped = (items: readonly MailItem[], storm_count: number): MailItem[][] =>
  items.length > storm_count ? [[...items]] : items.map((item) => [item])

/** A `raised` notice of an alert that is already resolved also covers its resolution. */
function recordAll(items: readonly MailItem[], recipient: string, ledger: Ledger): void {
  for (const item of items) {
    ledger.add(item, recipient)
    if (item.alert.status === 'resolved') ledger.add({ ...item, kind: 'resolved' }, recipient)
  }
}

function isToEscalate(alert: StoredAlert, { settings, now }: Situation, ledger: Ledger): boolean {
  const noticed = ledger.find({ alert, kind: 'noticed' }, '')
  return (
    settings.escalation !== null &&
    noticed !== undefined &&
    alert.status === 'active' &&
    alert.severity === 'critical' &&
    alert.suppressed_reason === null &&
    now.getTime() - urgentMs(alert, noticed) >= 60_000 * settings.escalation.after_min
  )
}

/** The escalation delay starts when the alert is both urgent and noticed. */
const urgentMs = ({ urgent_since }: StoredAlert, { told_at }: SentNotice) =>
  Math.max(urgent_since?.getTime() ?? 0, told_at.getTime())

/** Ignores quiet hours. Ordinary recipients get the resolution by their own settings. */
function escalationMails(situation: Situation, ledger: Ledger): PlannedMail[] {
  const { escalation, recipients, storm_count } = situation.settings
  return (escalation?.to ?? []).flatMap((address) => {
    const is_recipient = recipients.some((one) => one.address === address)
    const items = situation.alerts.flatMap((alert): MailItem[] => {
      const escalated = ledger.find({ alert, kind: 'escalated' }, address)
      if (!escalated) {
        return isToEscalate(alert, situation, ledger) ? [{ alert, kind: 'escalated' }] : []
      }
      const is_over = alert.status === 'resolved' && !is_recipient
      const is_sent = ledger.find({ alert, kind: 'resolved' }, address)
      return is_over && !is_sent ? [{ alert, kind: 'resolved' }] : []
    })
    recordAll(items, address, ledger)
    return grouped(items, storm_count).map((found) => ({ recipient: address, items: found }))
  })
}

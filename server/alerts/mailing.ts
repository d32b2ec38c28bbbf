/** Decides who is told what of alerts by mail, and when. Pure. */
import type { StoredAlert } from './listener.ts'
import type { MailRecipient, MailSettings } from './mail-settings.ts'
import { isQuiet, lastDigest } from './mail-times.ts'
import { type AlertSeverity, alertSeverities } from './rule.ts'

/**
 * - `noticed`: of no recipient; since then there is something to tell, as nothing explains it;
 * - `raised`, `resolved`: to a recipient;
 * - `worsened`: to a recipient who was told of less, that it is critical now;
 * - `escalated`: to somebody whom it is escalated to, and, of no recipient, as a notification.
 */
type TellingKind = 'noticed' | 'raised' | 'worsened' | 'escalated' | 'resolved'

/** That somebody was told something of an occurrence of an alert. */
export interface Telling {
  alert_id: number
  occurrence: number
  kind: TellingKind
  /** Empty: of no recipient. */
  recipient: string
  told_at: Date
  /** As it was then. */
  severity: AlertSeverity
}

/** What a mail says of an alert. */
export interface MailItem {
  alert: StoredAlert
  kind: Exclude<TellingKind, 'noticed'>
}

interface PlannedMail {
  recipient: string
  /** One, or several as a digest; never none. */
  items: readonly MailItem[]
}

interface Situation {
  settings: MailSettings
  timezone: string
  now: Date
  /** All that are open, and those that were resolved of late. */
  alerts: readonly StoredAlert[]
  /** All there are of these alerts. */
  tellings: readonly Telling[]
}

interface Decision {
  mails: PlannedMail[]
  /** Alerts that are escalated with this round, for a notification. */
  escalated: StoredAlert[]
  /** To be remembered together with the mails: nobody is told the same twice. */
  tellings: Telling[]
}

/** Of an alert that comes and goes, others than critical ones are told no more often. */
const again_ms_min = 3_600_000

/**
 * Suppressed alerts are told to nobody until nothing explains them any more. Whoever was told that
 * an alert was raised, or that it was escalated, is told when it is resolved. What came and went
 * within quiet hours is not told; a digest tells all that came up since the last one.
 */
export function decideMails(situation: Situation): Decision {
  const book = openBook(situation)
  for (const alert of situation.alerts) {
    if (alert.status !== 'resolved' && alert.suppressed_reason === null) {
      book.note({ alert, kind: 'noticed' }, '')
    }
  }
  const mails = [
    ...situation.settings.recipients.flatMap((one) => mailsTo(one, situation, book)),
    ...escalationMails(situation, book),
  ]
  const due = situation.alerts.filter((alert) => isToEscalate(alert, situation, book))
  const escalated = due.filter((alert) => book.note({ alert, kind: 'escalated' }, ''))
  return { mails, escalated, tellings: book.added }
}

type Noted = { alert: StoredAlert; kind: TellingKind }

interface Book {
  told(noted: Noted, recipient: string): Telling | undefined
  /** When the recipient was told last that the alert was raised, of any occurrence. */
  lastRaised(alert: StoredAlert, recipient: string): Date | undefined
  /** False where that was noted before. */
  note(noted: Noted, recipient: string): boolean
  added: Telling[]
}

function openBook({ tellings, now }: Situation): Book {
  const book = new Map<string, Telling>()
  const raised_at = new Map<string, Date>()
  const put = (telling: Telling) => {
    const { alert_id, occurrence, kind, recipient, told_at } = telling
    book.set(`${alert_id} ${occurrence} ${kind} ${recipient}`, telling)
    const of = `${alert_id} ${recipient}`
    if (kind === 'raised' && told_at > (raised_at.get(of) ?? 0)) raised_at.set(of, told_at)
  }
  for (const telling of tellings) put(telling)
  const added: Telling[] = []
  const told = ({ alert, kind }: Noted, recipient: string) =>
    book.get(`${alert.alert_id} ${alert.occurrence_count} ${kind} ${recipient}`)
  return {
    added,
    told,
    lastRaised: ({ alert_id }, recipient) => raised_at.get(`${alert_id} ${recipient}`),
    note(noted, recipient) {
      if (told(noted, recipient)) return false
      const { alert_id, occurrence_count: occurrence, severity } = noted.alert
      const { kind } = noted
      const telling = { alert_id, occurrence, kind, recipient, told_at: now, severity }
      put(telling)
      added.push(telling)
      return true
    },
  }
}

function mailsTo(recipient: MailRecipient, situation: Situation, book: Book): PlannedMail[] {
  const { timezone, now, alerts, settings } = situation
  const is_quiet = isQuiet(recipient.quiet_hours, now, timezone)
  const digest_due_at = lastDigest(recipient, now, timezone)
  const at_once: MailItem[] = []
  const in_digest: MailItem[] = []
  for (const alert of alerts) {
    const news = newsOf(alert, recipient, situation, book)
    if (!news) continue
    const breaks_through = alert.severity === 'critical' && recipient.critical_at_once
    if (breaks_through) at_once.push(news.item)
    else if (is_quiet) continue
    else if (digest_due_at === null) at_once.push(news.item)
    else if (news.since < digest_due_at) in_digest.push(news.item)
  }
  const gatherings = gathered(at_once, settings.storm_count)
  if (in_digest.length > 0) gatherings.push(in_digest)
  for (const items of gatherings) noteAll(items, recipient.address, book)
  return gatherings.map((items) => ({ recipient: recipient.address, items }))
}

interface News {
  item: MailItem
  /** Since when there is that to tell. */
  since: Date
}

/** What the recipient does not know yet of an alert. */
function newsOf(
  alert: StoredAlert,
  { address, min_severity, digest }: MailRecipient,
  { now }: Situation,
  book: Book,
): News | null {
  const noticed = book.told({ alert, kind: 'noticed' }, '')
  const raised = book.told({ alert, kind: 'raised' }, address)
  const knows = raised ?? book.told({ alert, kind: 'escalated' }, address)
  if (knows && alert.resolved_at !== null) {
    if (book.told({ alert, kind: 'resolved' }, address)) return null
    return { item: { alert, kind: 'resolved' }, since: alert.resolved_at }
  }
  if (!noticed || alert.suppressed_reason !== null) return null
  const is_critical = alert.severity === 'critical'
  if (knows) {
    const is_worse = is_critical && raised !== undefined && raised.severity !== 'critical'
    const is_told = book.told({ alert, kind: 'worsened' }, address)
    return is_worse && !is_told
      ? { item: { alert, kind: 'worsened' }, since: raised.told_at }
      : null
  }
  if (rankOf(alert.severity) < rankOf(min_severity)) return null
  if (alert.status === 'resolved' && digest === 'immediate') return null
  const last_ms = book.lastRaised(alert, address)?.getTime() ?? Number.NEGATIVE_INFINITY
  if (!is_critical && now.getTime() - last_ms < again_ms_min) return null
  return { item: { alert, kind: 'raised' }, since: noticed.told_at }
}

const rankOf = (severity: StoredAlert['severity']) => alertSeverities.indexOf(severity)

/** A mail for each, or one for all where there are more than a person reads one by one. */
const gathered = (items: readonly MailItem[], storm_count: number): MailItem[][] =>
  items.length > storm_count ? [[...items]] : items.map((item) => [item])

/** Who is told that an alert was raised when it is over already is not told again that it is. */
function noteAll(items: readonly MailItem[], recipient: string, book: Book): void {
  for (const item of items) {
    book.note(item, recipient)
    if (item.alert.status === 'resolved') book.note({ ...item, kind: 'resolved' }, recipient)
  }
}

function isToEscalate(alert: StoredAlert, { settings, now }: Situation, book: Book): boolean {
  const noticed = book.told({ alert, kind: 'noticed' }, '')
  return (
    settings.escalation !== null &&
    noticed !== undefined &&
    alert.status === 'active' &&
    alert.severity === 'critical' &&
    alert.suppressed_reason === null &&
    now.getTime() - urgentMs(alert, noticed) >= 60_000 * settings.escalation.after_min
  )
}

/** Since when somebody could know of it as critical: before there may have been nothing to tell. */
const urgentMs = ({ urgent_since }: StoredAlert, { told_at }: Telling) =>
  Math.max(urgent_since?.getTime() ?? 0, told_at.getTime())

/** Whatever the hour. Recipients are told of the end as they wish, the others at once. */
function escalationMails(situation: Situation, book: Book): PlannedMail[] {
  const { escalation, recipients, storm_count } = situation.settings
  return (escalation?.to ?? []).flatMap((address) => {
    const is_recipient = recipients.some((one) => one.address === address)
    const items = situation.alerts.flatMap((alert): MailItem[] => {
      const escalated = book.told({ alert, kind: 'escalated' }, address)
      if (!escalated) {
        return isToEscalate(alert, situation, book) ? [{ alert, kind: 'escalated' }] : []
      }
      const is_over = alert.status === 'resolved' && !is_recipient
      const knows = book.told({ alert, kind: 'resolved' }, address)
      return is_over && !knows ? [{ alert, kind: 'resolved' }] : []
    })
    noteAll(items, address, book)
    return gathered(items, storm_count).map((found) => ({ recipient: address, items: found }))
  })
}

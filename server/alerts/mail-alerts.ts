/** Queues mails about alerts after each round and records the notices sent. */
import { createHash } from 'node:crypto'
import { queueMail } from '../mail/outbox.ts'
import type { Queries } from '../storage/database.ts'
import { notifyAlert } from './critical-notices.ts'
import type { FinishedRound } from './listener.ts'
import { mailText } from './mail-texts.ts'
import { decideMails, type MailItem, type SentNotice } from './mailing.ts'
import type { StoredAlert } from './record.ts'
import { alertColumns } from './store.ts'

/** A daily digest covers a day, with two hours of slack for a late one. */
const resolved_ms_max = 26 * 3_600_000

/**
 * An alert listener. Mails and notices are written in the transaction of the round, so that no
 * repeated round, on this server or another, sends a mail twice.
 */
export async function mailAlerts(db: Queries, round: FinishedRound): Promise<void> {
  const { site, now, open } = round
  const { mail: settings } = round.settings
  if (settings.recipients.length === 0 && settings.escalation === null) return
  const resolved = await readResolved(db, site.site_id, now)
  const alerts = [...open, ...resolved]
  if (alerts.length === 0) return
  const notices = await readNotices(db, site.site_id, alerts)
  const { timezone } = site
  const decision = decideMails({ settings, timezone, now, alerts, notices })
  await storeNotices(db, site.site_id, decision.notices)
  for (const { recipient, items } of decision.mails) {
    await queueMail(db, {
      site_id: site.site_id,
      dedup_key: dedupKeyOf(items),
      recipient,
      ...mailText(items, site, now),
      link_path: `/sites/${site.site_id}/alerts`,
    })
  }
  for (const alert of decision.escalated) {
    const title = `Not acknowledged: ${alert.title}`
    await notifyAlert(db, alert, round, { type: 'alert_escalated', title })
  }
}

/** `alert:7:2:raised` for one item, a hash of all for several. */
function dedupKeyOf(items: readonly MailItem[]): string {
  const keys = items.map(({ alert, kind }) => `${alert.alert_id}:${alert.occurrence_count}:${kind}`)
  if (keys.length === 1) return `alert:${keys[0]}`
  const about = keys.toSorted().join(' ')
  return `alerts:${createHash('sha256').update(about).digest('hex').slice(0, 32)}`
}

/** Recently resolved alerts whose notification may still be due. */
function readResolved(db: Queries, site_id: string, now: Date): Promise<StoredAlert[]> {
  return db.query(
    `select ${alertColumns} from alerts a
     where site_id = $1 and status = 'resolved' and resolved_at > $2
       and exists (
         select from alert_tellings t
         where t.site_id = a.site_id and t.alert_id = a.alert_id
           and t.occurrence = a.occurrence_count and t.kind = 'noticed'
       )`,
    [site_id, new Date(now.getTime() - resolved_ms_max)],
  )
}

function readNotices(
  db: Queries,
  site_id: string,
  alerts: readonly StoredAlert[],
): Promise<SentNotice[]> {
  return db.query(
    `select alert_id, occurrence, kind, recipient, told_at, severity from alert_tellings
     where site_id = $1 and alert_id = any($2)`,
    [site_id, alerts.map(({ alert_id }) => alert_id)],
  )
}

/** A notice that another server stored meanwhile fails the transaction: no mail is sent twice. */
async function storeNotices(
  db: Queries,
  site_id: string,
  notices: readonly SentNotice[],
): Promise<void> {
  if (notices.length === 0) return
  await db.execute(
    `insert into alert_tellings
       (site_id, alert_id, occurrence, kind, recipient, told_at, severity)
     select $1, alert_id, occurrence, kind, recipient, told_at, severity
     from jsonb_populate_recordset(null::alert_tellings, $2)`,
    [site_id, JSON.stringify(notices)],
  )
}

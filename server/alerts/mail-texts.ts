/** Plain texts of alert mails. Text from outside is reduced to a single line. */
import { shownAt } from '@heliograph/domain/local-day'
import { singleLine } from '../mail/outbox.ts'
import type { FinishedRound } from './listener.ts'
import type { MailItem } from './mailing.ts'
import type { StoredAlert } from './record.ts'
import { alertSeverities } from './rule.ts'
import { isAlertCode, ruleOf } from './rules.ts'

type MailSite = Pick<FinishedRound['site'], 'site_id' | 'name' | 'timezone'>

interface MailText {
  subject: string
  text: string
}

const title_characters_max = 100
const line_characters_max = 500
const items_max = 100
const label_width = 16

/** A digest lists the highest severity first. */
export function mailText(items: readonly MailItem[], site: MailSite, now: Date): MailText {
  const [first, ...others] = items
  if (first && others.length === 0) return single(first, site)
  return digest(items, site, now)
}

function single(item: MailItem, site: MailSite): MailText {
  const { alert } = item
  const headline = `${headOf(item)} ${titleOf(alert)}${sourceOf(alert)}`
  const text = [siteLine(site), '', titleOf(alert), ...detailsOf(item, site)]
  return {
    subject: `${singleLine(site.name, title_characters_max)}: ${headline}`,
    text: lines(text),
  }
}

function digest(items: readonly MailItem[], site: MailSite, now: Date): MailText {
  const sorted = items.toSorted(
    (a, b) => rankOf(b) - rankOf(a) || a.alert.started_at.getTime() - b.alert.started_at.getTime(),
  )
  const over_count = items.filter(({ kind }) => kind === 'resolved').length
  const critical_count = items.filter(isCritical).length
  const counts = [
    `${items.length} alerts`,
    ...(critical_count > 0 ? [`${critical_count} critical`] : []),
    ...(over_count > 0 ? [`${over_count} over`] : []),
  ]
  const listed = sorted.slice(0, items_max)
  const blocks = listed.flatMap((item, nth) => {
    const head = `${nth + 1}. ${headOf(item)} ${titleOf(item.alert)}`
    return ['', head, ...detailsOf(item, site).map((line) => `   ${line}`)]
  })
  const rest = items.length - listed.length
  const text = [
    siteLine(site),
    `${counts.join(', ')}, as of ${instant(now, site)}`,
    ...blocks,
    ...(rest > 0 ? ['', `And ${rest} more.`] : []),
  ]
  return {
    subject: `${singleLine(site.name, title_characters_max)}: ${counts.join(', ')}`,
    text: lines(text),
  }
}

const isCritical = ({ alert, kind }: MailItem) =>
  alert.severity === 'critical' && kind !== 'resolved'

const rankOf = ({ alert, kind }: MailItem) =>
  kind === 'resolved' ? -1 : alertSeverities.indexOf(alert.severity)

const titleOf = ({ title }: StoredAlert) => singleLine(title, title_characters_max)

/** ` (inverter 7)`; empty for the site itself. */
const sourceOf = ({ source_type, source_id }: StoredAlert) =>
  source_type === 'site' ? '' : ` (${source_type} ${singleLine(source_id, title_characters_max)})`

const siteLine = ({ site_id, name }: MailSite) =>
  `${singleLine(name, title_characters_max)} (${site_id})`

function headOf({ alert, kind }: MailItem): string {
  if (kind === 'resolved') return '[over]'
  if (kind === 'escalated') return `[${alert.severity}, not acknowledged]`
  return kind === 'worsened' ? `[${alert.severity} now]` : `[${alert.severity}]`
}

function detailsOf({ alert }: MailItem, site: MailSite): string[] {
  const { source_type, source_id, affected_power_kw, lost_energy_kwh, resolved_at } = alert
  const is_over = alert.status === 'resolved'
  const source = source_type === 'site' ? 'the site' : `${source_type} ${source_id}`
  const action = isAlertCode(alert.code) ? ruleOf(alert.code).recommended_action : null
  const facts: [label: string, value: string | null][] = [
    ['What', alert.message],
    ['Concerns', source],
    ['Since', instant(alert.started_at, site)],
    ['Occurrence', alert.occurrence_count > 1 ? String(alert.occurrence_count) : null],
    ['Over since', is_over ? instant(alert.ended_at ?? resolved_at!, site) : null],
    ['Resolved by', is_over && alert.resolution === 'manual' ? alert.resolved_by : null],
    ['Note', is_over ? alert.resolution_note : null],
    ['Affected power', kilo(is_over ? null : affected_power_kw, 'kW')],
    ['Lost energy', kilo(lost_energy_kwh, 'kWh')],
    ['What to do', is_over ? null : action],
  ]
  return facts.flatMap(([label, value]) => {
    if (value === null) return []
    return [`${`${label}:`.padEnd(label_width)}${singleLine(value, line_characters_max)}`]
  })
}

const kilo = (value: number | null, unit: string) =>
  value === null ? null : `${value.toFixed(1)} ${unit}`

/** Local time and UTC: local time is ambiguous for an hour in autumn. */
function instant(at: Date, { timezone }: MailSite): string {
  const text = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  return `${text(shownAt(at.getTime(), timezone))} ${timezone}, ${text(at.getTime())} UTC`
}

const lines = (all: readonly string[]) => `${all.join('\n')}\n`

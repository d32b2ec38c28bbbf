import {
  type AlertHistory,
  type Alerting,
  setAlerting,
  showAlertHistory,
  showAlerting,
} from '@heliograph/server/alerts/admin'
import { visible } from '@heliograph/server/http/visible-text'
import { InvalidArgumentError } from 'commander'
import { type Cli, command, type Reporting } from './command.ts'
import { minute, tableOf } from './terminal.ts'

export function addAlertCommands(program: Reporting, { operator }: Cli): void {
  const alerts = program
    .command('alerts')
    .description('alert rules, mail recipients and histories of alerts')

  command(
    alerts,
    'settings <site_id>',
    'Show the alert settings of a site, marking those set for the site; with --set, replace them.',
    'alerts settings pv-south --set alerting.yaml',
  )
    .option('--set <file>', 'YAML file that replaces all settings of the site')
    .fromDatabase(settingsText, (admin, site_id: string, { set: file }: { set?: string }) =>
      file === undefined
        ? showAlerting(admin, { site_id })
        : setAlerting(admin, { site_id, file, set_by: operator }),
    )

  command(
    alerts,
    'history <site_id>',
    'Show the status changes of an alert, with author and note.',
    'alerts history pv-south 17',
  )
    .argument('<alert_id>', 'id of the alert in the API', alertId)
    .fromDatabase(historyText, (admin, site_id: string, alert_id: number) =>
      showAlertHistory(admin, { site_id, alert_id }),
    )
}

function alertId(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function historyText({ alert_id, title, message, transitions }: AlertHistory): string {
  return [
    visible(`Alert ${alert_id}: ${title}. ${message}`),
    tableOf(transitions, { AT: 'at', STATUS: 'to_status', BY: 'changed_by', NOTE: 'note' }),
  ].join('\n')
}

function settingsText({ site_id, set_at, set_by, settings, in_force }: Alerting): string {
  const of_rules = tableOf(Object.entries(in_force.rules), {
    '': ([code]) => (code in (settings.rules ?? {}) ? '*' : ''),
    RULE: ([code]) => code,
    SEVERITY: ([, rule]) => (rule.enabled ? (rule.severity ?? 'as found') : 'off'),
    'RAISES AFTER': ([, { raise_delay_s }]) => `${raise_delay_s} s`,
    'CLEARS AFTER': ([, { clear_delay_s }]) => `${clear_delay_s} s`,
    THRESHOLDS: ([, { thresholds }]) =>
      Object.entries(thresholds)
        .map((threshold) => threshold.join(' '))
        .join(', ') || null,
  })
  const { recipients, escalation } = in_force.mail
  const of_mail = recipients.map(
    ({ address, min_severity, digest }) => `  ${address}: ${min_severity} and worse, ${digest}`,
  )
  const escalated =
    escalation && `Escalated after ${escalation.after_min} minutes to ${escalation.to.join(', ')}.`
  return [
    of_rules,
    '',
    set_at
      ? `Rules with * were set by ${set_by} on ${minute(set_at)}.`
      : `Site ${site_id} has no settings: the defaults apply.`,
    `A condition that returns within ${in_force.reopen_window_s} s reopens its alert.`,
    ...(of_mail.length > 0 ? ['Mails go to:', ...of_mail] : ['No mail recipients.']),
    ...(escalated ? [escalated] : []),
  ].join('\n')
}

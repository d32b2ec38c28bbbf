import { type Alerting, setAlerting, showAlerting } from '@heliograph/server/alerts/admin'
import { type AlertHistory, showAlertHistory } from '@heliograph/server/alerts/history-admin'
import { visible } from '@heliograph/server/http/visible-text'
import { type Command, InvalidArgumentError } from 'commander'
import { type Cli, command, type JsonOption } from './command.ts'
import { minute, print, table } from './terminal.ts'

export function addAlertCommands(program: Command, { terminal, withAdmin, operator }: Cli): void {
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
    .action(async (site_id: string, options: JsonOption & { set?: string }) => {
      const { set: file } = options
      const shown = await withAdmin((admin) =>
        file === undefined
          ? showAlerting(admin, { site_id })
          : setAlerting(admin, { site_id, file, set_by: operator }),
      )
      print(terminal, { json: shown, text: settingsText(shown) }, !!options.json)
    })

  command(
    alerts,
    'history <site_id>',
    'Show the status changes of an alert, with author and note.',
    'alerts history pv-south 17',
  )
    .argument('<alert_id>', 'id of the alert in the API', alertId)
    .action(async (site_id: string, alert_id: number, options: JsonOption) => {
      const shown = await withAdmin((admin) => showAlertHistory(admin, { site_id, alert_id }))
      print(terminal, { json: shown, text: historyText(shown) }, !!options.json)
    })
}

function alertId(text: string): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError('It must be a whole number.')
  }
  return id
}

function historyText({ alert_id, title, message, transitions }: AlertHistory): string {
  const rows = transitions.map(({ at, to_status, changed_by, note }) => [
    minute(at),
    to_status,
    changed_by,
    note ?? '-',
  ])
  return [
    visible(`Alert ${alert_id}: ${title}. ${message}`),
    table(['AT', 'STATUS', 'BY', 'NOTE'], rows),
  ].join('\n')
}

function settingsText({ site_id, set_at, set_by, settings, in_force }: Alerting): string {
  const of_rules = table(
    ['', 'RULE', 'SEVERITY', 'RAISES AFTER', 'CLEARS AFTER', 'THRESHOLDS'],
    Object.entries(in_force.rules).map(([code, rule]) => [
      code in (settings.rules ?? {}) ? '*' : '',
      code,
      rule.enabled ? (rule.severity ?? 'as found') : 'off',
      `${rule.raise_delay_s} s`,
      `${rule.clear_delay_s} s`,
      Object.entries(rule.thresholds)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ') || '-',
    ]),
  )
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

import {
  confirmRecipient,
  listUnsentMails,
  sendTestMail,
  type UnsentMail,
} from '@heliograph/server/access/mail-admin'
import type { ServerConfig } from '@heliograph/server/config'
import { visible } from '@heliograph/server/http/visible-text'
import type { Command } from 'commander'
import { type Cli, command, type JsonOption, wholeNumber } from './command.ts'
import { minute, print, table } from './terminal.ts'

interface Needs {
  config(): Pick<ServerConfig, 'mail'>
  clock: { now(): Date }
  randomBytes(size: number): Buffer
}

interface ListOptions extends JsonOption {
  site?: string
  limit: number
}

export function addMailCommands(
  program: Command,
  { terminal, withAdmin }: Cli,
  { config, clock, randomBytes }: Needs,
): void {
  const mail = program.command('mail').description('mails about alerts and reports')

  command(
    mail,
    'test <address>',
    'Send a test mail with the settings of the environment, and print the reply of the mail server.',
    'mail test operations@example.com',
  ).action(async (recipient: string, { json }: JsonOption) => {
    const { outcome, said } = await sendTestMail({
      settings: config().mail,
      recipient,
      now: clock.now(),
      randomBytes,
    })
    if (outcome !== 'sent') throw new Error(`the mail was not accepted (${outcome}): ${said}`)
    print(
      terminal,
      { json: { outcome, said }, text: `Accepted by the mail server: ${said}` },
      !!json,
    )
  })

  command(
    mail,
    'confirm <address>',
    'Confirm an address for reports of a client on behalf of its owner.',
    'mail confirm owner@example.com --client "Sunny Fields Ltd"',
  )
    .requiredOption('--client <name>', 'client of the reports')
    .action(async (address: string, { client, json }: JsonOption & { client: string }) => {
      await withAdmin((admin) => confirmRecipient(admin, { client, address }))
      const text = `Reports of ${visible(client)} are now mailed to ${visible(address)}.`
      print(terminal, { json: { client, address }, text }, !!json)
    })

  command(
    mail,
    'list',
    'List queued and failed mails, the newest first.',
    'mail list --site pv-south',
  )
    .option('--site <site_id>', 'defaults to all sites')
    .option('--limit <count>', 'maximum number of mails', wholeNumber, 100)
    .action(async ({ site, limit, json }: ListOptions) => {
      const found = await withAdmin((admin) =>
        listUnsentMails(admin, { site_id: site ?? null, limit }),
      )
      const text = found.length > 0 ? mailTable(found) : 'No queued or failed mails.'
      print(terminal, { json: found, text }, !!json)
    })
}

function mailTable(mails: readonly UnsentMail[]): string {
  return table(
    ['SITE', 'MAIL', 'STATE', 'QUEUED', 'TRIES', 'NEXT TRY', 'RECIPIENT', 'SUBJECT', 'LAST ERROR'],
    mails.map((mail) => [
      mail.site_id,
      String(mail.mail_id),
      mail.state,
      minute(mail.queued_at),
      String(mail.tries),
      minute(mail.next_try_at),
      mail.recipient,
      mail.subject,
      mail.last_error ?? '-',
    ]),
  )
}

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
    'Send a mail at once, with the settings of the environment, and tell what the mail server says.',
    'mail test operations@example.com',
  ).action(async (recipient: string, { json }: JsonOption) => {
    const { outcome, said } = await sendTestMail({
      settings: config().mail,
      recipient,
      now: clock.now(),
      randomBytes,
    })
    if (outcome !== 'sent') throw new Error(`the mail was not taken (${outcome}): ${said}`)
    print(terminal, { json: { outcome, said }, text: `The mail server took it: ${said}` }, !!json)
  })

  command(
    mail,
    'confirm <address>',
    'Let reports of a client be mailed to an address that has not confirmed by itself.',
    'mail confirm owner@example.com --client "Sunny Fields Ltd"',
  )
    .requiredOption('--client <name>', 'whose reports')
    .action(async (address: string, { client, json }: JsonOption & { client: string }) => {
      await withAdmin((admin) => confirmRecipient(admin, { client, address }))
      const text = `Reports of ${visible(client)} are mailed to ${visible(address)} from now on.`
      print(terminal, { json: { client, address }, text }, !!json)
    })

  command(
    mail,
    'list',
    'List the mails that wait to be sent, failed, or cannot be sent, the newest first.',
    'mail list --site pv-south',
  )
    .option('--site <site_id>', 'of this site; of all without')
    .option('--limit <count>', 'no more than so many', wholeNumber, 100)
    .action(async ({ site, limit, json }: ListOptions) => {
      const found = await withAdmin((admin) =>
        listUnsentMails(admin, { site_id: site ?? null, limit }),
      )
      const text = found.length > 0 ? mailTable(found) : 'No mail waits or failed.'
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

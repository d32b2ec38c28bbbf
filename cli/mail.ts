import { randomBytes } from 'node:crypto'
import {
  confirmRecipient,
  listUnsentMails,
  sendTestMail,
  type UnsentMail,
} from '@heliograph/server/access/mail-admin'
import { visible } from '@heliograph/server/http/visible-text'
import { command, type Reporting, type ServerCli, wholeNumber } from './command.ts'
import { listOf } from './terminal.ts'

export function addMailCommands(program: Reporting, { withAdmin, config, clock }: ServerCli): void {
  const mail = program.command('mail').description('mails about alerts and reports')

  command(
    mail,
    'test <address>',
    'Send a test mail with the settings of the environment, and print the reply of the mail server.',
    'mail test operations@example.com',
  ).result(async (recipient: string) => {
    const { outcome, said } = await sendTestMail({
      settings: config().mail,
      recipient,
      now: clock.now(),
      randomBytes,
    })
    if (outcome !== 'sent') throw new Error(`the mail was not accepted (${outcome}): ${said}`)
    return { json: { outcome, said }, text: `Accepted by the mail server: ${said}` }
  })

  command(
    mail,
    'confirm <address>',
    'Confirm an address for reports of a client on behalf of its owner.',
    'mail confirm owner@example.com --client "Sunny Fields Ltd"',
  )
    .requiredOption('--client <name>', 'client of the reports')
    .result(async (address: string, { client }: { client: string }) => {
      await withAdmin((admin) => confirmRecipient(admin, { client, address }))
      const text = `Reports of ${visible(client)} are now mailed to ${visible(address)}.`
      return { json: { client, address }, text }
    })

  command(
    mail,
    'list',
    'List queued and failed mails, the newest first.',
    'mail list --site pv-south',
  )
    .option('--site <site_id>', 'defaults to all sites')
    .option('--limit <count>', 'maximum number of mails', wholeNumber, 100)
    .fromDatabase(mailTable, (admin, { site, limit }: { site?: string; limit: number }) =>
      listUnsentMails(admin, { site_id: site ?? null, limit }),
    )
}

const mailTable = (mails: readonly UnsentMail[]) =>
  listOf('No queued or failed mails.', mails, {
    SITE: 'site_id',
    MAIL: 'mail_id',
    STATE: 'state',
    QUEUED: 'queued_at',
    TRIES: 'tries',
    'NEXT TRY': 'next_try_at',
    RECIPIENT: 'recipient',
    SUBJECT: 'subject',
    'LAST ERROR': 'last_error',
  })

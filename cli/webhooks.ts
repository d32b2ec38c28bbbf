import { findClient } from '@heliograph/server/access/clients'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  overlap_s_default,
  readWebhooks,
  rotateSecret,
  type ShownWebhook,
  type Webhook,
} from '@heliograph/server/push/webhooks/store'
import { sendTest } from '@heliograph/server/push/webhooks/test-message'
import {
  commaList,
  command,
  decimal,
  type Reporting,
  type ServerCli,
  type YesOption,
  yes,
} from './command.ts'
import { listOf } from './terminal.ts'

interface OfClient {
  client: string
}

const ofClient = ['--client <name>', 'client of the webhook'] as const

export function addWebhookCommands(program: Reporting, cli: ServerCli): void {
  const webhooks = program
    .command('webhooks')
    .description('addresses of clients to which events are sent')
  addCreate(webhooks, cli)
  command(webhooks, 'list', 'List the webhooks of a client.', 'webhooks list --client Sunny')
    .requiredOption(...ofClient)
    .fromDatabase(webhookTable, async ({ db }, { client }: OfClient) =>
      readWebhooks(db, (await findClient(db, client)).client_id),
    )
  for (const [verb, state, what] of [
    ['pause', 'paused', 'Pause a webhook: events wait until it is active again.'],
    ['activate', 'active', 'Send events again, those that waited first.'],
  ] as const) {
    command(webhooks, `${verb} <webhook_id>`, what, `webhooks ${verb} wh_0123456789ab --client S`)
      .requiredOption(...ofClient)
      .fromDatabase(oneWebhook, async (admin, webhook_id: string, { client }: OfClient) => {
        const { client_id } = await findClient(admin.db, client)
        return changeWebhook(admin, { client_id, webhook_id }, { state }, sendingOf(cli))
      })
  }
  addRotate(webhooks, cli)
  addTest(webhooks, cli)
  addDelete(webhooks, cli)
}

const sendingOf = ({ config }: ServerCli) => ({ networks: config().webhook_networks })

interface CreateOptions extends OfClient {
  name: string
  url: string
  types?: string[]
  sites?: string[]
}

function addCreate(webhooks: Reporting, cli: ServerCli): void {
  command(
    webhooks,
    'create',
    'Create a webhook. Its secret is shown only once.',
    'webhooks create --client Sunny --name tickets --url https://example.com/hook',
  )
    .requiredOption(...ofClient)
    .requiredOption('--name <name>', 'name of the webhook')
    .requiredOption('--url <url>', 'https address to which events are sent')
    .option('--types <list>', 'types of events; defaults to all', commaList)
    .option('--sites <list>', 'sites; defaults to all, including later ones', commaList)
    .fromDatabase(shownOnce, async (admin, options: CreateOptions) => {
      const { client, name, url, types = null, sites: site_ids = null } = options
      const { client_id } = await findClient(admin.db, client)
      const settings = { name, url, types: types as Webhook['types'], site_ids }
      const made = { ...settings, created_by: cli.operator }
      return createWebhook(admin, client_id, made, sendingOf(cli))
    })
}

function addRotate(webhooks: Reporting, { confirm, withAdmin }: ServerCli): void {
  command(
    webhooks,
    'rotate <webhook_id>',
    'Give a webhook a new secret, shown only once. Both sign until the overlap ends.',
    'webhooks rotate wh_0123456789ab --client Sunny --overlap-hours 48',
  )
    .requiredOption(...ofClient)
    .option('--overlap-hours <hours>', 'how long both sign', decimal, overlap_s_default / 3600)
    .option(...yes)
    .result(
      async (webhook_id: string, options: OfClient & YesOption & { overlapHours: number }) => {
        const { client, overlapHours, yes: is_sure } = options
        if (overlapHours === 0 && !is_sure) {
          await confirm(
            `Rotate the secret of ${webhook_id}? The receiver must know the new one first.`,
          )
        }
        const rotated = await withAdmin(async (admin) => {
          const { client_id } = await findClient(admin.db, client)
          return rotateSecret(admin, { client_id, webhook_id }, 3600 * overlapHours)
        })
        return { json: rotated, text: shownOnce(rotated) }
      },
    )
}

function addTest(webhooks: Reporting, cli: ServerCli): void {
  command(
    webhooks,
    'test <webhook_id>',
    'Send a test message and show the answer.',
    'webhooks test wh_0123456789ab --client Sunny',
  )
    .requiredOption(...ofClient)
    .fromDatabase(
      ({ status, failure }: { status: number | null; failure: string | null }) =>
        failure === null ? `Delivered: status ${status}.` : `Not delivered: ${failure}.`,
      async (admin, webhook_id: string, { client }: OfClient) => {
        const { client_id } = await findClient(admin.db, client)
        return sendTest(admin, { client_id, webhook_id }, sendingOf(cli))
      },
    )
}

function addDelete(webhooks: Reporting, { confirm, withAdmin }: ServerCli): void {
  command(
    webhooks,
    'delete <webhook_id>',
    'Delete a webhook with its waiting deliveries.',
    'webhooks delete wh_0123456789ab --client Sunny',
  )
    .requiredOption(...ofClient)
    .option(...yes)
    .result(async (webhook_id: string, { client, ...options }: OfClient & YesOption) => {
      if (!options.yes) await confirm(`Delete webhook ${webhook_id}? This cannot be undone.`)
      const deleted = await withAdmin(async (admin) => {
        const { client_id } = await findClient(admin.db, client)
        return deleteWebhook(admin, { client_id, webhook_id })
      })
      return { json: deleted, text: oneWebhook(deleted) }
    })
}

const shownOnce = ({ webhook_id, name, secret }: ShownWebhook) =>
  `Webhook ${webhook_id} (${name}):\n\n  ${secret}\n\nThe secret is shown only once.`

const oneWebhook = (webhook: Webhook) => webhookTable([webhook])

const webhookTable = (webhooks: readonly Webhook[]) =>
  listOf('There are no webhooks.', webhooks, {
    WEBHOOK: 'webhook_id',
    NAME: 'name',
    STATE: 'state',
    'FAILING SINCE': 'failing_since_at',
    SITES: ({ site_ids }) => site_ids ?? 'all',
    TYPES: ({ types }) => types ?? 'all',
    URL: 'url',
  })

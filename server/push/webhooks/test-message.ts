import type { Admin } from '../../access/admin.ts'
import { readWebhookKeys } from './delivery-store.ts'
import { type SendSettings, type Sent, send } from './send.ts'
import { requireWebhook, type WebhookKey } from './store.ts'

/** A test may hold a connection of the pool. */
export const test_timeout_ms = 5000

/** Sends a message that is marked as a test, whatever the state of the webhook. */
export async function sendTest(
  { db, clock, randomBytes }: Admin,
  webhook: WebhookKey,
  settings: SendSettings,
): Promise<Sent & { at: string }> {
  const { webhook_id, url, name } = await requireWebhook(db, webhook)
  const at = clock.now()
  const timestamp = at.toISOString()
  const data = { webhook_id, name, test: true }
  const outgoing = {
    url,
    at,
    message_id: `test_${randomBytes(12).toString('hex')}`,
    secrets: (await readWebhookKeys(db, webhook_id, at))!,
    body: JSON.stringify({ type: 'webhook.test', timestamp, data }),
  }
  return { at: timestamp, ...(await send(outgoing, { ...settings, timeout_ms: test_timeout_ms })) }
}

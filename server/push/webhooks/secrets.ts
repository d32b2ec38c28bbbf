/** Secrets of webhooks: shown once, stored encrypted by a key derived from that of the platform. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { platformSecret } from '../../access/platform.ts'
import type { Queries } from '../../storage/database.ts'

const algorithm = 'aes-256-gcm'
const nonce_bytes = 12
const tag_bytes = 16

export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

async function keyOf(db: Queries): Promise<Buffer> {
  const secret = await platformSecret(db)
  return Buffer.from(hkdfSync('sha256', secret, '', 'webhooks', 32))
}

/** `webhook_id` ties the ciphertext to its row. */
export async function encrypted(db: Queries, webhook_id: string, secret: string): Promise<Buffer> {
  const nonce = randomBytes(nonce_bytes)
  const cipher = createCipheriv(algorithm, await keyOf(db), nonce)
  cipher.setAAD(Buffer.from(webhook_id))
  const parts = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts)
}

export async function decrypted(db: Queries, webhook_id: string, stored: Buffer): Promise<string> {
  const nonce = stored.subarray(0, nonce_bytes)
  const decipher = createDecipheriv(algorithm, await keyOf(db), nonce)
  decipher.setAAD(Buffer.from(webhook_id))
  decipher.setAuthTag(stored.subarray(-tag_bytes))
  const text = stored.subarray(nonce_bytes, -tag_bytes)
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
}

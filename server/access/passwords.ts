/**
 * Passwords as argon2id with the first parameters of OWASP's Password Storage Cheat Sheet (19 MiB,
 * two passes, one lane), in the PHC string format.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { FairQueue } from '../http/fair-queue.ts'

const derive = promisify(argon2)
const memory_kib = 19_456
const passes = 2
const tag_bytes = 32
const salt_bytes = 16

export const password_characters_min = 12
export const password_characters_max = 128

/** NFKC, so that different encodings of the same characters are the same password. */
const bytesOf = (password: string) => Buffer.from(password.normalize('NFKC'))

/**
 * A digest occupies one of the four libuv threads for tens of milliseconds. Compression and file
 * access need these threads too.
 */
export const hashes_max = { running: availableParallelism() > 2 ? 2 : 1, waiting: 40 } as const

/** One queue for all accounts, so that waiting times do not reveal which accounts exist. */
const hashing = new FairQueue({
  ...hashes_max,
  running_per_client: hashes_max.running,
  waiting_per_client: hashes_max.waiting,
  waiting_per_key: hashes_max.waiting,
  held_bytes_per_client: Number.POSITIVE_INFINITY,
})

/** Throws 503 when too many hashes wait. */
const digest = (password: string, nonce: Buffer) =>
  hashing.run({ client: 'passwords', key: 'passwords' }, () =>
    derive('argon2id', {
      message: bytesOf(password),
      nonce,
      parallelism: 1,
      tagLength: tag_bytes,
      memory: memory_kib,
      passes,
    }),
  )

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(salt_bytes)
  const tag = await digest(password, salt)
  return `$argon2id$v=19$m=${memory_kib},t=${passes},p=1$${base64(salt)}$${base64(tag)}`
}

const written = new RegExp(
  `^\\$argon2id\\$v=19\\$m=${memory_kib},t=${passes},p=1\\$([A-Za-z0-9+/]+)\\$([A-Za-z0-9+/]+)$`,
)

/** False for malformed hashes too. */
export async function isPasswordOf(hash: string, password: string): Promise<boolean> {
  const [, salt, tag] = written.exec(hash) ?? []
  if (salt === undefined || tag === undefined) return false
  const known = Buffer.from(tag, 'base64')
  const given = await digest(password, Buffer.from(salt, 'base64'))
  return known.length === given.length && timingSafeEqual(known, given)
}

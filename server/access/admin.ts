/** What the operator's functions share: what they depend on, how they refuse, how names look. */
import type { Clock } from '@heliograph/domain/clock'
import { secretDigest } from '../http/authenticate.ts'
import type { Database } from '../storage/database.ts'

export interface Admin {
  db: Database
  clock: Clock
  /** Unpredictable bytes: secrets are made of them. */
  randomBytes(size: number): Buffer
}

export type AdminErrorCode = 'not_found' | 'conflict' | 'invalid'

/** A refusal to be told to the operator; nothing was changed. */
export class AdminError extends Error {
  readonly code: AdminErrorCode

  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AdminError'
    this.code = code
  }
}

const name_characters_max = 100

/** Control characters, line ends, halves of characters, and what turns the direction of writing. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Returns the name, or refuses one that a list or a log could not show; `what` is the subject. */
export function checkName(what: string, name: string): string {
  const refuse = (why: string) => new AdminError('invalid', `${what} ${why}`)
  if (unprintable.test(name)) throw refuse('must not contain control characters')
  if (name.trim() === '') throw refuse('must not be empty')
  if (name.trim() !== name) throw refuse('must not begin or end with a blank')
  if ([...name].length > name_characters_max) {
    throw refuse(`must have at most ${name_characters_max} characters`)
  }
  return name
}

/**
 * The chosen among `known`, once each and in the order of `known`; `what` is the singular.
 * Refuses an empty choice and names everything unknown.
 */
export function checkChoice<Name extends string>(
  what: string,
  known: readonly Name[],
  chosen: readonly string[],
): Name[] {
  const unknown = chosen.filter((name) => !(known as readonly string[]).includes(name))
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(', ')
    throw new AdminError(
      'invalid',
      `unknown ${what}: ${names} (known: ${known.join(', ') || 'none'})`,
    )
  }
  if (chosen.length === 0) throw new AdminError('invalid', `at least one ${what} is needed`)
  return known.filter((name) => chosen.includes(name))
}

/** Refuses what is not the 12 hex digits of a key or edge, unrepeated: it may be a secret. */
export function checkHexId(what: string, id: string): string {
  if (/^[0-9a-f]{12}$/.test(id)) return id
  throw new AdminError('invalid', `${what} is named by its 12 hex digits, which the list shows`)
}

/** 12 hex digits that name a key or an edge. */
export const newHexId = ({ randomBytes }: Admin): string => randomBytes(6).toString('hex')

/** 64 hex digits, and the digest that is all that is stored of them. */
export function newSecret({ randomBytes }: Admin): { secret: string; secret_sha256: Buffer } {
  const secret = randomBytes(32).toString('hex')
  return { secret, secret_sha256: secretDigest(secret) }
}

/** Shared parts of the administration: dependencies, refusals and the form of names. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import { secretDigest } from '../http/authenticate.ts'
import type { Context } from '../http/context.ts'
import type { Database, Transaction } from '../storage/database.ts'

export interface Admin {
  db: Database
  clock: Clock
  /** Cryptographically random bytes, for secrets. */
  randomBytes(size: number): Buffer
}

/** Runs administration functions within the transaction of a request. */
export const adminOf = (tx: Transaction, { clock, db }: Pick<Context, 'clock' | 'db'>): Admin => ({
  db: { ...db, ...tx, transaction: (work) => work(tx) },
  clock,
  randomBytes,
})

export type AdminErrorCode = 'not_found' | 'conflict' | 'invalid'

/** A refusal with a message for the operator. Nothing was changed. */
export class AdminError extends Error {
  readonly code: AdminErrorCode
  /** The field of a request that is wrong; empty where none is named. */
  readonly field: string

  constructor(
    code: AdminErrorCode,
    message: string,
    { field = '', ...options }: ErrorOptions & { field?: string } = {},
  ) {
    super(message, options)
    this.name = 'AdminError'
    this.code = code
    this.field = field
  }
}

const name_characters_max = 100

/** Control characters, lone surrogates, line ends and bidirectional controls. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Returns the name. Refuses names that a list or a log cannot show; `what` starts the message. */
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
 * Returns the chosen names without duplicates, in the order of `known`. Refuses an empty choice and
 * unknown names; `what` is the singular for the message.
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

/** Refuses an id that is not 12 hex digits. The message does not repeat it: it may be a secret. */
export function checkHexId(what: string, id: string): string {
  if (/^[0-9a-f]{12}$/.test(id)) return id
  throw new AdminError('invalid', `${what} is named by its 12 hex digits, which the list shows`)
}

/** The id of a new key or edge: 12 hex digits. */
export const newHexId = ({ randomBytes }: Admin): string => randomBytes(6).toString('hex')

/** A secret of 64 hex digits and its digest, the only part that is stored. */
export function newSecret({ randomBytes }: Admin): { secret: string; secret_sha256: Buffer } {
  const secret = randomBytes(32).toString('hex')
  return { secret, secret_sha256: secretDigest(secret) }
}

import { randomBytes } from 'node:crypto'
import type { Database, Transaction } from '../storage/database.ts'
import type { Admin } from './admin.ts'
import type { PlatformNeeds } from './people-endpoints.ts'

/** What an operator's function does is part of the request's own transaction. */
export const adminOf = (tx: Transaction, { clock, db }: PlatformNeeds): Admin => ({
  db: {
    ...db,
    query: tx.query.bind(tx),
    execute: tx.execute.bind(tx),
    transaction: (work) => work(tx),
  } as Database,
  clock,
  randomBytes,
})

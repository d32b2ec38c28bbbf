import type { Queries } from './database.ts'

/** Whether a query has a row. */
export const hasRow = async (db: Queries, ...query: Parameters<Queries['query']>) =>
  (await db.query(...query)).length > 0

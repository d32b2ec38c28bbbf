import type { Queries } from './database.ts'

type Query = Parameters<Queries['query']>

/** The first row of a query; null without one. */
export const firstRow = async <Row>(db: Queries, ...query: Query): Promise<Row | null> =>
  (await db.query<Row>(...query))[0] ?? null

/** Whether a query has a row. */
export const hasRow = async (db: Queries, ...query: Query): Promise<boolean> =>
  (await db.query(...query)).length > 0

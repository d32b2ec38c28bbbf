/** Looks devices up by id; retired ones exist. */
import { ApiError } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'
import { hasRow } from '../storage/rows.ts'

export const loggerExists = (db: Queries, site_id: string, logger_id: number) =>
  hasRow(db, 'SELECT FROM loggers WHERE site_id = $1 AND logger_id = $2', [site_id, logger_id])

/** @throws ApiError not_found */
export async function requireLogger(db: Queries, site_id: string, logger_id: number) {
  if (!(await loggerExists(db, site_id, logger_id))) throw new ApiError('not_found', { logger_id })
}

/** @throws ApiError not_found */
export async function requireInverter(db: Queries, site_id: string, inverter_id: number) {
  const statement = 'SELECT FROM inverters WHERE site_id = $1 AND inverter_id = $2'
  const exists = await hasRow(db, statement, [site_id, inverter_id])
  if (!exists) throw new ApiError('not_found', { inverter_id })
}

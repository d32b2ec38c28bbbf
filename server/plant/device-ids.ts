/** Looks devices up by id; retired ones exist. */
import { ApiError } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'

export async function loggerExists(
  db: Queries,
  site_id: string,
  logger_id: number,
): Promise<boolean> {
  const rows = await db.query('SELECT FROM loggers WHERE site_id = $1 AND logger_id = $2', [
    site_id,
    logger_id,
  ])
  return rows.length > 0
}

async function inverterExists(db: Queries, site_id: string, inverter_id: number): Promise<boolean> {
  const rows = await db.query('SELECT FROM inverters WHERE site_id = $1 AND inverter_id = $2', [
    site_id,
    inverter_id,
  ])
  return rows.length > 0
}

/** @throws ApiError not_found */
export async function requireLogger(
  db: Queries,
  site_id: string,
  logger_id: number,
): Promise<void> {
  if (!(await loggerExists(db, site_id, logger_id))) throw new ApiError('not_found', { logger_id })
}

/** @throws ApiError not_found */
export async function requireInverter(
  db: Queries,
  site_id: string,
  inverter_id: number,
): Promise<void> {
  if (!(await inverterExists(db, site_id, inverter_id))) {
    throw new ApiError('not_found', { inverter_id })
  }
}

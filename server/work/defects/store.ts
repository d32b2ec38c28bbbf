import type { Queries } from '../../storage/database.ts'
import { type Stored, served } from '../../storage/records.ts'
import { type ListFilter, requireFilters } from '../references.ts'
import { matchingRows, readPage } from '../rows.ts'
import { Defect } from './schemas.ts'

export interface StoredDefect extends Stored<Defect> {
  last_attachment_id: number
}

const record = `select d.*, array(
    select alert_id from defect_alerts a
    where a.site_id = $1 and a.defect_id = d.defect_id order by alert_id) as alert_ids
  from defects d`

/** @throws ApiError not_found for an unknown location or logger */
export async function readDefects(
  db: Queries,
  filter: ListFilter & Partial<Pick<Defect, 'status' | 'severity'>>,
) {
  await requireFilters(db, filter)
  const found = matchingRows('defects', filter.site_id, {
    'status =': filter.status,
    'severity =': filter.severity,
    'location_id =': filter.location_id,
    'logger_id =': filter.logger_id,
  })
  const listed = { ...found, record, alias: 'd', id: 'defect_id' } as const
  const { rows, meta } = await readPage<StoredDefect>(db, listed, filter)
  return { data: rows.map(defectRecord), meta }
}

export const readDefect = (
  db: Queries,
  { site_id, defect_id }: { site_id: string; defect_id: number },
) =>
  db.queryOne<StoredDefect>(`${record} where d.site_id = $1 and d.defect_id = $2`, [
    site_id,
    defect_id,
  ])

export const defectRecord = (row: StoredDefect) => served(Defect, row)

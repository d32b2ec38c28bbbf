import type { Queries } from '../../storage/database.ts'
import { type Stored, served } from '../../storage/records.ts'
import type { DefectSeverity, DefectState } from '../defect-states.ts'
import { requireFilters } from '../references.ts'
import { Defect } from './schemas.ts'

export interface StoredDefect extends Stored<Defect> {
  last_attachment_id: number
}

interface DefectFilter {
  site_id: string
  status?: DefectState | undefined
  severity?: DefectSeverity | undefined
  location_id?: number | undefined
  logger_id?: number | undefined
  offset: number
  limit: number
}

/** A column beside a row `d` of defects. */
const linked = `array(select alert_id from defect_alerts a
  where a.site_id = d.site_id and a.defect_id = d.defect_id order by alert_id) as alert_ids`

/**
 * A page by id, and the count of all pages, in one statement and thus one snapshot. The count and
 * the ids come from indexes that cover every filter.
 * @throws ApiError not_found for an unknown location or logger
 */
export async function readDefects(
  db: Queries,
  filter: DefectFilter,
): Promise<{ rows: Defect[]; count: number }> {
  await requireFilters(db, filter)
  const { site_id, offset, limit } = filter
  const values: unknown[] = [site_id]
  const equal = (['status', 'severity', 'location_id', 'logger_id'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [`${name} = $${values.push(filter[name])}`],
  )
  const matching = ['site_id = $1', ...equal].join(' and ')
  const rows = await db.query<{ count: number } & (StoredDefect | { defect_id: null })>(
    `select c.count, p.*
     from (select count(*) as count from defects where ${matching}) c
       left join (
         select d.*, ${linked}
         from defects d
         where d.site_id = $1 and d.defect_id in (
           select defect_id from defects where ${matching}
           order by defect_id limit ${limit} offset ${offset})
       ) p on true
     order by p.defect_id`,
    values,
  )
  const found = rows.filter((row) => row.defect_id !== null) as StoredDefect[]
  return { rows: found.map(defectRecord), count: rows[0]!.count }
}

/** null for an unknown id. */
export async function readDefect(
  db: Queries,
  { site_id, defect_id }: { site_id: string; defect_id: number },
): Promise<StoredDefect | null> {
  const [defect] = await db.query<StoredDefect>(
    `select d.*, ${linked} from defects d where d.site_id = $1 and d.defect_id = $2`,
    [site_id, defect_id],
  )
  return defect ?? null
}

const fields = Object.keys(Defect.properties)
export const defectRecord = (row: StoredDefect) => served(fields, row) as Defect

/**
 * Alarms of batteries that are set: conditions of which an edge told the beginning and no end, and
 * what values of a unit say themselves.
 */
import type { Severity } from '@heliograph/domain/link'
import type { Queries } from '../storage/database.ts'

export const batterySeverities = ['info', 'warning', 'major', 'critical'] as const
export type BatterySeverity = (typeof batterySeverities)[number]

/** Batteries know no `minor`: what devices in general call so is a warning. */
export const batterySeverity = (severity: Severity): BatterySeverity =>
  severity === 'minor' ? 'warning' : severity

export interface ActiveAlarm {
  bess_id: number
  code: string
  severity: BatterySeverity
}

export const heartbeat_code = 'heartbeat_lost'
export const fireSeverities = { warning: 'warning', fault: 'major', alarm: 'critical' } as const

/** Of all units of a site, or of one. */
export async function readActiveAlarms(
  db: Queries,
  site_id: string,
  bess_id: number | null = null,
): Promise<ActiveAlarm[]> {
  const rows = await db.query<ActiveRow>(active, [site_id])
  return rows.flatMap(({ source_id, code, severity }) => {
    // `1`, `1.cluster.0` and, of a PCS, `1.0`.
    const unit = Number(source_id.split('.', 1)[0])
    if (!Number.isInteger(unit) || (bess_id !== null && unit !== bess_id)) return []
    return [{ bess_id: unit, code, severity: batterySeverity(severity) }]
  })
}

/** What values of a unit say themselves, where its edge does not tell it as well. */
export function measuredAlarms(
  unit: {
    bess_id: number
    heartbeat_ok: number | null
    fire_system_state: keyof typeof fireSeverities | 'normal' | null
  },
  told: readonly ActiveAlarm[],
): ActiveAlarm[] {
  const { bess_id, heartbeat_ok, fire_system_state: fire } = unit
  const is_lost = heartbeat_ok === 0 && !told.some(({ code }) => code === heartbeat_code)
  return [
    ...(is_lost ? [{ bess_id, code: heartbeat_code, severity: 'major' as const }] : []),
    ...(fire === null || fire === 'normal'
      ? []
      : [{ bess_id, code: `fire_system_${fire}`, severity: fireSeverities[fire] }]),
  ]
}

interface ActiveRow {
  source_id: string
  code: string
  severity: Severity
}

const sources = "e.site_id = $1 AND e.source_kind IN ('bess', 'pcs') AND e.edge <> 'once'"
const order = 'e.source_kind, e.source_id, e.code, e.at DESC, e.event_id DESC'
const columns = 'e.source_kind, e.source_id, e.code, e.at, e.edge, e.severity'

// From one code of one source to the next: their whole past is long.
const active = {
  name: 'battery_active_alarms',
  text: `
    WITH RECURSIVE newest AS (
      (SELECT ${columns} FROM events e WHERE ${sources} ORDER BY ${order} LIMIT 1)
      UNION ALL
      SELECT next.* FROM newest n CROSS JOIN LATERAL (
        SELECT ${columns} FROM events e
        WHERE ${sources} AND (e.source_kind, e.source_id, e.code)
          > (n.source_kind, n.source_id, n.code)
        ORDER BY ${order} LIMIT 1
      ) AS next
    )
    SELECT source_id, code, severity FROM newest WHERE edge = 'rising'`,
}

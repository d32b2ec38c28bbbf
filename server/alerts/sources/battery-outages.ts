/** Battery units and PCS that do not answer; consequences of an outage get no own alert. */
import type { CommState } from '@heliograph/domain/link'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { isStale } from '../../plant/frame.ts'
import type { SourceContext } from '../finding.ts'
import { settling_s } from './plant-now.ts'

export interface Unit {
  bess_id: number
  name: string
  created_at: Date
  soc_min_pct: number
  soc_pct: number | null
  /** The last reading of the management system. */
  measured_at: Date | null
  /** The last change of the status that the edge reports; null without a report. */
  since_at: Date | null
  pcs: Pcs[]
}

interface Pcs {
  /** `1.0` for PCS 0 of battery 1. */
  id: string
  comm_state: CommState
  since_at: Date
}

export interface BatteryOutages {
  /** All units in service. */
  all: Unit[]
  /** Units that do not answer. */
  units: Unit[]
  /** PCS that do not answer, of units that do. */
  pcs: { unit: Unit; pcs: Pcs }[]
  /** Whether a PCS is within the settling time of its unit. */
  isSettling(pcs_id: string): boolean
  /** Whether a PCS or its unit does not answer. */
  isOffline(pcs_id: string): boolean
  /** Whether an outage is the reason for which the edge keeps a unit at zero power. */
  explains(bess_id: number, reason_code: string): boolean
  /** Since when a unit and all of its PCS answer; null where unknown. */
  completeSince(bess_id: number): Date | null
  /** Since when a PCS answers; null where it does not, or where this is unknown. */
  answeringSince(pcs_id: string): Date | null
}

export async function readBatteryOutages({
  db,
  site,
  now,
}: SourceContext): Promise<BatteryOutages> {
  const rows = await db.query<Omit<Unit, 'pcs'>>(
    `select b.bess_id, b.name, b.created_at, b.soc_min_pct, l.soc_pct, l.measured_at, d.since_at
     from batteries b
       left join bess_latest l on l.site_id = b.site_id and l.bess_id = b.bess_id
       left join device_status d
         on d.site_id = b.site_id and d.kind = 'bess' and d.id = b.bess_id::text
     where b.site_id = $1 and b.retired_at is null order by b.bess_id`,
    [site.site_id],
  )
  const pcs = await db.query<Pcs>(
    `select id, comm_state, since_at from device_status
     where site_id = $1 and kind = 'pcs' order by id`,
    [site.site_id],
  )
  const units = rows.map((unit) => ({
    ...unit,
    pcs: pcs.filter(({ id }) => id.startsWith(`${unit.bess_id}.`)),
  }))
  return outagesOf(units, now)
}

function outagesOf(all: Unit[], now: Date): BatteryOutages {
  const isStaleUnit = ({ measured_at }: Unit) =>
    isStale(measured_at, defaultPollIntervals.battery_s, now)
  const isSettlingUnit = ({ since_at }: Unit) =>
    since_at !== null && since_at.getTime() > now.getTime() - 1000 * settling_s
  const units = all.filter(isStaleUnit)
  const disconnected = all.flatMap((unit) =>
    unit.pcs
      .filter(({ comm_state }) => comm_state === 'disconnected')
      .map((pcs) => ({ unit, pcs })),
  )
  const unitOf = (pcs_id: string) => all.find(({ pcs }) => pcs.some(({ id }) => id === pcs_id))
  const known = new Map(all.flatMap(({ pcs }) => pcs.map((each) => [each.id, each])))
  const isUnitOffline = (pcs_id: string) =>
    units.some(({ bess_id }) => pcs_id.split('.', 1)[0] === String(bess_id))
  return {
    all,
    units,
    pcs: disconnected.filter(({ unit }) => !isStaleUnit(unit) && !isSettlingUnit(unit)),
    isSettling(pcs_id) {
      const unit = unitOf(pcs_id)
      const is_disconnected = disconnected.some(({ pcs }) => pcs.id === pcs_id)
      return is_disconnected && unit !== undefined && !isStaleUnit(unit) && isSettlingUnit(unit)
    },
    isOffline: (pcs_id) =>
      isUnitOffline(pcs_id) || known.get(pcs_id)?.comm_state === 'disconnected',
    explains(bess_id, reason_code) {
      const is_unit_offline = units.some((unit) => unit.bess_id === bess_id)
      const is_pcs_offline = disconnected.some(({ unit }) => unit.bess_id === bess_id)
      return is_unit_offline || (reason_code === 'pcs_stale' && is_pcs_offline)
    },
    completeSince(bess_id) {
      const unit = all.find((each) => each.bess_id === bess_id)
      const since = [unit?.since_at, ...(unit?.pcs.map(({ since_at }) => since_at) ?? [])]
      const known_ms = since.flatMap((at) => at?.getTime() ?? [])
      return known_ms.length > 0 ? new Date(Math.max(...known_ms)) : null
    },
    answeringSince(pcs_id) {
      const pcs = known.get(pcs_id)
      return pcs?.comm_state === 'connected' ? pcs.since_at : null
    },
  }
}

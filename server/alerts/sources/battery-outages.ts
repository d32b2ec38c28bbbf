/** Battery units and PCS that do not answer; consequences of an outage get no own alert. */
import type { CommState } from '@heliograph/domain/link'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { isStale } from '../../plant/frame.ts'
import type { SourceContext } from '../finding.ts'
import { latest, settling_s } from './plant-now.ts'

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

export async function readBatteryOutages({ db, site, now }: SourceContext) {
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

export type BatteryOutages = ReturnType<typeof outagesOf>

function outagesOf(all: Unit[], now: Date) {
  const isStaleUnit = ({ measured_at }: Unit) =>
    isStale(measured_at, defaultPollIntervals.battery_s, now)
  const isSettling = ({ since_at }: Unit) =>
    since_at !== null && since_at.getTime() > now.getTime() - 1000 * settling_s
  const units = all.filter(isStaleUnit)
  const parts = all.flatMap((unit) => unit.pcs.map((pcs) => ({ unit, pcs })))
  const disconnected = parts.filter(({ pcs }) => pcs.comm_state === 'disconnected')
  const behindOnline = disconnected.filter(({ unit }) => !isStaleUnit(unit))
  return {
    /** All units in service. */
    all,
    units,
    pcs: behindOnline.filter(({ unit }) => !isSettling(unit)),
    isSettling: (pcs_id: string) =>
      behindOnline.some(({ unit, pcs }) => pcs.id === pcs_id && isSettling(unit)),
    /** Whether a PCS or its unit does not answer. */
    isOffline: (pcs_id: string) =>
      units.some(({ bess_id }) => pcs_id.startsWith(`${bess_id}.`)) ||
      disconnected.some(({ pcs }) => pcs.id === pcs_id),
    /** Whether an outage is the reason for which the edge keeps a unit at zero power. */
    explains: (bess_id: number, reason_code: string) =>
      units.some((unit) => unit.bess_id === bess_id) ||
      (reason_code === 'pcs_stale' && disconnected.some(({ unit }) => unit.bess_id === bess_id)),
    /** Since when a unit and all of its PCS answer; null where unknown. */
    completeSince(bess_id: number) {
      const unit = all.find((each) => each.bess_id === bess_id)
      return latest([unit?.since_at, ...(unit?.pcs.map(({ since_at }) => since_at) ?? [])])
    },
    /** Since when a PCS answers; null where it does not, or where this is unknown. */
    answeringSince(pcs_id: string) {
      const pcs = parts.find((each) => each.pcs.id === pcs_id)?.pcs
      return pcs?.comm_state === 'connected' ? pcs.since_at : null
    },
  }
}

/** Which battery units and PCS do not answer: what follows of that is no alert of its own. */
import type { CommState } from '@heliograph/domain/link'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { isStale } from '../../plant/frame.ts'
import type { SourceContext } from '../finding.ts'
import { settling_s } from './edge-heard.ts'

export interface Unit {
  bess_id: number
  name: string
  created_at: Date
  /** When its management system was read last. */
  measured_at: Date | null
  /** Since when the edge says of it what it says; null where it said nothing yet. */
  since_at: Date | null
  pcs: Pcs[]
}

interface Pcs {
  /** `1.0` of PCS 0 of battery 1. */
  id: string
  comm_state: CommState
  since_at: Date
}

export interface Silence {
  units: Unit[]
  /** Of those that answer: each PCS that does not. */
  pcs: { unit: Unit; pcs: Pcs }[]
  /** A PCS that has the time to settle, as its unit has just come back. */
  isSettling(pcs_id: string): boolean
  /** Whether it or, of a PCS, its unit is silent. */
  isBehind(pcs_id: string): boolean
  /** Whether the edge holds a unit at zero for no other reason. */
  explains(bess_id: number, reason_code: string): boolean
  /** Since when all of a unit answers; null where that is not known. */
  wholeSince(bess_id: number): Date | null
  /** Since when a PCS answers; null where it does not, or where that is not known. */
  answeringSince(pcs_id: string): Date | null
}

/** As it is now at the site. */
export async function readSilence({ db, site, now }: SourceContext): Promise<Silence> {
  const rows = await db.query<Omit<Unit, 'pcs'>>(
    `select b.bess_id, b.name, b.created_at, l.measured_at, d.since_at
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
  return silenceOf(units, now)
}

/** Pure. */
function silenceOf(all: readonly Unit[], now: Date): Silence {
  const isSilent = ({ measured_at }: Unit) =>
    isStale(measured_at, defaultPollIntervals.battery_s, now)
  const isBack = ({ since_at }: Unit) =>
    since_at !== null && since_at.getTime() > now.getTime() - 1000 * settling_s
  const units = all.filter(isSilent)
  const silent = all.flatMap((unit) =>
    unit.pcs
      .filter(({ comm_state }) => comm_state === 'disconnected')
      .map((pcs) => ({ unit, pcs })),
  )
  const unitOf = (pcs_id: string) => all.find(({ pcs }) => pcs.some(({ id }) => id === pcs_id))
  const known = new Map(all.flatMap(({ pcs }) => pcs.map((each) => [each.id, each])))
  const isBehindUnit = (pcs_id: string) =>
    units.some(({ bess_id }) => pcs_id.split('.', 1)[0] === String(bess_id))
  return {
    units,
    pcs: silent.filter(({ unit }) => !isSilent(unit) && !isBack(unit)),
    isSettling(pcs_id) {
      const unit = unitOf(pcs_id)
      const is_missed = silent.some(({ pcs }) => pcs.id === pcs_id)
      return is_missed && unit !== undefined && !isSilent(unit) && isBack(unit)
    },
    isBehind: (pcs_id) => isBehindUnit(pcs_id) || known.get(pcs_id)?.comm_state === 'disconnected',
    explains(bess_id, reason_code) {
      const is_silent = units.some((unit) => unit.bess_id === bess_id)
      const has_silent = silent.some(({ unit }) => unit.bess_id === bess_id)
      return is_silent || (reason_code === 'pcs_stale' && has_silent)
    },
    wholeSince(bess_id) {
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

import { inGroups } from './groups.ts'

/** Connections of the pool at a time, for each kind of work of the link. */
export interface LinkBounds {
  live: number
  /** Backlogs. */
  later: number
  /** Admissions, hellos, status reports and lost connections. */
  presence: number
}

/** What the link uses if the pool is large enough: more does not make it faster. */
const bounds_max: LinkBounds = { live: 6, later: 3, presence: 5 }
const all_max = bounds_max.live + bounds_max.later + bounds_max.presence
/** Connections that are left for requests and jobs, where the pool has more than a few. */
const others_min = 6

/** The share of the link in a pool: each kind has one connection, and half of six is left. */
export function linkBounds(pool_size: number): LinkBounds {
  const share = Math.max(3, Math.min(all_max, pool_size - others_min))
  const part = (most: number) => Math.max(1, Math.floor((most * share) / all_max))
  const [later, presence] = [part(bounds_max.later), part(bounds_max.presence)]
  return { live: share - later - presence, later, presence }
}

export type RunInTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Runs some works at a time, in the order in which they are given. */
export function runInTurns(at_once: number): RunInTurn {
  const run = inGroups(async ([work]: readonly (() => Promise<unknown>)[]) => [await work!()], {
    at_once,
  })
  return <Result>(work: () => Promise<Result>) => run(work) as Promise<Result>
}

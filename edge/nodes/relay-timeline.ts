/** States and switchings of one relay, from messages in any order. Pure. */
import type { RelaySeen } from './state-message.ts'

/** A relay that was switched, or was first seen switched. */
export interface Switching {
  at: number
  /** State before; null if unknown. */
  from: boolean | null
  relay: RelaySeen
}

interface Sighting {
  /** Unix ms of the message. */
  at: number
  relay: RelaySeen
}

interface Told {
  at: number
  on: boolean
  /** As the node reported it; null if it did not, and `at` is when it was first seen. */
  changed_at: number | null
}

/** Consecutive sightings with the same state. */
interface Run {
  on: boolean
  sightings: Sighting[]
}

/** Older messages than this many of the newest are ignored. */
const sightings_max = 500

export class RelayTimeline {
  readonly #sightings: Sighting[] = []
  #told: Told[] = []
  /** Everything before was reported. */
  #known_from = Number.NEGATIVE_INFINITY

  /** `known` is the last known state from an earlier run of the program, and its start. */
  constructor(known: { on: boolean; at: number } | null) {
    if (!known) return
    const { on, at } = known
    const relay = { channel: '', on, cause: 'unknown', reason: null, changed_at: null } as const
    this.#sightings.push({ at, relay })
    this.#told.push({ at, on, changed_at: at })
    this.#known_from = at
  }

  /**
   * Adds the state of a message at this instant (Unix ms). Returns the switchings not yet reported.
   */
  see(at: number, relay: RelaySeen): Switching[] {
    if (at < this.#known_from) return []
    const index = this.#sightings.findLastIndex((sighting) => sighting.at <= at) + 1
    this.#sightings.splice(index, 0, { at, relay })
    const runs = runsOf(this.#sightings)
    const switchings = runs.flatMap((run, nth) => this.#untold(run, runs[nth - 1], runs[nth + 1]))
    if (this.#sightings.length > sightings_max) {
      this.#sightings.shift()
      this.#known_from = this.#sightings[0]!.at
      this.#told = this.#told.filter((told) => told.at >= this.#known_from)
    }
    return switchings
  }

  /** State by the newest message, and its start as far as known. */
  newest(): { on: boolean; at: number } | null {
    const last = this.#sightings.at(-1)
    if (!last) return null
    const { on } = last.relay
    const told = this.#told.filter((one) => one.on === on).map((one) => one.at)
    return { on, at: told.length > 0 ? Math.max(...told) : last.at }
  }

  /** Every run but the first began with a switching, as did every `changed_at` within it. */
  #untold({ on, sightings }: Run, before: Run | undefined, after: Run | undefined): Switching[] {
    const from_at = Math.max(before?.sightings.at(-1)?.at ?? this.#known_from, this.#known_from)
    const until_at = after?.sightings[0]?.at ?? Number.POSITIVE_INFINITY
    const toldHere = () =>
      this.#told.filter((told) => told.on === on && told.at >= from_at && told.at < until_at)
    const tell = (since: number, relay: RelaySeen): Switching => {
      const is_known = before !== undefined || Number.isFinite(from_at) || toldHere().length > 0
      // Nodes whose clocks count seconds may have two switchings in one instant.
      let at = since
      while (this.#told.some((told) => told.at === at)) at += 1
      this.#told.push({ at, on, changed_at: relay.changed_at })
      return { at, from: is_known ? !on : null, relay }
    }
    const switchings: Switching[] = []
    for (const { relay } of sightings) {
      const { changed_at } = relay
      // Other messages contradict this time.
      if (changed_at === null || changed_at < from_at || changed_at >= until_at) continue
      const isSame = (told: Told) => told.changed_at === changed_at
      const isSeenLater = (told: Told) => told.changed_at === null && told.at > changed_at
      if (toldHere().some((told) => isSame(told) || isSeenLater(told))) continue
      switchings.push(tell(changed_at, relay))
    }
    const [first] = sightings
    if (before && first && toldHere().length === 0) {
      switchings.push(tell(first.at, { ...first.relay, changed_at: null }))
    }
    return switchings
  }
}

function runsOf(sightings: readonly Sighting[]): Run[] {
  const runs: Run[] = []
  for (const sighting of sightings) {
    const { on } = sighting.relay
    const run = runs.at(-1)
    if (run?.on === on) run.sightings.push(sighting)
    else runs.push({ on, sightings: [sighting] })
  }
  return runs
}

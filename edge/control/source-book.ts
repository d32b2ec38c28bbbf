/** The state of the core: every device that counts, by its key. */
import type { LimitControl, LimitTraits } from '../drivers/limit-control.ts'
import { type Event, stepIn } from './core/events.ts'
import { load, type Saved } from './core/site.ts'
import type { Source, Traits } from './core/source.ts'
import type { OwnState, State } from './core/worst.ts'
import { type DeclaredTraits, latencyOf, rampOf, settableStep } from './declared-traits.ts'
import { type DeviceFacts, type DeviceRecord, savedSource } from './device-record.ts'

export const site_group = 'site'
export const groupOf = (logger_id: number) => `plant-${logger_id}`

/** A command is taken for lost after this time, by devices that declare no longer one. */
const latency_ms_min = 6000
/** Devices may act this much later than they declare. */
export const latency_margin_ms = 2000

const undeclared: LimitTraits = {
  survives_power_loss: false,
  min_interval_ms: 0,
  applies_within_ms: 0,
  ramp_ms: null,
  min_limit_w: 0,
}

const unmet: Contact = { traits: undeclared, control: null }

export class SourceBook {
  #state: OwnState
  readonly #listed = new Map<'devices' | 'pcs', readonly Traits[]>()

  constructor(now_ms: number) {
    this.#state = load([], now_ms)
  }

  /** What an earlier run left. */
  load(saved: readonly Saved[], now_ms: number): void {
    for (const [id, source] of load(saved, now_ms).sources) this.#state.sources.set(id, source)
  }

  /** All that site.yaml has of a kind. */
  describe(kind: 'devices' | 'pcs', traits: readonly Traits[]): void {
    this.#listed.set(kind, traits)
    this.step({ is: 'site', sources: [...this.#listed.values()].flat() })
  }

  /** As of now: the next step changes it. */
  get state(): State {
    return this.#state
  }

  step(event: Event): void {
    this.#state = stepIn(this.#state, event)
  }

  source(id: string): Source | null {
    return this.#state.sources.get(id) ?? null
  }
}

/** The devices of an earlier run that were not disconnected. */
export const savedDevices = (records: ReadonlyMap<number, DeviceRecord>): Saved[] =>
  [...records].flatMap(([key, record]) => {
    const { place, left = [] } = record
    const plants = [...(place ? [place.logger_id] : []), ...left]
    if (place === null && left.length === 0) return []
    const { rated_w, max_w } = place ?? {
      rated_w: record.static_max_w,
      max_w: record.static_max_w,
    }
    const facts = { rated_w, default_max_w: max_w, fresh_ms: 15_000 }
    return [savedSource(traitsOf({ key, plants, facts }), record)]
  })

interface Described {
  key: number
  /** Those in which it counts. */
  plants: readonly number[]
  facts: DeviceFacts
}

/** What a device said of itself at its last contact. */
export interface Contact {
  traits: LimitTraits
  control: Pick<LimitControl, 'settable'> | null
}

/** @param plants null: the common connection alone */
export const groupsOf = (plants: readonly (number | null)[]) =>
  [...new Set(plants)].flatMap((id) => (id === null ? [] : groupOf(id))).concat(site_group)

/** What site.yaml says of a device; before its first contact the rest is assumed. */
export function traitsOf({ key, plants, facts }: Described, contact: Contact = unmet): Traits {
  return {
    id: String(key),
    groups: groupsOf(plants),
    rated_w: facts.rated_w,
    peak_w: facts.default_max_w,
    lowest_w: 0,
    is_pv: true,
    has_no_watchdog: false,
    respects_external: true,
    is_uncontrolled: false,
    stale_ms: facts.fresh_ms,
    ...contactTraits(contact, facts),
  }
}

/** What the device says of itself at a contact, with what site.yaml declares. */
export function contactTraits({ traits, control }: Contact, facts: { declared?: DeclaredTraits }) {
  // How a device rounds a limit: by site.yaml, else by its profile.
  const { step_w = 0, tolerance_w = 0, min_limit_w } = { ...traits, ...facts.declared }
  const latency_ms = latencyOf(traits, facts)
  return {
    keeps_limit: traits.survives_power_loss,
    settable: (limit_w: number, max_w: number) => settableStep(control, step_w, limit_w, max_w),
    tolerance_w,
    smallest_limit_w: min_limit_w,
    latency_ms: Math.max(latency_ms + latency_margin_ms, latency_ms_min),
    settle_ms: latency_ms,
    ramp_ms: rampOf(traits, facts),
    raise_pause_ms: traits.min_interval_ms,
  }
}

/** What the core keeps over a new site file and over a restart. */
import type { Source, Traits } from './source.ts'
import { type OwnState, times } from './worst.ts'

type Sources = ReadonlyMap<string, Source>

const wasSeen = (s?: Source) => s !== undefined && (s.read !== null || s.command !== null)

/** Takes a new site file. A source that was seen before counts in its old groups as well. */
export function describe(before: Sources, all: readonly Traits[]): Map<string, Source> {
  const sources = new Map<string, Source>()
  for (const traits of all) {
    const s = before.get(traits.id)
    const groups = [...new Set([...traits.groups, ...(wasSeen(s) ? s!.groups : [])])]
    sources.set(traits.id, { ...(s ?? unseen(traits)), ...traits, groups })
  }
  for (const s of before.values()) {
    if (wasSeen(s) && !sources.has(s.id)) sources.set(s.id, { ...s, is_uncontrolled: true })
  }
  return sources
}

/** What a restart forgets. */
const forgotten = {
  ineffective_since_ms: null,
  deviates_since_ms: null,
  above_since_ms: null,
  external_raise_ms: null,
  distrusted_until_ms: null,
  power: null,
  falls_back_w: null,
  has_control: true,
  was_read: false,
}

export const unseen = (traits: Traits): Source => ({
  ...traits,
  ...forgotten,
  max_w: traits.peak_w,
  min_w: traits.lowest_w,
  read: null,
  known_w: null,
  command: null,
  under_way: [],
  ramps: [],
  external_w: null,
  exceeds: null,
})

/** `unheard_ms`: how long it had not been read when it was saved. */
export type Saved = Source & { unheard_ms: number }

/** Starts from the saved sources. Each counts as saved until its first read-back or until stale. */
export function load(saved: readonly Saved[], at_ms: number): OwnState {
  const sources = saved.map(({ unheard_ms, ...s }): Source => {
    const timer = s.read?.timer ? { ...s.read.timer, at_ms } : null
    return {
      ...s,
      ...forgotten,
      read: s.read && { ...s.read, at_ms: at_ms - unheard_ms, began_ms: at_ms - unheard_ms, timer },
      command: s.command && { ...s.command, at_ms },
      under_way: s.under_way.map(({ w }) => ({ w, at_ms })),
      ramps: s.ramps.map(({ w }) => ({ w, until_ms: at_ms + s.ramp_ms })),
      distrusted_until_ms: s.distrusted_until_ms === null ? null : at_ms + times.distrust_ms,
    }
  })
  return {
    sources: new Map(sources.map((s) => [s.id, s])),
    permits: new Map(),
    curtailments: [],
    night: { is_night: false, doubt_until_ms: at_ms },
    raise_from_ms: at_ms + times.start_ms,
  }
}

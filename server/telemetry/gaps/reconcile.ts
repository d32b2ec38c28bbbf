/**
 * Updates the gaps of one source from the holes in its readings. Pure.
 *
 * Readings are only added, so a hole shrinks, splits or vanishes. A gap is the record of one hole.
 * Parts split by back-filled readings are gaps of their own until they are filled; then one record
 * of the widest extent remains.
 */
import type { Hole } from './holes.ts'

/** A stored gap that is still a hole. */
export interface LivingGap extends Hole {
  gap_id: number
  /** The gap that this gap was split from, else its own id. */
  root_gap_id: number
  widest_start_ms: number
  widest_end_ms: number | null
  widest_expected_count: number
}

/** The searched time from reading to reading; `Infinity` if none follows. */
export interface Region {
  from_ms: number
  to_ms: number
}

export interface Changes {
  /** New holes; `root_gap_id` null if not split from a gap. */
  opened: (Hole & { root_gap_id: number | null })[]
  /** Changed gaps with their current hole and widest extent. */
  moved: LivingGap[]
  /** Gaps without a hole: back-filled, or without readings. */
  vanished: LivingGap[]
  /** Filled parts; their root gap remains. */
  absorbed: LivingGap[]
}

interface Extent {
  start_ms: number
  end_ms: number | null
}

/**
 * @param living the gaps that overlap the region, with all gaps of the same root
 * @param holes all holes within the region
 * @param partOf makes a hole of the part of a gap beyond the region, which stays unchanged
 */
export function reconcile(
  living: readonly LivingGap[],
  holes: readonly Hole[],
  region: Region,
  partOf: (gap: LivingGap, extent: { start_ms: number; end_ms: number }) => Hole,
): Changes {
  const concerned = living.filter((gap) => overlap(gap, regionExtent(region)) > 0)
  const rest = concerned.flatMap((gap) => {
    // An open gap that ended within the region has no part beyond it.
    const has_ended = gap.end_ms === null && holes.some((hole) => overlap(gap, hole) > 0)
    return has_ended ? [] : beyond(gap, region, partOf)
  })
  const wanted = [...holes, ...rest]
  const heirs = matched(concerned, wanted)
  const changes: Changes = { opened: [], moved: [], vanished: [], absorbed: [] }
  const current = new Map<number, LivingGap>()
  for (const gap of living) if (!concerned.includes(gap)) current.set(gap.gap_id, gap)
  for (const [gap, hole] of heirs) current.set(gap.gap_id, grown(gap, hole))

  const taken = new Set(heirs.values())
  for (const hole of wanted) {
    if (!taken.has(hole)) changes.opened.push({ ...hole, root_gap_id: rootOf(hole, living) })
  }
  for (const gap of concerned) {
    if (heirs.has(gap)) continue
    if (gap.gap_id !== gap.root_gap_id) changes.absorbed.push(gap)
    else takeOver(gap, current, changes)
  }
  const before = new Map(living.map((gap) => [gap.gap_id, gap]))
  for (const gap of current.values()) {
    if (!isSame(gap, before.get(gap.gap_id)!)) changes.moved.push(gap)
  }
  return changes
}

/** The root continues with the longest remaining part; without one it has vanished. */
function takeOver(root: LivingGap, current: Map<number, LivingGap>, changes: Changes): void {
  const isOfRoot = ({ root_gap_id }: { root_gap_id: number | null }) => root_gap_id === root.gap_id
  const part = [...current.values()].filter(isOfRoot).sort(byLength)[0]
  const opened = changes.opened.filter(isOfRoot).sort(byLength)[0]
  if (part && !(opened && byLength(opened, part) < 0)) {
    current.delete(part.gap_id)
    changes.absorbed.push(part)
    current.set(root.gap_id, grown(root, holeOf(part)))
  } else if (opened) {
    changes.opened.splice(changes.opened.indexOf(opened), 1)
    current.set(root.gap_id, grown(root, holeOf(opened)))
  } else changes.vanished.push(root)
}

const holeOf = ({ start_ms, end_ms, step_s, expected_count }: Hole): Hole => ({
  start_ms,
  end_ms,
  step_s,
  expected_count,
})

/** The hole of each gap; pairs with the largest overlap first, each hole once. */
function matched(gaps: readonly LivingGap[], holes: readonly Hole[]): Map<LivingGap, Hole> {
  const pairs = gaps.flatMap((gap) =>
    holes.flatMap((hole) => {
      const shared_ms = overlap(gap, hole)
      return shared_ms > 0 ? [{ gap, hole, shared_ms }] : []
    }),
  )
  pairs.sort(
    (a, b) =>
      b.shared_ms - a.shared_ms || a.hole.start_ms - b.hole.start_ms || a.gap.gap_id - b.gap.gap_id,
  )
  const heirs = new Map<LivingGap, Hole>()
  const taken = new Set<Hole>()
  for (const { gap, hole } of pairs) {
    if (heirs.has(gap) || taken.has(hole)) continue
    heirs.set(gap, hole)
    taken.add(hole)
  }
  return heirs
}

function rootOf(hole: Hole, living: readonly LivingGap[]): number | null {
  const parent = living
    .filter((gap) => overlap(hole, widest(gap)) > 0)
    .sort((a, b) => a.root_gap_id - b.root_gap_id)[0]
  return parent?.root_gap_id ?? null
}

function beyond(
  gap: LivingGap,
  { from_ms, to_ms }: Region,
  partOf: (gap: LivingGap, extent: { start_ms: number; end_ms: number }) => Hole,
): Hole[] {
  const parts: Hole[] = []
  if (gap.start_ms < from_ms) parts.push(partOf(gap, { start_ms: gap.start_ms, end_ms: from_ms }))
  if (gap.end_ms !== null && gap.end_ms > to_ms) {
    parts.push(partOf(gap, { start_ms: to_ms, end_ms: gap.end_ms }))
  } else if (gap.end_ms === null && Number.isFinite(to_ms)) {
    const { step_s, expected_count } = gap
    parts.push({ start_ms: to_ms, end_ms: null, step_s, expected_count })
  }
  return parts
}

/** The widest extent of a gap: its first extent and any growth since. */
function grown(gap: LivingGap, hole: Hole): LivingGap {
  const widest_start_ms = Math.min(gap.widest_start_ms, hole.start_ms)
  const widest_end_ms =
    gap.widest_end_ms === null || hole.end_ms === null
      ? hole.end_ms
      : Math.max(gap.widest_end_ms, hole.end_ms)
  const is_widest = hole.start_ms === widest_start_ms && hole.end_ms === widest_end_ms
  const widest_expected_count = is_widest
    ? hole.expected_count
    : Math.max(gap.widest_expected_count, hole.expected_count)
  return { ...gap, ...hole, widest_start_ms, widest_end_ms, widest_expected_count }
}

const regionExtent = ({ from_ms, to_ms }: Region): Extent => ({ start_ms: from_ms, end_ms: to_ms })
const widest = (gap: LivingGap): Extent => ({
  start_ms: gap.widest_start_ms,
  end_ms: gap.widest_end_ms,
})
const endOf = ({ end_ms }: Extent) => end_ms ?? Number.MAX_SAFE_INTEGER
const overlap = (a: Extent, b: Extent) =>
  Math.min(endOf(a), endOf(b)) - Math.max(a.start_ms, b.start_ms)
const byLength = (a: Extent, b: Extent) =>
  endOf(b) - b.start_ms - (endOf(a) - a.start_ms) || a.start_ms - b.start_ms

const compared = ['start_ms', 'end_ms', 'step_s', 'expected_count', 'widest_end_ms'] as const
const isSame = (a: LivingGap, b: LivingGap) => compared.every((name) => a[name] === b[name])

/**
 * Brings the gaps of one source in step with the holes that its readings have. Pure.
 *
 * A hole ends at readings, and readings only ever come: a hole shrinks, falls apart or vanishes. A
 * gap is the record of one hole. The parts into which back-filled readings split it are gaps of
 * their own for as long as they last; when the last of them is filled, one record stays, of the
 * whole as it was at its widest.
 */
import type { Hole } from './holes.ts'

/** A gap that is still a hole, as it is stored. */
export interface LivingGap extends Hole {
  gap_id: number
  /** The gap that it was split from; itself where it was not. */
  root_gap_id: number
  widest_start_ms: number
  widest_end_ms: number | null
  widest_expected_count: number
}

/** What was looked at: from a reading to a reading, `Infinity` where none follows. */
export interface Region {
  from_ms: number
  to_ms: number
}

export interface Changes {
  /** Holes that nobody knew; `root_gap_id` null for what was not split from a gap. */
  opened: (Hole & { root_gap_id: number | null })[]
  /** Gaps with their hole as it is now and their widest extent. */
  moved: LivingGap[]
  /** Gaps without any hole left: they were filled, unless no reading is within them. */
  vanished: LivingGap[]
  /** Split parts that were filled: the gap they come from tells of them. */
  absorbed: LivingGap[]
}

interface Extent {
  start_ms: number
  end_ms: number | null
}

/**
 * `living` are the gaps that reach into the region, with all others of the same root; `holes` are
 * all holes within the region. What a gap has beyond the region stays as it was: `partOf` gives it
 * as a hole.
 */
export function reconcile(
  living: readonly LivingGap[],
  holes: readonly Hole[],
  region: Region,
  partOf: (gap: LivingGap, extent: { start_ms: number; end_ms: number }) => Hole,
): Changes {
  const concerned = living.filter((gap) => overlap(gap, regionExtent(region)) > 0)
  const rest = concerned.flatMap((gap) => {
    // Readings follow: where the gap ended within the region, nothing more of it is known.
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

/** The root goes on with the longest part that is left; with none it has vanished. */
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

/** Which hole each gap goes on with: those that share most first, each once. */
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

/** The widest extent of a gap is that of the hole when it was found, and what it grew by since. */
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

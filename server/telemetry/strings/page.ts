/** The page of a series in which one instant has several items, one for each string. */
import type { StringInstant } from './store.ts'

interface Page {
  items: string
  returned: number
  first_at: Date | null
  last_at: Date | null
  /** Strings of an instant are left out: no later or earlier window would bring them. */
  is_cut: boolean
}

/**
 * Takes whole instants, from the end of the window when the newest are wanted, up to `limit` items.
 * Only an instant that alone has more than `limit` items is cut: the store has cut it already.
 */
export function wholeInstants(
  instants: readonly StringInstant[],
  { limit, newest }: { limit: number; newest: boolean },
): Page {
  const nearest = newest ? instants.toReversed() : instants
  const taken: StringInstant[] = []
  let returned = 0
  for (const instant of nearest) {
    if (returned + instant.returned > limit) break
    taken.push(instant)
    returned += instant.returned
  }
  const ascending = newest ? taken.reverse() : taken
  return {
    items: ascending.map(({ items }) => items).join(','),
    returned,
    first_at: ascending[0]?.measured_at ?? null,
    last_at: ascending.at(-1)?.measured_at ?? null,
    is_cut: ascending.some(({ is_cut }) => is_cut),
  }
}

/** String currents compared with their peers at one instant. Pure. */
import { median } from '@heliograph/domain/median'
import type { StringLayout } from '../../performance/diagnostics/string-sums.ts'

/** A string with its last reading; null where not measured or stale. */
export interface LiveString extends StringLayout {
  /** The first string of its measuring box; null where it was never measured. */
  first_string_index: number | null
  current_a: number | null
  voltage_v: number | null
}

export interface ZeroThresholds {
  /** A string below this current carries none. */
  current_a: number
  /** The lowest median of the carrying strings at which strings are judged. */
  peer_current_a: number
}

export interface ZeroString {
  string: LiveString
  current_a: number
  /** Median of its carrying peers. */
  peer_current_a: number
  peers: LiveString[]
  /** Power that it would deliver like its peers, kW DC; null where their voltage is unknown. */
  missing_kw: number | null
}

/**
 * Connected strings of one inverter that carry no current while peers do. The median covers
 * carrying strings only, so that many dead strings do not hide one another.
 */
export function judgeZero(
  strings: readonly LiveString[],
  thresholds: ZeroThresholds,
): ZeroString[] {
  const connected = strings.filter(({ is_connected }) => is_connected)
  const groups = Map.groupBy(connected, ({ group }) => group)
  return [...groups.values()].flatMap((group) => {
    const peers = group.filter((string) => isCarrying(string, thresholds))
    const peer_current_a = median(peers.map(({ current_a }) => current_a!))
    if (peer_current_a === null || peer_current_a < thresholds.peer_current_a) return []
    return group.flatMap((string) => {
      const { current_a, rated_kw } = string
      if (current_a === null || isCarrying(string, thresholds)) return []
      const missing_kw = scaledPower(rated_kw, peers)
      return [{ string, current_a, peer_current_a, peers, missing_kw }]
    })
  })
}

export const isCarrying = (
  { current_a }: Pick<LiveString, 'current_a'>,
  thresholds: Pick<ZeroThresholds, 'current_a'>,
): boolean => current_a !== null && current_a >= thresholds.current_a

/** Present power of its peers, scaled to the rating of the string, kW; null where unknown. */
export function peersPower(string: LiveString, strings: readonly LiveString[]): number | null {
  const peers = strings.filter(
    ({ group, is_connected, string_index }) =>
      is_connected && group === string.group && string_index !== string.string_index,
  )
  return scaledPower(string.rated_kw, peers)
}

/** Median power of the peers per rated power, times `rated_kw`. */
function scaledPower(rated_kw: number, peers: readonly LiveString[]): number | null {
  const specific = peers.flatMap(({ current_a, voltage_v, rated_kw: of_kw }) =>
    current_a === null || voltage_v === null ? [] : [(current_a * voltage_v) / 1000 / of_kw],
  )
  const usual = median(specific)
  return usual === null ? null : Math.max(0, usual) * rated_kw
}

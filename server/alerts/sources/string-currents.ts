/** What strings carry beside their neighbours at one instant. Pure. */
import { median } from '@heliograph/domain/median'
import type { StringLayout } from '../../performance/diagnostics/string-sums.ts'

/** A string with what was measured of it; null where nothing was lately. */
export interface LiveString extends StringLayout {
  /** Of the box that measures it; null where none ever did. */
  first_string_index: number | null
  current_a: number | null
  voltage_v: number | null
}

export interface ZeroThresholds {
  /** Below it a string carries nothing. */
  current_a: number
  /** Median of those that carry, below which nothing is judged. */
  peer_current_a: number
}

export interface ZeroString {
  string: LiveString
  current_a: number
  /** Median of those of its neighbours that carry. */
  peer_current_a: number
  peers: LiveString[]
  /** What it would deliver as they do, kW DC; null where their voltage is not known. */
  missing_kw: number | null
}

/**
 * The connected strings of one inverter that carry nothing while others of their group do: by the
 * median of those that carry, so that many dead strings do not excuse each other.
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

/** What the others of its group deliver now, scaled to the string, kW; null where unknown. */
export function peersPower(string: LiveString, strings: readonly LiveString[]): number | null {
  const peers = strings.filter(
    ({ group, is_connected, string_index }) =>
      is_connected && group === string.group && string_index !== string.string_index,
  )
  return scaledPower(string.rated_kw, peers)
}

/** By the median of their power per rated power. */
function scaledPower(rated_kw: number, peers: readonly LiveString[]): number | null {
  const specific = peers.flatMap(({ current_a, voltage_v, rated_kw: of_kw }) =>
    current_a === null || voltage_v === null ? [] : [(current_a * voltage_v) / 1000 / of_kw],
  )
  const usual = median(specific)
  return usual === null ? null : Math.max(0, usual) * rated_kw
}

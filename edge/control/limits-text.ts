/** What the edge remembers of the limits of its devices, for people; nothing of the permit file. */
import type { PcsRecord } from '../battery/dispatch-store.ts'
import { deviceName, pcsId, pcsName } from './device-name.ts'
import type { DeviceRecord } from './device-record.ts'

/** The limit of another that is in its way; null: none is. */
export function externalOf({ external_w, static_max_w }: DeviceRecord): number | null {
  return external_w !== null && external_w < static_max_w ? external_w : null
}

/** site.yaml does not have it any more, or not there, and it counts all the same. */
export const isCounting = ({ left = [] }: DeviceRecord) => left.length > 0

/** A line for each device. `asked` are those of which something is asked that is not done yet. */
export function limitsText(
  devices: ReadonlyMap<number, DeviceRecord>,
  asked: ReadonlySet<number>,
): string {
  if (devices.size === 0) return 'Nothing is remembered of any device.'
  return [...devices]
    .sort(([a], [b]) => Math.abs(a) - Math.abs(b) || b - a)
    .map(([id, record]) => `${deviceName(id).padEnd(10)}  ${textOf(record, asked.has(id))}`)
    .join('\n')
}

function textOf(record: DeviceRecord, is_asked: boolean): string {
  const { written_w, static_max_w, not_as_set_w = null } = record
  const external_w = externalOf(record)
  const parts = [
    ...removedText(record),
    external_w === null ? 'no limit of another' : `limit of another ${kw(external_w)}`,
    written_w === null ? 'never written' : `last written ${kw(written_w)}`,
    `ceiling ${kw(static_max_w)}`,
    ...(external_w !== null && not_as_set_w !== null ? [`set to ${kw(not_as_set_w)} before`] : []),
    ...(is_asked
      ? [`asked to ${isCounting(record) ? 'count it no more' : 'forget that limit'}, not done yet`]
      : []),
  ]
  return parts.join('; ')
}

/** A line for each that is not where site.yaml has it, or was said to be disconnected. */
export function pcsText(all: readonly PcsRecord[], asked: ReadonlySet<string>): string {
  return all
    .filter(({ place, left }) => left.length > 0 || place === null)
    .map((pcs) => {
      const { left, place, max_w } = pcs
      const counts = `not in site.yaml there; counts ${left.map(connection).join(' and ')}`
      const free = 'not in site.yaml, said to be disconnected'
      const is_asked = asked.has(pcsId(pcs))
      const open = is_asked ? '; asked to count it no more, not done yet' : ''
      const standing = left.length === 0 && place === null ? free : counts
      return `${pcsName(pcs).padEnd(10)}  ${standing}; discharges at most ${kw(max_w)}${open}`
    })
    .join('\n')
}

const connection = (logger_id: number | null) =>
  logger_id === null ? 'at the common connection' : `in plant ${logger_id}`

function removedText({ left = [], place }: DeviceRecord): string[] {
  if (left.length === 0) return place === null ? ['not in site.yaml, said to be disconnected'] : []
  const counts = `counts in plant ${left.join(' and ')}`
  const is_moved = place != null && !left.includes(place.logger_id)
  const but = is_moved ? ` there, but at plant ${place.logger_id}` : ''
  return [`not in site.yaml${but}; ${counts}`]
}

const kw = (w: number) => `${(w / 1000).toFixed(3)} kW`

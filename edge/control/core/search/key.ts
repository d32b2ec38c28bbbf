/** The key of a state: states that behave the same have the same key. */
import type { Source } from '../source.ts'
import { type Config, tick_ms } from './configurations.ts'
import { type Device, sourcesOf, type World } from './world.ts'

const num = (ms: number | null | undefined) => (ms == null ? '-' : ms / tick_ms)
const listed = (all: Device['queue']) =>
  all
    .map(
      (one) => `${one.w}@${num(one.at_ms)}${one.is_repeated ? '+' : ''}${one.is_over ? '!' : ''}`,
    )
    .sort()
    .join()
const ramped = (all: Source['ramps']) =>
  all
    .map((one) => `${one.w}@${num(one.until_ms)}`)
    .sort()
    .join()

const keyOfSource = (s: Source) =>
  [
    s.read?.w,
    num(s.read?.at_ms),
    num(s.read?.began_ms),
    s.read?.timer && num(s.read.timer.at_ms),
    s.known_w,
    s.command?.w,
    num(s.command?.at_ms),
    +(s.command?.is_external ?? false),
    +(s.command?.is_interrupting ?? false),
    +s.has_control,
    s.exceeds && `${s.exceeds.power_w}>${s.exceeds.limit_w}`,
    listed([...s.under_way]),
    ramped(s.ramps),
    s.external_w,
    s.max_w,
    num(s.ineffective_since_ms),
    +s.was_read,
    +s.is_uncontrolled,
    s.power?.w,
    num(s.power?.at_ms),
    num(s.deviates_since_ms),
    num(s.above_since_ms),
    num(s.external_raise_ms),
    num(s.distrusted_until_ms),
  ].join()

const keyOfDevice = (d: Device) =>
  [
    d.held,
    listed(d.queue),
    ramped(d.past),
    num(d.timer?.at_ms),
    +d.is_silent,
    +d.is_ignoring,
    +d.is_removed,
    +d.is_excused,
    +d.is_own,
    d.unread_external,
    d.external,
    d.read_w,
    d.before && `${d.before.command?.w}@${num(d.before.command?.at_ms)} ${listed(d.before.queue)}`,
    +d.was_misread,
    d.reading &&
      `${d.reading.w}@${num(d.reading.began_ms)}${num(d.reading.timer?.at_ms)}${d.reading.is_old ?? false}`,
  ].join()

/** Ages that make no difference any more are left out. */
export function keyOf(config: Config, world: World): string {
  const { state, devices, permit, request, is_dark, daylight_ms, saved, todo } = world
  const parts = sourcesOf(world).map((s, nth) => {
    const own = (todo ?? [])
      .filter((one) => one.id === s.id)
      .map((one) => `${one.w}${+one.is_raise}`)
    return `${keyOfSource(s)};${keyOfDevice(devices[nth]!)};${own}`
  })
  const is_symmetric =
    !config.requests &&
    !config.register &&
    config.sources.length === 2 &&
    config.sources.every((one) => Object.keys(one).length === 0)
  if (is_symmetric) parts.sort()
  return [
    parts.join('|'),
    permit,
    request,
    +is_dark,
    daylight_ms,
    +state.night.is_night,
    num(state.night.doubt_until_ms),
    num(state.raise_from_ms),
    saved ? saved.map(keyOfSource).join('|') : '',
  ].join('/')
}

/** A hash of 53 bits: among ten million states two collide with a chance of 1 in 180. */
export function hash(key: string): number {
  let one = 0xdeadbeef
  let other = 0x41c6ce57
  for (let nth = 0; nth < key.length; nth++) {
    const code = key.charCodeAt(nth)
    one = Math.imul(one ^ code, 2654435761)
    other = Math.imul(other ^ code, 1597334677)
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
  return 4294967296 * (2097151 & other) + (one >>> 0)
}

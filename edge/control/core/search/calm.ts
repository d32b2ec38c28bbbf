/** When nothing is wrong any more, all sources come to their shares and no command follows. */
import type { Source } from '../source.ts'
import { reach } from '../worst.ts'
import { type Config, step_w } from './configurations.ts'
import { permitOf } from './judge.ts'
import { changed, commandsOf, heard, measured, pass, read, send } from './steps.ts'
import { Broken, ids, real, sourcesOf, type World } from './world.ts'

/** (e) All sources come to their shares, and then no command follows. */
export function judgeCalm(config: Config, from: World): void {
  if (
    config.permits[from.permit]!.export['p']!.may_raise === false ||
    from.state.night.is_night !== from.is_dark ||
    from.devices.some((one) => one.is_removed)
  )
    return
  const made = (nth: number, w: number) => (nth === 0 && config.register ? config.register(w) : w)
  const settled = from.devices.map((one, nth) => ({
    ...one,
    held: one.queue.some((it) => !it.is_over)
      ? made(nth, one.queue.findLast((it) => !it.is_over)!.w)
      : one.held,
    queue: [],
    past: [],
    is_silent: false,
    is_ignoring: false,
    timer: null,
    reading: null,
    before: null,
  }))
  let world: World = { ...from, devices: settled }
  for (const { id, has_control } of sourcesOf(from)) {
    if (!has_control) world = heard(world, { is: 'contact', id, has_control: true })
  }
  for (const [nth, { queue }] of from.devices.entries())
    for (const { w, at_ms } of queue)
      if (at_ms === null) world = heard(world, { is: 'done', id: ids[nth]!, at_ms: 0, w })
  let count = 0
  for (let round = 0; round < 16; round++) {
    for (const [nth, { held }] of world.devices.entries())
      world = measured(read(world, nth, { w: held, began_ms: 0, timer: null }), nth)
    const commands = commandsOf(config, world)
    count = commands.length
    for (const command of commands) {
      const nth = ids.indexOf(command.id)
      world = changed(
        heard(send(config, world, command), { is: 'done', id: command.id, at_ms: 0, w: command.w }),
        nth,
        { held: made(nth, command.w), queue: [] },
      )
    }
    world = pass({ ...world, todo: null })
  }
  const is_least = sourcesOf(world).some((s) => s.smallest_limit_w > 0)
  if (count > 0 && !is_least) throw new Broken(`calm: still ${count} commands`)
  judgeShares(config, world)
}

function judgeShares(config: Config, world: World): void {
  const all = sourcesOf(world)
  const held = world.devices.map((one) => one.held)
  // An external limit needs another master, a wrong read-back or a lost command.
  const has_others = (['external', 'garbage', 'unsaved'] as const).some((what) =>
    config.does.includes(what),
  )
  const requested_w = all.map((s, nth) => {
    return Math.min(
      s.rated_w,
      config.requests?.[world.request]?.[nth] ?? (s.is_pv ? s.rated_w : 0),
      (has_others ? s.external_w : null) ?? s.rated_w,
    )
  })
  for (const group of Object.keys(config.permits[0]!.export)) {
    for (const way of ['export', 'import'] as const) {
      const sum_w = all.reduce(
        (sum, s, nth) =>
          sum + (s.groups.includes(group) ? real(s, world.devices[nth]!, way, world.is_dark) : 0),
        0,
      )
      if (sum_w > permitOf(config, world, way, group))
        throw new Broken(`calm: ${group} is at ${sum_w} of ${way}`)
    }
  }
  const isKept = (s: Source) => s.has_no_watchdog || s.keeps_limit
  if (all.some((s) => s.has_no_watchdog) && !all.every(isKept)) return
  for (const [nth, s] of all.entries()) {
    const way = requested_w[nth]! < 0 ? 'import' : 'export'
    const wanted_w = all.map((one, other) => reach(one, requested_w[other]!, way))
    const permits = s.groups.map((group) => ({
      permit_w: permitOf(config, world, way, group),
      rated_w: all.reduce((sum, one) => sum + (one.groups.includes(group) ? one.rated_w : 0), 0),
      wanted_sum_w: all.reduce(
        (sum, one, other) => sum + (one.groups.includes(group) ? wanted_w[other]! : 0),
        0,
      ),
    }))
    // A device at its smallest limit takes room that nobody requested.
    const smallest_limit_w = all.reduce((sum, one) => sum + one.smallest_limit_w, 0)
    if (
      smallest_limit_w > 0 &&
      permits.some(({ permit_w, wanted_sum_w }) => wanted_sum_w + smallest_limit_w > permit_w)
    )
      continue
    const is_room = permits.every(({ permit_w, wanted_sum_w }) => wanted_sum_w <= permit_w)
    const share_w = is_room
      ? wanted_w[nth]!
      : Math.min(
          wanted_w[nth]!,
          ...permits.map((one) => s.settable((one.permit_w * s.rated_w) / one.rated_w, s.max_w)),
        )
    const lost_w =
      wanted_w[nth] === s.rated_w && share_w === s.rated_w
        ? 0
        : 2 * s.tolerance_w +
          (share_w < s.smallest_limit_w + s.tolerance_w ? s.smallest_limit_w : 0)
    // A ceiling that holds nothing is undercut.
    const undercut_w = s.exceeds ? step_w : 0
    // Without a watchdog a source has what the others leave that keep their limits in a silence.
    const kept_w = held.reduce((sum, w, other) => sum + (other === nth ? 0 : Math.max(0, w)), 0)
    if (s.has_no_watchdog && permits.some((one) => kept_w + share_w > one.permit_w)) continue
    if (Math.abs(held[nth]!) < share_w - lost_w - undercut_w)
      throw new Broken(`calm: ${s.id} is at ${held[nth]}, its share is ${share_w}`)
  }
}

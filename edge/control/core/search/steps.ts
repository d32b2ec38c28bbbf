/** The steps of the search: all that can happen next in a state. */
import { type Command, decide, whyUnsafe } from '../core.ts'
import { type Event, step } from '../events.ts'
import { load } from '../site.ts'
import type { Source, Timer } from '../source.ts'
import { type Config, type Does, step_w, tick_ms } from './configurations.ts'
import {
  Broken,
  type Device,
  ids,
  oldest_ms,
  ownCommand,
  permitsOf,
  real,
  short,
  sourcesOf,
  traitsOf,
  type World,
} from './world.ts'

type Queued = Device['queue'][number]

export type Step = [
  name: string,
  world: World,
  kind: 'time' | 'dawn' | 'device' | 'heard' | 'terms' | 'done' | 'start' | 'sent',
]

export const heard = (world: World, event: Event): World => ({
  ...world,
  state: step(world.state, event),
})
export const changed = (world: World, nth: number, change: Partial<Device>): World => ({
  ...world,
  devices: world.devices.map((one, other) => {
    if (other !== nth) return one
    const reading =
      change.is_excused && one.reading ? { ...one.reading, is_old: true } : one.reading
    return { ...one, reading, ...change }
  }),
})

/** The register takes another value; the power may follow the earlier one during the ramp. */
function hold(
  config: Config,
  world: World,
  nth: number,
  w: number,
  change: Partial<Device>,
): World {
  const { held, past, is_excused } = world.devices[nth]!
  const s = sourcesOf(world)[nth]!
  const ramp_ms = Math.min(s.ramp_ms, config.ramp_ms ?? oldest_ms)
  // A figure that comes and goes between two polls cannot be known.
  const is_unknowable = is_excused && s.read !== null && -s.read.at_ms <= s.stale_ms
  const gone = ramp_ms > 0 && w !== held && !is_unknowable ? [{ w: held, until_ms: ramp_ms }] : []
  return changed(world, nth, {
    held: w,
    past: [...past.filter((one) => one.w !== held && one.w !== w), ...gone],
    ...change,
  })
}

export function* next(config: Config, world: World): Generator<Step> {
  const does = (what: Does) => config.does.includes(what)
  yield ['tick', pass(world), 'time']
  for (const [nth, s] of sourcesOf(world).entries()) yield* nextOf(config, world, nth, s)
  yield* nextOfEdge(config, world)
  for (let nth = 0; nth < config.permits.length; nth++) {
    if (nth !== world.permit)
      yield [
        `permit ${nth}`,
        { ...heard(world, { is: 'permits', ...permitsOf(config, nth) }), permit: nth },
        'terms',
      ]
  }
  for (let nth = 0; nth < (config.requests?.length ?? 0); nth++) {
    if (nth !== world.request) yield [`request ${nth}`, { ...world, request: nth }, 'terms']
  }
  if (does('sun')) {
    const is_dark = !world.is_dark
    yield [
      is_dark ? 'night' : 'day',
      { ...heard(world, { is: 'night', is_night: is_dark }), is_dark },
      is_dark ? 'terms' : 'dawn',
    ]
  }
  if (does('wrong night')) {
    const is_night = !world.state.night.is_night
    yield [
      is_night ? 'wrong night' : 'day',
      heard(world, { is: 'night', is_night }),
      is_night ? 'terms' : 'dawn',
    ]
  }
}

function carriedOut({ w, at_ms, is_repeated }: Queued): Queued[] {
  if (is_repeated) return [{ w, at_ms }]
  return at_ms === null ? [{ w, at_ms, is_over: true }] : []
}

/** All that can happen next to one device. */
function* nextOf(config: Config, world: World, nth: number, s: Source): Generator<Step> {
  const { held, queue, timer } = world.devices[nth]!
  for (const one of queue) {
    const { w } = one
    if (one.is_over) continue
    const made = nth === 0 && config.register ? config.register(w) : w
    if (made !== held || timer)
      yield [
        `${s.id} carries out ${w}`,
        hold(config, world, nth, made, {
          timer: null,
          is_own: true,
          queue: queue.flatMap((other) => (other === one ? carriedOut(one) : other)),
        }),
        'device',
      ]
  }
  const { is_silent, is_removed } = world.devices[nth]!
  if (!is_silent && !is_removed) yield* readsOf(config, world, nth, s)
  if (config.does.includes('nonsense')) yield* nonsenseOf(world, s)
  yield* troublesOf(config, world, nth, s)
  yield* serviceOf(config, world, nth, s)
}

/** Reads and measurements, right and wrong. */
function* readsOf(config: Config, world: World, nth: number, s: Source): Generator<Step> {
  const does = (what: Does) => config.does.includes(what)
  const { id, rated_w } = s
  const device = world.devices[nth]!
  const { held, timer } = device
  const seen = { w: held, began_ms: 0, timer }
  if (!does('slow read')) yield [`${id} is read`, read(world, nth, seen), 'heard']
  else if (device.reading) yield [`${id} was read`, read(world, nth, device.reading), 'heard']
  else yield [`${id} begins to be read`, changed(world, nth, { reading: seen }), 'device']
  if (does('ignore') || does('power')) yield [`${id} is measured`, measured(world, nth), 'heard']
  if (does('power'))
    yield [`${id} is measured at 0`, heard(world, { is: 'power', id, at_ms: 0, w: 0 }), 'heard']
  if (does('garbage') && !device.was_misread && s.ramp_ms > 0) {
    for (const w of [0, rated_w])
      if (w !== held) yield [`${id} is misread ${w}`, misread(world, nth, w, rated_w), 'heard']
    if (rated_w > step_w) {
      const low = misread(world, nth, step_w, step_w)
      yield [`${id} is misread ${step_w} of ${step_w}`, low, 'heard']
    }
  }
}

/** Read-backs that no device gives, and an old one. */
function* nonsenseOf(world: World, s: Source): Generator<Step> {
  const { id, rated_w } = s
  const right = { is: 'read', id, at_ms: 0, w: 0, max_w: rated_w, min_w: 0, timer: null } as const
  const wrong: Event[] = [
    { ...right, w: Number.NaN },
    { ...right, max_w: 0 },
    { ...right, max_w: 3 * rated_w },
    { ...right, max_w: Number.NaN },
    { ...right, w: 2 * rated_w },
    { is: 'power', id, at_ms: 0, w: Number.NaN },
  ]
  if (s.read && s.read.at_ms > -oldest_ms)
    wrong.push({ ...right, began_ms: s.read.at_ms - tick_ms })
  for (const [which, event] of wrong.entries())
    yield [`nonsense ${which} of ${id}`, heard(world, event), 'heard']
}

/** Silence, restarts, disobedience, and other masters. */
function* troublesOf(config: Config, world: World, nth: number, s: Source): Generator<Step> {
  const does = (what: Does) => config.does.includes(what)
  const { id, rated_w } = s
  const device = world.devices[nth]!
  const { held, queue, timer } = device
  if (does('silence'))
    yield [
      `${id} ${device.is_silent ? 'answers' : 'is silent'}`,
      changed(world, nth, { is_silent: !device.is_silent, reading: null }),
      'device',
    ]
  if (does('reset') && !s.keeps_limit && held !== rated_w) {
    yield [
      `${id} restarts`,
      hold(config, world, nth, rated_w, {
        is_excused: true,
        is_own: false,
        timer: null,
        external: null,
        unread_external: null,
        // A restart loses what was not carried out.
        queue: queue.filter((one) => one.at_ms === null),
      }),
      'device',
    ]
  }
  for (const w of does('external') ? config.external! : []) {
    if (w === held || queue.some((one) => one.w === w) || ownCommand(s) === w) continue
    const external = device.external !== null && w > device.external ? null : device.external
    yield [
      `another sets ${id} to ${w}`,
      hold(config, world, nth, w, {
        timer: null,
        is_excused: true,
        is_own: false,
        unread_external: w,
        external,
      }),
      'device',
    ]
  }
  if (does('timer') && !timer)
    yield [
      `another starts a timer of ${id}`,
      changed(world, nth, { timer: { at_ms: 2 * tick_ms, to_w: rated_w }, is_excused: true }),
      'device',
    ]
  if (does('ignore'))
    yield [
      `${id} ${device.is_ignoring ? 'obeys' : 'ignores'}`,
      changed(world, nth, { is_ignoring: !device.is_ignoring }),
      'device',
    ]
}

/** The driver returns; people release or remove the device. */
function* serviceOf(config: Config, world: World, nth: number, s: Source): Generator<Step> {
  const does = (what: Does) => config.does.includes(what)
  const { id } = s
  const device = world.devices[nth]!
  const { queue } = device
  const open = queue.find((one) => one.at_ms === null)
  if (open) {
    const rest = queue.flatMap((one) =>
      one !== open ? one : one.is_over ? [] : { ...one, at_ms: 0 },
    )
    const { before } = device
    if (before && !open.is_over) {
      const was = changed(world, nth, { queue: before.queue, before: null })
      const unsent = { is: 'unsent', id, w: open.w, command: before.command } as const
      yield [`a command to ${id} was not sent`, heard(was, unsent), 'done']
    }
    yield [
      `the driver of ${id} returns`,
      heard(changed(world, nth, { queue: rest }), { is: 'done', id, at_ms: 0, w: open.w }),
      'done',
    ]
  }
  if (does('release') && s.external_w !== null) {
    yield [
      `an operator releases ${id}`,
      heard(changed(world, nth, { external: null }), { is: 'released', id, groups: s.groups }),
      'terms',
    ]
  }
  if (does('no control')) {
    const has_control = !s.has_control
    yield [
      `${id} ${has_control ? 'can' : 'cannot'} be written to`,
      heard(world, { is: 'contact', id, has_control }),
      'terms',
    ]
  }
  if (does('removal')) {
    const removed = changed(world, nth, { is_removed: !device.is_removed })
    const sources = traitsOf(config).filter((_, other) => !removed.devices[other]!.is_removed)
    if (s.read)
      yield [
        `${id} ${device.is_removed ? 'is in' : 'leaves'} the site file`,
        heard(removed, { is: 'site', sources }),
        'heard',
      ]
  }
}

function* nextOfEdge(config: Config, world: World): Generator<Step> {
  if (config.does.includes('apart')) {
    yield ['decide', { ...world, todo: commandsOf(config, world) }, 'terms']
    for (const command of world.todo ?? []) {
      const is_busy = world.devices[ids.indexOf(command.id)]!.queue.some(
        (one) => one.at_ms === null,
      )
      if (!is_busy) yield [`send ${command.id} ${command.w}`, send(config, world, command), 'sent']
    }
  } else {
    const commands = commandsOf(config, world)
    const sent = commands.reduce((after, command) => send(config, after, command), world)
    if (commands.length > 0)
      yield [`send ${commands.map(({ id, w }) => `${id} ${w}`).join()}`, sent, 'sent']
  }
  if (config.does.includes('restart')) yield ['restart', restarted(config, world), 'start']
}

export const requestsOf = (config: Config, { request }: World) =>
  new Map(
    (config.requests?.[request] ?? []).flatMap((w, nth) =>
      w === undefined ? [] : [[ids[nth]!, w] as const],
    ),
  )

export function commandsOf(config: Config, world: World): readonly Command[] {
  const { commands, fault } = decide(world.state, 0, requestsOf(config, world))
  if (fault) throw new Broken(`the decision failed its own check: ${fault}`)
  return commands
}

/** Checked once more, durable, on the wire. */
export function send(config: Config, world: World, command: Command): World {
  const { id, w } = command
  const todo = world.todo?.filter((one) => one !== command) ?? null
  if (whyUnsafe(world.state, [command], 0) !== null) return { ...world, todo }
  let sent = heard({ ...world, todo }, { is: 'sent', id, at_ms: 0, w })
  if (config.does.includes('unsaved')) sent = { ...sent, saved: sourcesOf(sent) }
  const at_ms = config.does.includes('hang') ? null : 0
  if (at_ms !== null) sent = heard(sent, { is: 'done', id, at_ms, w })
  const nth = ids.indexOf(id)
  const { queue, unread_external } = sent.devices[nth]!
  const before = config.does.includes('unsent')
    ? { command: sourcesOf(world)[nth]!.command, queue }
    : null
  const others = queue.filter((one) => one.w !== w)
  const is_repeated = others.length < queue.length
  // The same value by another master cannot be told from the command.
  const is_over = unread_external === w
  return changed(sent, nth, {
    queue: [
      ...others,
      { w, at_ms, ...(is_repeated && { is_repeated }), ...(is_over && { is_over }) },
    ],
    before,
  })
}

function restarted(config: Config, world: World): World {
  const is_unsaved = config.does.includes('unsaved')
  const saved = (is_unsaved ? (world.saved ?? []) : sourcesOf(world)).map((s) => {
    // The last save may be old, and then does not know of a silence since.
    const unheard_ms = s.read && !is_unsaved ? -s.read.at_ms : 0
    return { ...s, unheard_ms }
  })
  const loaded = step(load(saved, 0), { is: 'site', sources: traitsOf(config) })
  const state = step(loaded, { is: 'permits', ...permitsOf(config, world.permit) })
  // What another master did after the last save has to be read again.
  const devices = world.devices.map((one, nth) => ({
    ...one,
    is_excused: one.is_excused || !one.is_own,
    queue: one.queue.filter((it) => !it.is_over).map((it) => ({ ...it, at_ms: it.at_ms ?? 0 })),
    reading: null,
    external: saved.find((s) => s.id === ids[nth])?.external_w == null ? null : one.external,
  }))
  return { ...world, state, devices, todo: null }
}

export function read(
  world: World,
  nth: number,
  { w, began_ms, timer, is_old = false }: NonNullable<Device['reading']>,
): World {
  const s = sourcesOf(world)[nth]!
  const after = heard(world, {
    is: 'read',
    id: s.id,
    at_ms: 0,
    began_ms,
    w,
    max_w: s.rated_w,
    min_w: s.lowest_w,
    timer,
  })
  const device = world.devices[nth]!
  if (s.read && began_ms < s.read.at_ms) return changed(after, nth, { reading: null })
  const known = {
    reading: null,
    is_excused: is_old && device.is_excused,
    read_w: w,
    was_misread: false,
  }
  return externalRead(changed(after, nth, known), nth, s, device)
}

/** The judge's own record of external limits: read, not ours by any command, and lower. */
function externalRead(world: World, nth: number, before: Source, device: Device): World {
  const found = device.unread_external
  if (found === null) return world
  const s = sourcesOf(world)[nth]!
  const commands = [...device.queue, ...s.under_way, ...before.under_way]
  const is_ours = commands.some((one) => one.w === found)
  const is_lower = found < Math.min(ownCommand(before) ?? s.rated_w, before.known_w ?? s.rated_w)
  const is_found = !is_ours && is_lower && s.read!.w === found
  return changed(world, nth, {
    unread_external: null,
    external: is_found ? Math.min(found, device.external ?? found) : device.external,
  })
}

const misread = (world: World, nth: number, w: number, max_w: number): World => {
  const { id, lowest_w } = sourcesOf(world)[nth]!
  const after = heard(world, { is: 'read', id, at_ms: 0, w, max_w, min_w: lowest_w, timer: null })
  return changed(after, nth, { was_misread: true, read_w: w })
}

export function measured(world: World, nth: number): World {
  const s = sourcesOf(world)[nth]!
  const w =
    real(s, world.devices[nth]!, 'export', world.is_dark) ||
    -real(s, world.devices[nth]!, 'import', world.is_dark)
  const is_in_daylight = w > 0 && world.state.night.is_night && !world.is_dark && s.is_pv
  return heard(
    { ...world, daylight_ms: is_in_daylight ? short.night_doubt_ms : world.daylight_ms },
    { is: 'power', id: s.id, at_ms: 0, w },
  )
}

/** A tick passes: the present stays 0, and everything gets older. */
export function pass(world: World): World {
  const age = (ms: number | null) => (ms === null ? null : Math.max(ms - tick_ms, -oldest_ms))
  const aged = <Of extends { at_ms: number | null }>(one: Of): Of => ({
    ...one,
    at_ms: age(one.at_ms),
  })
  const until = (ms: number) => Math.max(ms - tick_ms, -tick_ms)
  const agedTimer = (timer: Timer | null) => timer && { ...timer, at_ms: until(timer.at_ms) }
  const agedSource = (s: Source): Source => ({
    ...s,
    read: s.read && {
      ...aged(s.read),
      began_ms: age(s.read.began_ms)!,
      timer: agedTimer(s.read.timer),
    },
    command: s.command && aged(s.command),
    under_way: s.under_way.map(aged),
    power: s.power && aged(s.power),
    ramps: s.ramps.map(({ w, until_ms }) => ({ w, until_ms: until(until_ms) })),
    ineffective_since_ms: age(s.ineffective_since_ms),
    deviates_since_ms: age(s.deviates_since_ms),
    above_since_ms: age(s.above_since_ms),
    external_raise_ms: age(s.external_raise_ms),
    distrusted_until_ms: s.distrusted_until_ms === null ? null : until(s.distrusted_until_ms),
  })
  const agedDevice = (device: Device, nth: number): Device => {
    const { latency_ms } = sourcesOf(world)[nth]!
    const queue = device.queue
      .map(aged)
      .filter((one) => one.at_ms === null || one.at_ms > -latency_ms)
    const past = device.past
      .map(({ w, until_ms }) => ({ w, until_ms: until_ms - tick_ms }))
      .filter(({ until_ms }) => until_ms > 0)
    const timer = device.timer && { ...device.timer, at_ms: device.timer.at_ms - tick_ms }
    const reading = device.reading && {
      ...device.reading,
      began_ms: age(device.reading.began_ms)!,
      timer: agedTimer(device.reading.timer),
    }
    const older = { ...device, queue, past, timer, reading, before: null }
    if (!timer || timer.at_ms > 0) return older
    // A external limit ends with the timer of its master.
    const external =
      device.external !== null && timer.to_w > device.external ? null : device.external
    return {
      ...older,
      held: timer.to_w,
      is_own: false,
      timer: null,
      external,
      unread_external: null,
    }
  }
  const { state } = world
  return {
    ...world,
    saved: world.saved?.map(agedSource) ?? null,
    devices: world.devices.map(agedDevice),
    daylight_ms: Math.max(0, world.daylight_ms - tick_ms),
    state: {
      ...state,
      sources: new Map([...state.sources].map(([id, s]) => [id, agedSource(s)])),
      night: { ...state.night, doubt_until_ms: until(state.night.doubt_until_ms) },
      raise_from_ms: until(state.raise_from_ms),
    },
  }
}

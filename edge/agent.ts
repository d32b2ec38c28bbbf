/** The agent: its parts put together, started and stopped in the right order. */
import { dirname, join } from 'node:path'
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { DeviceKind, LinkEvent } from '@heliograph/domain/link'
import { listedDevicesOf, movedDevices } from '@heliograph/domain/positions'
import { isProfilePath } from '@heliograph/domain/schema'
import type { Connection, Site } from '@heliograph/domain/site'
import { Announcer } from './announcer.ts'
import { openDispatchStore } from './battery/dispatch-store.ts'
import { Dispatcher } from './battery/dispatcher.ts'
import { clockEvent, wasTrusted } from './clock-events.ts'
import type { Door } from './commissioning/door.ts'
import { openReadDoor } from './commissioning/read-door.ts'
import { openTrialDoor } from './commissioning/trial-door.ts'
import { Conditions, type Source } from './conditions.ts'
import type { LocalConfig } from './config.ts'
import { type ControlFiles, openControlFiles } from './control/control-files.ts'
import { Controller } from './control/controller.ts'
import { OutsideOrders } from './control/outside-orders.ts'
import { ControlCentres } from './control-centres.ts'
import { takeDataDir } from './data-dir.ts'
import type { Bus, Driver } from './drivers/driver.ts'
import { inTime } from './in-time.ts'
import { type Journal, journal_dir, openJournal } from './journal.ts'
import { type JournalNotice, noticeEvent } from './journal-notice.ts'
import { Link } from './link.ts'
import type { Log } from './log.ts'
import { Loop } from './loop.ts'
import type { Figures } from './metrics.ts'
import { Nodes } from './nodes/nodes.ts'
import { PlantClock } from './plant-clock.ts'
import type { PollResult } from './polled-device.ts'
import { Recorder } from './recorder.ts'
import { RelayWatch } from './relay-inputs.ts'
import { openRunMark, type RunMark, startedEvent } from './run-mark.ts'
import { accepted_site, SiteWatch } from './site-watch.ts'

interface AgentNeeds {
  config: LocalConfig & {
    /** null: there is none, and the journal is sent by the next agent on the directory. */
    server_url: string | null
    token: string
  }
  agent_version: string
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  /** From 0 to below 1. */
  random(): number
  /** Never the same twice, of a-z, 0-9 and -. */
  newEpoch(): string
  /** A UUID, never the same twice. */
  newOrderId(): string
  log: Log
  openBus(connection: Connection): Bus
  driverOf(name: string): Driver
  onPoll(kind: DeviceKind, result: PollResult, took_ms: number): void
  /** A disk that hangs is waited for so long when it stops; 5 s where it is left out. */
  stop_ms_max?: number
}

const default_stop_ms_max = 5000
/** Batteries that left site.yaml are to be told 0 W within this. */
const release_ms_max = 3000

interface Agent {
  figures(): Figures
  /**
   * Stops polling, journals what was gathered, and ends the link. False: something hangs, above all
   * the disk. It was not waited for any longer, and the program has to end.
   */
  stop(): Promise<boolean>
}

interface Parts {
  clock: PlantClock
  watch: SiteWatch
  conditions: Conditions
  journal: Journal
  run: RunMark
  /** Unix ms: the newest record of the journal when it was opened. */
  newest_at: number | null
  recorder: Recorder
  announcer: Announcer
  controller: Controller
  dispatcher: Dispatcher
  /** The grid permit and the control log. */
  files: ControlFiles
  centres: ControlCentres
  relays: RelayWatch
  loop: Loop
  nodes: Nodes
  link: Link
}

/**
 * Starts everything.
 *
 * @throws SiteFileError when there is no right site file and never was one; no device was touched
 */
export async function startAgent(needs: AgentNeeds): Promise<Agent> {
  const lock = await takeDataDir(needs.config.data_dir)
  try {
    const parts = await assemble(needs)
    await begin(parts, needs)
    const doors = await openDoors(parts, needs)
    return {
      figures: () => figuresOf(parts),
      async stop() {
        await Promise.all(doors.map((door) => door.close()))
        const is_over = await end(parts, needs)
        // What hangs may be written yet: then the directory is this program's until it ends.
        if (is_over) lock.release()
        return is_over
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function assemble(needs: AgentNeeds): Promise<Parts> {
  const { config, timers, log } = needs
  const inDataDir = (name: string) => join(config.data_dir, name)
  const accepted_file = inDataDir(accepted_site)
  const watch = await SiteWatch.open({ timers, site_file: config.site_file, accepted_file })
  const { site_id } = watch.site
  const source: Source = { source_kind: 'edge', source_id: site_id }
  const conditions = await Conditions.open(inDataDir('conditions.json'))
  const clock = new PlantClock(needs)

  // The journal may have something to say before there is anyone to note it.
  const early: JournalNotice[] = []
  let onNotice = (notice: JournalNotice): void => void early.push(notice)
  const journal = await openJournalWith(needs, {
    clock,
    conditions,
    onNotice: (notice) => onNotice(notice),
  })
  const { newest_at } = journal
  clock.resume({ newest_at, is_trusted: wasTrusted(source, conditions) })
  const run = await openRunMark({ path: inDataDir('run.json'), log })

  const recorder = new Recorder({
    source,
    journal,
    conditions,
    clock,
    timers,
    log,
    onReading: (kind, reading) => centres.onReading(kind, reading),
  })
  const announcer = await Announcer.open({ path: inDataDir('announced'), journal, timers, log })
  onNotice = (notice) => {
    recorder.event(noticeEvent(notice, source, clock.now().getTime()))
    announcer.onNotice(notice)
  }
  for (const notice of early) onNotice(notice)
  clock.onChange((change) => recorder.event(clockEvent(change, source, conditions)))
  const control = await assembleControl(needs, { clock, watch, source, conditions, recorder })
  const { controller, dispatcher } = control
  const busOf = (connection_id: string) => loop.busOf(connection_id)
  const of_orders = { clock, conditions, source, controller, recorder, watch, busOf }
  const { centres, relays } = assembleOutside(needs, of_orders)
  const loop: Loop = new Loop({
    ...needs,
    driverOf: (name) => (isProfilePath(name) ? watch.ownDriver(name) : needs.driverOf(name)),
    recorder,
    conditions,
    control: controller,
    batteries: dispatcher,
    stamps: clock,
    onStatusChange: () => link.statusChanged(),
  })
  const nodes: Nodes = new Nodes({
    ...needs,
    access: config.mqtt,
    recorder,
    conditions,
    stamps: clock,
    onStatusChange: () => link.statusChanged(),
  })
  const link = new Link({
    ...needs,
    url: config.server_url ?? '',
    token: config.token,
    site_id,
    journal,
    backlog_bytes_per_s: config.backlog_bytes_per_s,
    askTime: () => clock.askServer(),
    devices: () => [...loop.status(), ...nodes.status()],
    onAcked: (seqs) => announcer.onAcked(seqs),
    onWelcome: ({ inventory }) => announcer.onWelcome(inventory),
    onDesired(rows, hours) {
      const heard = Promise.all([dispatcher.hear(hours), controller.hear(rows)])
      heard.catch((error: unknown) => {
        log.error({ err: error }, 'what is desired cannot be written down; trying again')
      })
    },
  })
  const of_journal = { journal, run, newest_at, recorder }
  const of_site = { centres, relays, announcer, loop, nodes, link }
  return { clock, watch, conditions, ...of_journal, ...control, ...of_site }
}

/** Who orders limits at the plant, past the server. */
function assembleOutside(
  needs: AgentNeeds,
  parts: Pick<Parts, 'clock' | 'conditions' | 'controller' | 'recorder' | 'watch'> & {
    source: Source
    busOf(connection_id: string): Bus | null
  },
): { centres: ControlCentres; relays: RelayWatch } {
  const { config, newOrderId } = needs
  const { recorder, watch, clock, controller } = parts
  const onEvent = (event: LinkEvent | null) => recorder.event(event)
  const centres = new ControlCentres({
    ...needs,
    ...parts,
    data_dir: config.data_dir,
    site_dir: dirname(config.site_file),
    textOf: (path) => watch.ownText(path),
    onEvent,
    onNotice: (notice) => onEvent(noticeEvent(notice, parts.source, clock.now().getTime())),
  })
  const orders = new OutsideOrders({ clock, newOrderId, controller })
  return { centres, relays: new RelayWatch({ ...needs, ...parts, orders, onEvent }) }
}

/** The journal, and what it holds of conditions that they do not know of yet. */
async function openJournalWith(
  { config, timers, newEpoch }: AgentNeeds,
  parts: Pick<Parts, 'clock' | 'conditions'> & { onNotice(notice: JournalNotice): void },
): Promise<Journal> {
  const { clock, conditions, onNotice } = parts
  const recovered: { seq: number; events: LinkEvent[] }[] = []
  const journal = await openJournal({
    dir: join(config.data_dir, journal_dir),
    bytes_max: config.journal_bytes_max,
    clock,
    timers,
    newEpoch,
    onNotice,
    onRecovered({ seq, kind, payload }) {
      if (kind === 'events') recovered.push({ seq, events: JSON.parse(payload) })
    },
  })
  for (const { seq, events } of recovered) conditions.replay({ epoch: journal.epoch, seq }, events)
  return journal
}

async function assembleControl(
  { config, stopwatch, timers, log }: AgentNeeds,
  parts: Pick<Parts, 'clock' | 'conditions' | 'recorder' | 'watch'> & { source: Source },
): Promise<Pick<Parts, 'controller' | 'dispatcher' | 'files'>> {
  const { recorder, watch, ...rest } = parts
  const onEvent = (event: LinkEvent | null) => recorder.event(event)
  const files = await openControlFiles({
    ...rest,
    config,
    timers,
    log,
    site: () => watch.site,
    onEvent,
  })
  const onFault = (error: Error) => log.error({ err: error }, 'control is disturbed')
  const { permit } = files
  const dispatcher = new Dispatcher({
    ...rest,
    stopwatch,
    permit,
    onEvent,
    onFault,
    store: await openDispatchStore({ dir: config.data_dir, onFault }),
    log: files.log,
    onReport: (report) =>
      recorder.tell('dispatch', `${report.bess_id}/${report.issued_at}`, report),
    onNote: (note) =>
      recorder.tell('control_notes', `${note.bess_id}/${note.at}/${note.nth}`, note),
  })
  const controller = new Controller({
    ...rest,
    stopwatch,
    timers,
    store: files.store,
    permit,
    batteries: dispatcher,
    log: files.log,
    serverNow: () => parts.clock.serverNow(),
    onEvent,
    onReport: (reports) => recorder.report(reports),
    onFault,
  })
  return { controller, dispatcher, files }
}

async function begin(parts: Parts, { config, log, timers }: AgentNeeds): Promise<void> {
  const { clock, watch, conditions, run, newest_at, recorder } = parts
  const { announcer, centres, relays, controller, dispatcher, files, loop, nodes, link } = parts
  const source: Source = { source_kind: 'edge', source_id: watch.site.site_id }
  const at = () => clock.now().getTime()
  const apply = async (site: Site) => {
    dispatcher.apply(site)
    controller.apply(site)
    // As long as the buses of those that left it are there.
    await inTime(dispatcher.released(), release_ms_max, timers)
    await loop.apply(site)
    await nodes.apply(site)
    await centres.apply(site)
    await relays.apply(site)
  }
  warnOfMoved(watch, log)
  let applied = apply(watch.site)
  controller.start()
  files.start()
  files.takeRequests((request) => controller.operator.take(request))
  const use = (site: Site) => {
    log.info({ site_id: site.site_id }, 'site file accepted')
    warnOfMoved(watch, log)
    applied = applied.catch(() => {}).then(() => apply(site))
    applied.catch((error: unknown) => log.error({ err: error }, 'the site cannot be applied'))
    void announcer.announce(site)
  }
  watch.start({
    onAccepted: use,
    onRejected(problems) {
      const condition = { ...source, code: 'site_file_rejected', severity: 'major' } as const
      const message = `site.yaml is wrong and not in force: ${problems.join('; ')}`
      const said = { at: at(), message, details: { problems: problems.slice(0, 50) } }
      log.error({ problems }, 'site file rejected')
      recorder.event(conditions.rise(condition, said))
    },
    onMended() {
      const said = { at: at(), message: 'site.yaml is right and in force' }
      recorder.event(conditions.fall(source, 'site_file_rejected', said))
    },
  })
  await applied
  await announcer.announce(watch.site)
  recorder.event(startedEvent(run.last, source, { at: at(), newest_at }))
  if (config.server_url !== null) link.start()
}

/** For the commands of commissioning; the plant runs without them. */
async function openDoors(
  { watch, loop, controller: { trials } }: Parts,
  { config: { data_dir }, timers, log }: AgentNeeds,
): Promise<Door[]> {
  const busOf = (connection_id: string) => loop.busOf(connection_id)
  const doors: Door[] = []
  try {
    doors.push(await openReadDoor({ data_dir, timers, site: () => watch.site, busOf }))
    doors.push(await openTrialDoor({ data_dir, trials }))
  } catch (error) {
    log.error({ err: error }, 'heliograph-edge cannot work through this agent')
  }
  return doors
}

/** Tells the engineer at the edge what the server raises as `channels_renumbered`. */
function warnOfMoved({ former, site }: SiteWatch, log: Log): void {
  if (!former) return
  for (const device of movedDevices(listedDevicesOf(former), listedDevicesOf(site))) {
    log.warn(device, 'site.yaml gives readings until now another name: add at the end instead')
  }
}

/** Whether all of it is over. Where control hangs, what was measured is journaled all the same. */
async function end(parts: Parts, needs: AgentNeeds): Promise<boolean> {
  const { timers, stop_ms_max = default_stop_ms_max } = needs
  parts.watch.close()
  parts.announcer.close()
  const isOver = async (job: Promise<void>) =>
    (await inTime(job, stop_ms_max / 2, timers)) !== 'late'
  const are_centres_over = await isOver(parts.centres.close())
  const is_control_over = await isOver(endControl(parts))
  const is_rest_over = await isOver(endRest(parts))
  if (are_centres_over && is_control_over && is_rest_over) return true
  const what = is_control_over ? 'the journal or a device hangs' : 'the disk of control hangs'
  needs.log.error(`${what}: ending without waiting for it, and what it had to write may be lost`)
  return false
}

async function endControl({ controller, dispatcher, files }: Parts): Promise<void> {
  await controller.stop()
  await dispatcher.stop()
  await files.close()
}

async function endRest(parts: Parts): Promise<void> {
  const { clock, loop, nodes, recorder, relays, link, journal, run } = parts
  await relays.close()
  await loop.stop()
  await nodes.stop()
  await recorder.close()
  await link.close()
  await journal.close()
  await run.stopped(clock.now().getTime())
}

function figuresOf(parts: Parts): Figures {
  const { watch, journal, recorder, controller, loop, nodes, link } = parts
  const { depth_frames, depth_bytes, failing } = journal.status()
  return {
    link_connected: link.connected,
    frames_sent: link.counts.frames_sent,
    frames_acked: link.counts.frames_acked,
    journal_frames: depth_frames,
    journal_bytes: depth_bytes,
    journal_failing: failing !== null,
    readings: recorder.counts.readings,
    readings_lost: recorder.counts.readings_lost,
    control_rounds: controller.rounds,
    devices: [...loop.status(), ...nodes.status()],
    site_file_rejected: watch.isRejected,
  }
}

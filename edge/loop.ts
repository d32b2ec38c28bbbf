/**
 * The poll loop: every device of the site is read at the interval of its kind, on a grid that all
 * share. A device that is silent or slow holds up nobody else: it skips its own polls, and the bus
 * gives the others their turns.
 */
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { DeviceKind, DeviceStatus } from '@heliograph/domain/link'
import { loggerReading } from '@heliograph/domain/logger-reading'
import {
  type Connection,
  defaultPollIntervals,
  type PollIntervals,
  type Site,
} from '@heliograph/domain/site'
import type { BatteryHooks } from './battery-reads.ts'
import type { Conditions } from './conditions.ts'
import { fresh_polls } from './control/device-record.ts'
import type { Bus, Driver } from './drivers/driver.ts'
import { onGrid } from './grid.ts'
import type { Log } from './log.ts'
import type { Stamps } from './plant-clock.ts'
import type { Newest, Plan, PollControl } from './poll-plan.ts'
import { pollPlans } from './poll-plans.ts'
import { PolledDevice, type PollResult } from './polled-device.ts'
import type { Recorder } from './recorder.ts'

interface LoopNeeds {
  openBus(connection: Connection): Bus
  driverOf(name: string): Driver
  recorder: Pick<Recorder, 'reading' | 'event' | 'tell'>
  conditions: Conditions
  /** What goes by the limits of the inverters; without it none of them is controlled. */
  control?: PollControl
  /** What goes by the batteries; without it they are only read. */
  batteries?: BatteryHooks
  /** Stamps what is read; the clock is for when to read. */
  stamps: Stamps
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  log: Log
  /** The communication state of a device is another. */
  onStatusChange(): void
  onPoll(kind: DeviceKind, result: PollResult, took_ms: number): void
}

interface Polled {
  device: PolledDevice<unknown>
  /** The connection as the site describes it. */
  connection: string
  interval_ms: number
}

/** A plant is composed after its devices had a moment to answer. */
const logger_phase_ms_max = 1000
/** A step of the clock by a year is no year of missed polls. */
const counted_skips_max = 3600

export class Loop {
  readonly #needs: LoopNeeds
  readonly #newest: Newest = { inverters: new Map(), stations: new Map() }
  readonly #buses = new Map<string, Bus>()
  /** As the site describes them, by id. */
  #connections: ReadonlyMap<string, string> = new Map()
  #polled = new Map<string, Polled>()
  #stopGrids: (() => void)[] = []

  constructor(needs: LoopNeeds) {
    this.#needs = needs
  }

  /**
   * Polls the devices of this site from now on. Those that it describes as before go on without
   * interruption; of those that are no more, what held ends. One call at a time.
   */
  async apply(site: Site): Promise<void> {
    this.#stopTheGrids()
    const intervals = { ...defaultPollIntervals, ...site.poll }
    const plans = pollPlans(site, { ...this.#needs, newest: this.#newest, intervals })
    const connections = new Map(site.connections.map((c) => [c.connection_id, JSON.stringify(c)]))
    this.#connections = connections
    const wanted = new Map(
      plans.map((plan) => {
        const connection = connections.get(plan.connection_id) ?? ''
        const { kind, id, interval_ms, description } = plan
        const key = JSON.stringify([kind, id, connection, interval_ms, description])
        return [key, { plan, connection }]
      }),
    )
    for (const [key, { device }] of this.#polled) if (!wanted.has(key)) device.stop()
    // Before new ones are opened: a port may be wanted by another connection.
    await this.#closeBuses(new Set(connections.values()))
    const before = this.#polled
    this.#polled = new Map()
    for (const [key, { plan, connection }] of wanted) {
      this.#polled.set(key, before.get(key) ?? this.#poll(plan, connection))
    }
    this.#forgetRemoved(plans)
    this.#startTheGrids(site, intervals)
    this.#needs.onStatusChange()
  }

  async stop(): Promise<void> {
    this.#stopTheGrids()
    for (const { device } of this.#polled.values()) device.stop()
    await this.#closeBuses(new Set())
  }

  /** The bus of a connection; null for one over which nothing is polled. */
  busOf(connection_id: string): Bus | null {
    return this.#buses.get(this.#connections.get(connection_id) ?? '') ?? null
  }

  status(): DeviceStatus[] {
    return [...this.#polled.values()].map(({ device }) => device.status())
  }

  #poll(plan: Plan<unknown>, connection: string): Polled {
    const bus = this.#buses.get(connection) ?? this.#needs.openBus(JSON.parse(connection))
    this.#buses.set(connection, bus)
    const { recorder, conditions, stamps, stopwatch, log, onPoll, onStatusChange } = this.#needs
    const { kind, id, interval_ms } = plan
    const device = new PolledDevice<unknown>({
      kind,
      id,
      interval_ms,
      conditions,
      stamps,
      stopwatch,
      log,
      open: () => plan.open(bus),
      onRead: (values, stamp, poll) => plan.onRead(values, stamp, poll),
      onEvent: (event) => recorder.event(event),
      onCommState: (state) => {
        if (state === 'disconnected') plan.onGone?.()
        onStatusChange()
      },
      onPoll: (result, took_ms) => onPoll(kind, result, took_ms),
    })
    return { device, connection, interval_ms }
  }

  async #closeBuses(wanted: ReadonlySet<string>): Promise<void> {
    const closing = [...this.#buses].filter(([connection]) => !wanted.has(connection))
    for (const [connection] of closing) this.#buses.delete(connection)
    await Promise.all(closing.map(([, bus]) => bus.close()))
  }

  /** What held of a device that the site has no more would never end. */
  #forgetRemoved(plans: readonly Plan<unknown>[]): void {
    const { recorder, conditions, stamps } = this.#needs
    const there = new Set(
      plans.flatMap(({ kind, id, tells_of = [] }) =>
        [id, ...tells_of].map((of) => `${kind} ${of}`),
      ),
    )
    const at = stamps.stamp().measured_at
    for (const { source_kind, source_id, code } of conditions.all()) {
      // Those of nodes are not polled, and of plants only their controllers.
      if (source_kind === 'edge' || source_kind === 'node') continue
      if (source_kind === 'logger' && !isOfPolling(code)) continue
      if (there.has(`${source_kind} ${source_id}`)) continue
      const message = `${source_kind} ${source_id} is no longer at this site`
      recorder.event(conditions.fall({ source_kind, source_id }, code, { at, message }))
    }
    for (const id of this.#newest.inverters.keys()) {
      if (!there.has(`inverter ${id}`)) this.#newest.inverters.delete(id)
    }
    for (const id of this.#newest.stations.keys()) {
      if (!there.has(`station ${id}`)) this.#newest.stations.delete(id)
    }
  }

  #startTheGrids(site: Site, intervals: Required<PollIntervals>): void {
    const groups = Map.groupBy(this.#polled.values(), ({ interval_ms }) => interval_ms)
    for (const [interval_ms, polled] of groups) {
      const tick = (passed_over: number, due: number) => {
        for (const { device } of polled) {
          device.skip(Math.min(passed_over, counted_skips_max))
          device.poll(due)
        }
      }
      this.#stopGrids.push(onGrid(this.#needs, { interval_ms, phase_ms: 0 }, tick))
    }
    const interval_ms = intervals.logger_s * 1000
    const phase_ms = Math.min(logger_phase_ms_max, interval_ms / 2)
    this.#stopGrids.push(
      onGrid(this.#needs, { interval_ms, phase_ms }, () => this.#composePlants(site, intervals)),
    )
  }

  #stopTheGrids(): void {
    for (const stop of this.#stopGrids.splice(0)) stop()
  }

  #composePlants({ loggers }: Site, { inverter_s, weather_s }: Required<PollIntervals>): void {
    const { stamps, recorder } = this.#needs
    const { inverters, stations } = this.#newest
    const { measured_at, quality } = stamps.stamp()
    for (const logger of loggers) {
      const reading = loggerReading({
        logger_id: logger.logger_id,
        measured_at,
        inverters_total: logger.inverters.length,
        inverters: logger.inverters.flatMap(({ inverter_id }) => inverters.get(inverter_id) ?? []),
        stations: (logger.stations ?? []).flatMap(
          ({ station_id }) => stations.get(station_id) ?? [],
        ),
        inverter_age_ms_max: fresh_polls * inverter_s * 1000,
        station_age_ms_max: fresh_polls * weather_s * 1000,
      })
      if (reading === null) continue
      const is_trusted = quality === 'good'
      recorder.reading('logger', is_trusted ? reading : { ...reading, quality })
    }
  }
}

const isOfPolling = (code: string) =>
  /^(device_offline|foreign_control|nonsense_value:.*|alarm:.*)$/.test(code)

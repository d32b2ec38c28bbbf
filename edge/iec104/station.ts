/**
 * The controlled station of `site.yaml`: listens for control centres, samples the points each
 * second, and closes with all that belongs to it. Nothing of it is loaded where a site has none.
 */
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { Iec104 } from '@heliograph/domain/iec104'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import type { Conditions, Source } from '../conditions.ts'
import type { Controller } from '../control/controller.ts'
import { OutsideOrders } from '../control/outside-orders.ts'
import { onGrid } from '../grid.ts'
import type { JournalNotice } from '../journal-notice.ts'
import type { Log } from '../log.ts'
import { Centre } from './centre.ts'
import { Connection, type Wire } from './connection.ts'
import { EventBuffer } from './event-buffer.ts'
import { type Point, parsePointList } from './point-list.ts'
import type { ValueSource } from './point-values.ts'
import type { StationView } from './session.ts'

export interface StationNeeds {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  log: Log
  conditions: Conditions
  /** The edge itself. */
  source: Source
  data_dir: string
  /** The folder of `site.yaml`. */
  site_dir: string
  newOrderId(): string
  controller: Pick<Controller, 'take' | 'fromOutside' | 'ordersInForce'>
  newest: ValueSource['newest']
  onEvent(event: LinkEvent | null): void
  onNotice(notice: JournalNotice): void
}

const sample_ms = 1000
const listen_again_ms = 10_000
const handshake_ms = 10_000
/** Connections of a control centre that are open at a time, started or not. */
const connections_max = 8
/** A clock that differs by more is reported. */
const clock_offset_ms_max = 5000
const default_buffer_mb = 256

export class Station {
  readonly #needs: StationNeeds
  readonly #site: Site
  readonly #settings: Iec104
  readonly #points: readonly Point[]
  readonly #centres: Centre[] = []
  readonly #connections = new Map<Connection, Centre>()
  readonly #sockets = new Set<Socket>()
  readonly #selections: StationView['selections'] = new Map()
  #server: Server | null = null
  #cancel: (() => void)[] = []
  #is_closed = false

  private constructor(needs: StationNeeds, site: Site, settings: Iec104, points: Point[]) {
    this.#needs = needs
    this.#site = site
    this.#settings = settings
    this.#points = points
  }

  /** @param points_text the point list, which was checked when the site file was accepted */
  static async open(
    needs: StationNeeds,
    site: Site & { iec104: Iec104 },
    points_text: string,
  ): Promise<Station> {
    const { points } = parsePointList(points_text)
    const station = new Station(needs, site, site.iec104, points)
    for (const centre of site.iec104.centres) await station.#openCentre(centre)
    station.#begin()
    return station
  }

  /** TCP port; null while it does not listen. */
  get port(): number | null {
    const address = this.#server?.address()
    return typeof address === 'object' ? (address?.port ?? null) : null
  }

  /** Control centres that carry data. */
  get connected(): string[] {
    return this.#centres.filter(({ is_connected }) => is_connected).map(({ group }) => group)
  }

  async close(): Promise<void> {
    this.#is_closed = true
    for (const cancel of this.#cancel.splice(0)) cancel()
    for (const connection of this.#connections.keys()) connection.close('the station ends')
    for (const socket of this.#sockets) socket.destroy()
    const server = this.#server
    if (server?.listening) await new Promise((ended) => server.close(ended))
    for (const centre of this.#centres) await centre.close()
  }

  async #openCentre(centre: Iec104['centres'][number]): Promise<void> {
    const { clock, stopwatch, timers, controller, newOrderId, data_dir, onNotice } = this.#needs
    const { buffer_mb = default_buffer_mb, common_address } = this.#settings
    const { group } = centre
    const onFault = (error: Error) => this.#onError(error, group)
    const buffer = await EventBuffer.open({
      dir: join(data_dir, 'iec104', group),
      bytes_max: buffer_mb * 2 ** 20,
      clock,
      timers,
      newEpoch: newOrderId,
      onNotice,
      onFault,
    })
    this.#centres.push(
      new Centre({
        centre,
        common_address,
        points: this.#points,
        buffer,
        orders: new OutsideOrders({ clock, newOrderId, controller }),
        values: () => this.#values(),
        clock,
        stopwatch,
        onClockOffset: (offset_ms) => this.#onClockOffset(offset_ms, group),
        onFallback: () => this.#needs.log.warn({ group }, 'the setpoint fell back'),
      }),
    )
  }

  #begin(): void {
    const { clock, timers } = this.#needs
    const grid = { interval_ms: sample_ms, phase_ms: 0 }
    this.#cancel.push(onGrid({ clock, timers }, grid, () => this.#sample()))
    const { background_scan_s } = this.#settings
    if (background_scan_s !== undefined) {
      const scan = { interval_ms: background_scan_s * 1000, phase_ms: 0 }
      const send = () => {
        for (const centre of this.#centres) centre.sendBackground()
      }
      this.#cancel.push(onGrid({ clock, timers }, scan, send))
    }
    void this.#listen()
  }

  #sample(): void {
    for (const centre of this.#centres) {
      this.#reportSilence(centre)
      centre.sample().catch((error: Error) => this.#onError(error, centre.group))
    }
  }

  #values(): ValueSource {
    const { controller, newest, clock } = this.#needs
    const orders = controller.ordersInForce()
    return {
      site: this.#site,
      newest,
      orders: () => orders,
      now: clock.now().getTime(),
    }
  }

  async #listen(): Promise<void> {
    try {
      const { host, port } = this.#settings.listen
      const { tls } = this.#settings
      const accept = (socket: Socket) => this.#accept(socket)
      const server = tls
        ? createTlsServer(await this.#tlsOptions(tls), accept)
        : createServer(accept)
      if (this.#is_closed) return
      this.#server = server
      server.on('tlsClientError', (error) => this.#needs.log.warn({ err: error }, 'IEC 104: TLS'))
      server.once('error', (error) => this.#listenAgain(error))
      server.listen({ host, port }, () => this.#reportListening(null))
    } catch (error) {
      this.#listenAgain(error as Error)
    }
  }

  async #tlsOptions(tls: NonNullable<Iec104['tls']>): Promise<TlsOptions> {
    const read = (file: string) => readFile(resolve(this.#needs.site_dir, file))
    return {
      key: await read(tls.key_file),
      cert: await read(tls.certificate_file),
      ca: await read(tls.ca_file),
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      handshakeTimeout: handshake_ms,
    }
  }

  #listenAgain(error: Error): void {
    if (this.#is_closed) return
    this.#reportListening(error)
    this.#cancel.push(this.#needs.timers.after(listen_again_ms, () => void this.#listen()))
  }

  #accept(socket: Socket): void {
    const { log } = this.#needs
    // An IPv4 address on a socket that takes both.
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    const centre = this.#centres.find((one) => one.allows(address))
    const open = [...this.#connections.values()].filter((one) => one === centre).length
    if (!centre || open >= connections_max) {
      log.warn({ address }, centre ? 'IEC 104: too many connections' : 'IEC 104: not allowed')
      socket.destroy()
      return
    }
    const { group } = centre
    socket.setNoDelay(true)
    this.#sockets.add(socket)
    const connection = this.#connect(socket, centre)
    log.info({ address, group }, 'IEC 104: connected')
    socket.on('data', (bytes: Buffer) => connection.receive(bytes))
    socket.on('error', (error) => log.info({ err: error, group }, 'IEC 104: connection failed'))
    socket.once('close', () => {
      this.#sockets.delete(socket)
      connection.close('the other side closed')
      this.#connections.delete(connection)
    })
  }

  #connect(socket: Socket, centre: Centre): Connection {
    const { clock, stopwatch, timers, log } = this.#needs
    const { k = 12, w = 8, t1_s = 15, t2_s = 10, t3_s = 20 } = this.#settings
    const { select_s = 10, command_age_s, common_address } = this.#settings
    const { group } = centre
    const wire: Wire = {
      write: (bytes) => void socket.write(bytes),
      get unsent_bytes() {
        return socket.writableLength
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      close(reason) {
        log.info({ group, reason }, 'IEC 104: closed')
        socket.destroy()
      },
    }
    const connection = new Connection({
      clock,
      stopwatch,
      timers,
      parameters: { k, w, t1_ms: t1_s * 1000, t2_ms: t2_s * 1000, t3_ms: t3_s * 1000 },
      centre,
      view: {
        common_address,
        points: this.#points,
        elementOf: (point) => centre.elementOf(point),
        isInRange: (point, value) => centre.isInRange(point, value),
        select_ms: select_s * 1000,
        command_age_ms: command_age_s === undefined ? null : command_age_s * 1000,
        selections: this.#selections,
      },
      wire,
      onError: (error) => this.#onError(error, group),
    })
    this.#connections.set(connection, centre)
    return connection
  }

  #onError(error: Error, group: string): void {
    this.#needs.log.error({ err: error, group }, 'IEC 104: the control centre is not served')
  }

  #reportListening(error: Error | null): void {
    const code = 'telecontrol_not_listening'
    const message = error
      ? `The station for control centres does not listen: ${error.message}`
      : 'The station for control centres listens'
    this.#set(code, error !== null, message)
  }

  #reportSilence({ group, is_connected }: Centre): void {
    const message = is_connected
      ? `Control centre ${group} is connected`
      : `No connection of control centre ${group} carries data`
    this.#set(`control_centre_silent:${group}`, !is_connected, message)
  }

  #onClockOffset(offset_ms: number, group: string): void {
    const offset_s = offset_ms / 1000
    this.#needs.log.debug({ group, offset_s }, 'IEC 104: clock of the control centre')
    const is_off = Math.abs(offset_ms) > clock_offset_ms_max
    const message = is_off
      ? `The clock of control centre ${group} differs from ours by ${offset_s.toFixed(1)} s`
      : `The clock of control centre ${group} agrees with ours`
    this.#set(`control_centre_clock:${group}`, is_off, message)
  }

  #set(code: string, holds: boolean, message: string): void {
    const { conditions, source, clock, onEvent } = this.#needs
    const at = clock.now().getTime()
    onEvent(conditions.set({ ...source, code, severity: 'warning' }, { at, message, holds }))
  }
}

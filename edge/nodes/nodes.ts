/**
 * The sensor nodes of a site: the broker within the edge, or the connection to another one, and the
 * handling of messages. A message is acknowledged when its content is in the journal. If that fails
 * the connection is closed, so that it is sent again.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { DeviceStatus } from '@heliograph/domain/link'
import { default_prefix, type Mqtt, type MqttCredentials, nodeTopic } from '@heliograph/domain/node'
import type { Site } from '@heliograph/domain/site'
import type { Conditions } from '../conditions.ts'
import { onGrid } from '../grid.ts'
import type { Log } from '../log.ts'
import type { Stamps } from '../plant-clock.ts'
import type { Recorder } from '../recorder.ts'
import { type Broker, startBroker } from './broker.ts'
import { NodeWatch } from './node-watch.ts'
import { type MqttMessage, openSession } from './session.ts'

export interface MqttAccess {
  credentials: MqttCredentials | null
  ca_file: string | null
}

interface NodesNeeds {
  access: MqttAccess
  recorder: Pick<Recorder, 'reading' | 'event' | 'persist'>
  conditions: Conditions
  /** Time stamps of events; the clock only paces the checks. */
  stamps: Stamps
  clock: Clock
  timers: Timers
  log: Log
  onStatusChange(): void
}

const loopback = '127.0.0.1'
const tick_ms = 1000
/** Time without the broker before it is reported. */
const patience_ms = 10_000
const retry_ms = 10_000
const condition_code = 'mqtt_disconnected'

export class Nodes {
  readonly #needs: NodesNeeds
  #site_id = ''
  #watches = new Map<string, NodeWatch>()
  /** Handlers of messages by topic; each returns a function that forgets the message. */
  #topics = new Map<string, (message: MqttMessage) => () => void>()
  #taking: Promise<void> = Promise.resolve()
  #opened = ''
  #broker: Broker | null = null
  #session: { close(): Promise<void> } | null = null
  #cancelTelling: (() => void) | null = null
  #cancelRetry: () => void = () => {}
  readonly #stopTicks: () => void

  constructor(needs: NodesNeeds) {
    this.#needs = needs
    const tick = () => {
      for (const watch of this.#watches.values()) watch.tick()
    }
    this.#stopTicks = onGrid(needs, { interval_ms: tick_ms, phase_ms: 0 }, tick)
  }

  /** Watches the nodes of this site from now on; unchanged nodes continue. */
  async apply(site: Site): Promise<void> {
    this.#site_id = site.site_id
    const nodes = site.nodes ?? []
    const before = this.#watches
    const prefix = site.mqtt?.prefix ?? default_prefix
    this.#watches = new Map(
      nodes.map((node) => {
        const known = before.get(node.node_id)
        const is_same = known && JSON.stringify(known.node) === JSON.stringify(node)
        return [node.node_id, is_same ? known : this.#watch(node)]
      }),
    )
    this.#topics = new Map(
      [...this.#watches].flatMap(([node_id, watch]) => [
        [
          nodeTopic(prefix, node_id, 'state'),
          (message: MqttMessage) => watch.state(message.payload, message),
        ],
        [
          nodeTopic(prefix, node_id, 'status'),
          (message: MqttMessage) => {
            watch.status(message.payload, message)
            return () => {}
          },
        ],
      ]),
    )
    this.#forgetRemoved()
    const wanted = nodes.length > 0 && site.mqtt ? site.mqtt : null
    const opened = JSON.stringify([wanted, [...this.#topics.keys()]])
    if (opened !== this.#opened) {
      await this.#close()
      this.#opened = opened
      if (wanted) await this.#open(wanted)
    }
    this.#needs.onStatusChange()
  }

  status(): DeviceStatus[] {
    return [...this.#watches.values()].map((watch) => watch.deviceStatus())
  }

  async stop(): Promise<void> {
    this.#stopTicks()
    await this.#close()
  }

  get port(): number | null {
    return this.#broker?.port ?? null
  }

  #watch(node: NonNullable<Site['nodes']>[number]): NodeWatch {
    return new NodeWatch(node, { ...this.#needs, onCommState: () => this.#needs.onStatusChange() })
  }

  async #open(mqtt: Mqtt): Promise<void> {
    const { access, log } = this.#needs
    const onMessage = (message: MqttMessage) => this.#take(message)
    try {
      if (mqtt.listen) {
        if (!access.credentials) {
          throw new Error('MQTT_CREDENTIALS_FILE is not set: the broker would let everybody in')
        }
        const { host = loopback, port } = mqtt.listen
        const prefix = mqtt.prefix ?? default_prefix
        const { credentials } = access
        this.#broker = await startBroker({ host, port, prefix, credentials, onMessage, log })
        this.#turn(null)
        return
      }
      this.#session = openSession({
        ...access,
        url: mqtt.url!,
        client_id: `heliograph-edge-${this.#site_id}`.slice(0, 65),
        topics: [...this.#topics.keys()],
        onMessage,
        onState: (error) => this.#turn(error),
        log,
      })
    } catch (error) {
      const { message } = error as Error
      log.error({ err: error }, 'MQTT cannot be served')
      this.#tell(message)
      this.#cancelRetry = this.#needs.timers.after(retry_ms, () => {
        void this.#close(mqtt)
      })
    }
  }

  async #close(reopen?: Mqtt): Promise<void> {
    this.#cancelRetry()
    this.#cancelTelling?.()
    this.#cancelTelling = null
    const [session, broker] = [this.#session, this.#broker]
    this.#session = null
    this.#broker = null
    await session?.close()
    await broker?.close()
    if (reopen) await this.#open(reopen)
  }

  /** One message after the other; rejects if its content is not in the journal. */
  #take(message: MqttMessage): Promise<void> {
    const taken = this.#taking.then(async () => {
      const forget = this.#topics.get(message.topic)?.(message)
      if (!forget || (await this.#needs.recorder.persist())) return
      forget()
      throw new Error('the journal cannot be written')
    })
    this.#taking = taken.catch(() => {})
    return taken
  }

  #turn(error: string | null): void {
    const { recorder, conditions, stamps, timers } = this.#needs
    if (error !== null) {
      this.#cancelTelling ??= timers.after(patience_ms, () => this.#tell(error))
      return
    }
    this.#cancelTelling?.()
    this.#cancelTelling = null
    const said = { at: stamps.stamp().measured_at, message: 'The MQTT broker is reached again' }
    recorder.event(conditions.fall(this.#source(), condition_code, said))
  }

  #tell(error: string): void {
    const { recorder, conditions, stamps } = this.#needs
    const condition = { ...this.#source(), code: condition_code, severity: 'major' } as const
    const message = `The MQTT broker is not reached: ${error}`
    recorder.event(conditions.rise(condition, { at: stamps.stamp().measured_at, message }))
  }

  #source() {
    return { source_kind: 'edge', source_id: this.#site_id } as const
  }

  #forgetRemoved(): void {
    const { recorder, conditions, stamps } = this.#needs
    const at = stamps.stamp().measured_at
    for (const { source_kind, source_id, code } of conditions.all()) {
      if (source_kind !== 'node' || this.#watches.has(source_id)) continue
      const message = `node ${source_id} is no longer at this site`
      recorder.event(conditions.fall({ source_kind, source_id }, code, { at, message }))
    }
  }
}

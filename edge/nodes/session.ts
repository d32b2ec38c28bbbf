import { readFileSync } from 'node:fs'
import type { MqttCredentials } from '@heliograph/domain/node'
import mqtt from 'mqtt'
import type { Log } from '../log.ts'
import type { Delivery } from './node-watch.ts'

export interface MqttMessage extends Delivery {
  topic: string
  payload: Buffer
}

interface SessionNeeds {
  /** mqtt:// or mqtts://, without user and password. */
  url: string
  client_id: string
  credentials: MqttCredentials | null
  /** PEM file of the private authority that signed the broker's certificate. */
  ca_file: string | null
  topics: readonly string[]
  /**
   * The message is acknowledged when this resolves. After a rejection the connection is renewed,
   * and the broker sends it again.
   */
  onMessage(message: MqttMessage): Promise<void>
  /** null: connected and subscribed; else the reason. */
  onState(error: string | null): void
  log: Log
}

const reconnect_ms = 2000
const connect_ms_max = 10_000

/**
 * Connects, and reconnects until closed. The broker keeps messages while the edge is offline, so
 * that
 * nodes that send with QoS 1 lose nothing over a restart of the edge.
 *
 * @throws if the CA file cannot be read
 */
export function openSession(needs: SessionNeeds): { close(): Promise<void> } {
  const { url, client_id, credentials, ca_file, topics, onState, log } = needs
  const client = mqtt.connect(url, {
    protocolVersion: 4,
    clientId: client_id,
    clean: false,
    ...(credentials ?? {}),
    ...(ca_file === null ? {} : { ca: readFileSync(ca_file) }),
    reconnectPeriod: reconnect_ms,
    connectTimeout: connect_ms_max,
    resubscribe: false,
  })
  let why = 'the connection was closed'
  client.on('connect', () => {
    client.subscribe([...topics], { qos: 1 }, (error, granted) => {
      const refused = granted?.find(({ qos }) => qos === 128)
      if (!error && !refused) return onState(null)
      why = error?.message ?? `the broker refuses to deliver ${refused?.topic}`
      onState(why)
    })
  })
  client.on('error', (error) => {
    why = error.message || (error as NodeJS.ErrnoException).code || 'no connection'
    log.debug({ err: error }, 'MQTT')
  })
  client.on('close', () => {
    if (!client.disconnecting) onState(why)
  })
  client.handleMessage = ({ topic, payload, retain, qos }, done) => {
    const delivery = { is_retained: retain, is_sent_again: qos > 0 }
    needs.onMessage({ topic, payload: Buffer.from(payload), ...delivery }).then(
      () => done(),
      (error: Error) => {
        done(error)
        if (!delivery.is_sent_again) return
        why = error.message
        client.stream.destroy()
      },
    )
  }
  return {
    close: () => client.endAsync(true),
  }
}

/** The broker within the edge, for sites that have none: MQTT 3.1.1 with one user for all nodes. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { MqttCredentials } from '@heliograph/domain/node'
import { Aedes } from 'aedes'
import type { Log } from '../log.ts'
import type { MqttMessage } from './session.ts'
import { payload_bytes_max } from './state-message.ts'

interface BrokerNeeds {
  host: string
  /** 0 for any that is free. */
  port: number
  prefix: string
  credentials: MqttCredentials
  /**
   * A message of a node, its last will included. It is acknowledged to the node when this has
   * resolved; where it rejects the connection is closed, after which a node sends it again.
   */
  onMessage(message: MqttMessage): Promise<void>
  log: Log
}

export interface Broker {
  port: number
  close(): Promise<void>
}

/** Connections that did not say who they are within this are closed. */
const connect_ms_max = 10_000

/**
 * Listens. What nodes retain is held in memory: after a restart of the edge they send it again.
 *
 * @throws when the address cannot be listened on
 */
export async function startBroker(needs: BrokerNeeds): Promise<Broker> {
  const { host, port, prefix, credentials, log } = needs
  const aedes = await Aedes.createBroker({ connectTimeout: connect_ms_max })
  aedes.authenticate = (_, username, password, done) => {
    const is_known =
      same(username ?? '', credentials.username) && same(password ?? '', credentials.password)
    if (!is_known) log.warn({ username: username?.slice(0, 40) }, 'MQTT: unknown user or password')
    done(null, is_known)
  }
  // What follows this, the acknowledgement first of all, waits for it.
  aedes.authorizePublish = (_, { topic, payload, qos }, done) => {
    const is_ours = topic.startsWith(`${prefix}/`) && payload.length <= payload_bytes_max
    if (!is_ours) return done(new Error(`not a message under ${prefix}/`))
    const delivery = { is_retained: false, is_sent_again: qos > 0 }
    needs.onMessage({ topic, payload: Buffer.from(payload), ...delivery }).then(
      () => done(null),
      (error: Error) => done(delivery.is_sent_again ? error : null),
    )
  }
  aedes.on('clientError', (_, error) => log.debug({ err: error }, 'MQTT: a node failed'))
  aedes.on('connectionError', (_, error) => log.debug({ err: error }, 'MQTT: a stranger failed'))
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    aedes.handle(socket)
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    await new Promise<void>((resolve) => aedes.close(resolve))
    throw error
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await new Promise<void>((resolve) => aedes.close(resolve))
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function same(given: string | Buffer, wanted: string): boolean {
  const digest = (text: string | Buffer) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

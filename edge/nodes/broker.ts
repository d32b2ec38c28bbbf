/** The broker within the edge, for sites without one: MQTT 3.1.1 with one user for all nodes. */

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
  /** 0 for any free port. */
  port: number
  prefix: string
  credentials: MqttCredentials
  /**
   * A message of a node, including its last will. It is acknowledged when this resolves. After a
   * rejection the connection is closed, and the node sends it again.
   */
  onMessage(message: MqttMessage): Promise<void>
  log: Log
}

export interface Broker {
  port: number
  close(): Promise<void>
}

/** Connections without credentials are closed after this time. */
const connect_ms_max = 10_000

/**
 * Listens. Retained messages are held in memory: nodes send them again after a restart of the edge.
 *
 * @throws if it cannot listen on the address
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

/** The broker within the edge, for sites that have none: MQTT 3.1.1 with one user for all nodes. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { MqttCredentials } from '@heliograph/domain/node'
import { Aedes } from 'aedes'
import type { Log } from '../log.ts'
import { payload_bytes_max } from './state-message.ts'

export interface BrokerNeeds {
  host: string
  /** 0 for any that is free. */
  port: number
  prefix: string
  credentials: MqttCredentials
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
  aedes.authorizePublish = (_, { topic, payload }, done) => {
    const is_ours = topic.startsWith(`${prefix}/`) && payload.length <= payload_bytes_max
    done(is_ours ? null : new Error(`not a message under ${prefix}/`))
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

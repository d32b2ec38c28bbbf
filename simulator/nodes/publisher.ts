/** The simulated sensor nodes, each a client of the site's broker. */
import { minute_ms } from '@heliograph/domain/durations'
import {
  default_prefix,
  default_report_s,
  type MqttCredentials,
  type Node,
  nodeTopic,
} from '@heliograph/domain/node'
import type { Site } from '@heliograph/domain/site'
import mqtt, { type MqttClient } from 'mqtt'
import type { BaseLogger } from 'pino'
import type { Plant } from '../plant.ts'
import { type StationState, stateMessage, stationAt } from './station.ts'
import { stationMinutes, surroundings } from './surroundings.ts'

interface PublisherNeeds {
  credentials: MqttCredentials | null
  log: Pick<BaseLogger, 'debug'>
}

const reconnect_ms = 2000

/** Connects every node, which then reports; waits for an offline broker. */
export function publishNodes(plant: Plant, needs: PublisherNeeds): { close(): Promise<void> } {
  const { site } = plant.simulation
  if (!site.mqtt) return { close: async () => {} }
  const url = brokerUrl(site.mqtt)
  const start_ms = Math.floor(plant.now_ms() / minute_ms) * minute_ms
  const [states = []] = stationMinutes(plant.simulation, { start_ms, end_ms: start_ms + 1 })
  const nodes = (site.nodes ?? []).map((node, nth) =>
    publishNode(plant, node, { ...needs, url, state: states[nth]! }),
  )
  return {
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

function brokerUrl({ url, listen }: NonNullable<Site['mqtt']>): string {
  return url ?? `mqtt://${listen?.host ?? '127.0.0.1'}:${listen?.port}`
}

function publishNode(
  plant: Plant,
  node: Node,
  needs: PublisherNeeds & { url: string; state: StationState },
) {
  const { url, credentials, log } = needs
  const { simulation } = plant
  const { seed } = simulation
  const prefix = simulation.site.mqtt?.prefix ?? default_prefix
  const status = nodeTopic(prefix, node.node_id, 'status')
  const kept = { qos: 1, retain: true } as const
  const client: MqttClient = mqtt.connect(url, {
    protocolVersion: 4,
    clientId: `node-${node.node_id}`,
    ...(credentials ?? {}),
    reconnectPeriod: reconnect_ms,
    will: { topic: status, payload: Buffer.from('offline'), ...kept },
  })
  let { state } = needs
  const publish = (topic: string, payload: string) =>
    client.publish(topic, payload, kept, (error) => {
      if (error) log.debug({ err: error, topic }, 'not published')
    })
  const report = () => {
    const around = surroundings(simulation, plant.snapshot(), node)
    state = stationAt(node, around, { before: state, seed })
    if (!client.connected) return
    const message = JSON.stringify(stateMessage(node, state, seed))
    publish(nodeTopic(prefix, node.node_id, 'state'), message)
  }
  client.on('connect', () => {
    publish(status, 'online')
    report()
  })
  client.on('error', (error) => log.debug({ err: error }, 'no broker yet'))
  const reporting = setInterval(report, (node.report_s ?? default_report_s) * 1000)
  return {
    async close() {
      clearInterval(reporting)
      // Without a DISCONNECT, so that the broker sends the last will.
      await client.endAsync(true)
    },
  }
}

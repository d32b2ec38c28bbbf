/** The simulated sensor nodes, each a client of its own of the broker that the site names. */
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
import { weatherAt } from '../weather.ts'
import { type StationState, type Surroundings, stateMessage, stationAt } from './station.ts'

export interface PublisherNeeds {
  seed: number
  credentials: MqttCredentials | null
  log: Pick<BaseLogger, 'debug'>
}

const reconnect_ms = 2000

/** Connects every node and has it report from now on; a broker that is not there is waited for. */
export function publishNodes(plant: Plant, needs: PublisherNeeds): { close(): Promise<void> } {
  const { site } = plant.simulation
  if (!site.mqtt) return { close: async () => {} }
  const url = brokerUrl(site.mqtt)
  const nodes = (site.nodes ?? []).map((node) => publishNode(plant, node, { ...needs, url }))
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
  { url, seed, credentials, log }: PublisherNeeds & { url: string },
) {
  const prefix = plant.simulation.site.mqtt?.prefix ?? default_prefix
  const status = nodeTopic(prefix, node.node_id, 'status')
  const kept = { qos: 1, retain: true } as const
  const client: MqttClient = mqtt.connect(url, {
    protocolVersion: 4,
    clientId: `node-${node.node_id}`,
    ...(credentials ?? {}),
    reconnectPeriod: reconnect_ms,
    will: { topic: status, payload: Buffer.from('offline'), ...kept },
  })
  let state: StationState | null = null
  const publish = (topic: string, payload: string) =>
    client.publish(topic, payload, kept, (error) => {
      if (error) log.debug({ err: error, topic }, 'not published')
    })
  const report = () => {
    state = stationAt(node, surroundings(plant, node, seed), { before: state, seed })
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
      // Without a word of parting: the broker then sends the last will.
      await client.endAsync(true)
    },
  }
}

function surroundings(plant: Plant, { logger_id }: Node, seed: number): Surroundings {
  const { site } = plant.simulation
  const snapshot = plant.snapshot()
  const of = site.loggers.filter((one) => logger_id === undefined || one.logger_id === logger_id)
  const ids = new Set(of.flatMap(({ inverters }) => inverters.map((one) => one.inverter_id)))
  const power_kw = snapshot.inverters
    .filter(({ inverter_id }) => ids.has(inverter_id))
    .reduce((sum, { ac_power_kw }) => sum + Math.max(0, ac_power_kw), 0)
  const rated_kw = of.reduce((sum, { rated_power_kw }) => sum + rated_power_kw, 0)
  const { latitude, longitude, elevation_m = 0 } = site
  const place = { latitude, longitude, elevation_m, east_m: 0 }
  const weather = weatherAt(seed, snapshot.time_ms, place)
  return {
    time_ms: snapshot.time_ms,
    ambient_temperature_c: weather.ambient_temperature_c,
    relative_humidity_pct: weather.relative_humidity_pct,
    load_ratio: power_kw / rated_kw,
  }
}

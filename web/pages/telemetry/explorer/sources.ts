/** Devices that the explorer offers, with their quantities and histories. */
import type { Overview, SensorNode } from '@heliograph/sdk'
import { type HistoryQuery, historyOf, type Shown } from '../../../ui/history.ts'
import {
  batteryQuantities,
  expectedPower,
  inverterQuantities,
  mpptQuantities,
  nodeQuantities,
  plantQuantities,
  type Quantity,
  stringQuantities,
} from '../../../ui/quantities.ts'

export interface Source {
  /** `inverter:5`, or `string:5.3` for string 3 of that inverter. */
  id: string
  group: 'Plants' | 'Inverters' | 'Strings' | 'Batteries' | 'Stations'
  name: string
  quantities: readonly Quantity[]
  /** Only plants have an expected power. */
  logger_id?: number
  /** Only plants and inverters have one. */
  dc_capacity_kwp?: number
  historyOf(shown: Shown): HistoryQuery
}

type Read = Pick<Overview, 'site' | 'loggers' | 'inverters' | 'bess' | 'strings'>

/** Strings are offered for the inverters among the chosen devices. */
export function sourcesOf(
  { site: { site_id }, loggers, inverters, bess, strings }: Read,
  nodes: readonly SensorNode[],
  chosen: readonly string[],
): Source[] {
  const shown = new Set(chosen.flatMap((id) => /^(?:inverter|string):(\d+)/.exec(id)?.[1] ?? []))
  const nameOf = (id: number) =>
    inverters.find(({ inverter_id }) => inverter_id === id)?.name ?? `Inverter ${id}`
  return [
    ...loggers.map(
      ({ logger_id, name, dc_capacity_kwp }): Source => ({
        id: `logger:${logger_id}`,
        group: 'Plants',
        name,
        quantities: [plantQuantities[0]!, expectedPower, ...plantQuantities.slice(1)],
        logger_id,
        dc_capacity_kwp,
        historyOf: (asked) => historyOf('loggersHistoryList', { site_id, logger_id }, asked),
      }),
    ),
    ...inverters.map(
      ({ inverter_id, name, dc_capacity_kwp, mppt_count }): Source => ({
        id: `inverter:${inverter_id}`,
        group: 'Inverters',
        name: name ?? `Inverter ${inverter_id}`,
        quantities: [...inverterQuantities, ...mpptQuantities(mppt_count)],
        dc_capacity_kwp,
        historyOf: (asked) => historyOf('invertersHistoryList', { site_id, inverter_id }, asked),
      }),
    ),
    ...(bess ?? []).map(
      ({ bess_id, name }): Source => ({
        id: `bess:${bess_id}`,
        group: 'Batteries',
        name,
        quantities: batteryQuantities,
        historyOf: (asked) => historyOf('bessHistoryList', { site_id, bess_id }, asked),
      }),
    ),
    ...nodes.map(
      (node): Source => ({
        id: `node:${node.node_id}`,
        group: 'Stations',
        name: node.name,
        quantities: nodeQuantities(node),
        historyOf: (asked) =>
          historyOf('sensorsHistoryList', { site_id, node_id: node.node_id }, asked),
      }),
    ),
    ...strings
      .filter(({ inverter_id }) => shown.has(String(inverter_id)))
      .map(
        ({ inverter_id, string_index }): Source => ({
          id: `string:${inverter_id}.${string_index}`,
          group: 'Strings',
          name: `${nameOf(inverter_id)} string ${string_index}`,
          quantities: stringQuantities,
          historyOf: (asked) =>
            historyOf('stringsHistoryList', { site_id, inverter_id, string_index }, asked),
        }),
      ),
  ]
}

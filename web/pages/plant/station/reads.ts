import { useRead } from '../../../queries.ts'

const live_ms = 15_000

export const useNodes = (site_id: string) => useRead('nodes', 'sensorsList', { site_id }, live_ms)

export const useNodeNow = (site_id: string, node_id: string) =>
  useRead('nodes', 'sensorsCurrentGet', { site_id, node_id }, live_ms)

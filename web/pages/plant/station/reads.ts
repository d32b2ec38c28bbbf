/** What the pages of stations read: their sensor nodes, and the relays that these tell of. */
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'

const seen_ms = 15_000

export const useNodes = (site_id: string) =>
  useQuery({
    queryKey: ['nodes', site_id],
    queryFn: ({ signal }) => heliograph.sensorsList({ site_id }, { signal }),
    refetchInterval: seen_ms,
  })

export const useNodeNow = (site_id: string, node_id: string) =>
  useQuery({
    queryKey: ['node', site_id, node_id],
    queryFn: ({ signal }) => heliograph.sensorsCurrentGet({ site_id, node_id }, { signal }),
    refetchInterval: seen_ms,
  })

/** The newest first; of one node, or of all. */
export const useSwitchings = (site_id: string, node_id?: string) =>
  useQuery({
    queryKey: ['switchings', site_id, node_id],
    queryFn: ({ signal }) => {
      const of = node_id === undefined ? {} : { node_id }
      return heliograph.commandsRelayHistoryList({ site_id, limit: 500, ...of }, { signal })
    },
    refetchInterval: 60_000,
  })

/** What the pages of batteries read. */
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import type { Span } from '../../../ui/site-day.ts'

export const bessKey = (site_id: string) => ['bess', site_id] as const

const seen_ms = 15_000
const slow_ms = 60_000

export const useUnits = (site_id: string) =>
  useQuery({
    queryKey: [...bessKey(site_id), 'units'],
    queryFn: ({ signal }) => heliograph.bessList({ site_id }, { signal }),
    refetchInterval: slow_ms,
  })

export const useFleet = (site_id: string) =>
  useQuery({
    queryKey: [...bessKey(site_id), 'fleet'],
    queryFn: ({ signal }) => heliograph.bessFleetSummaryGet({ site_id }, { signal }),
    refetchInterval: seen_ms,
  })

export const useNowOf = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'current'],
    queryFn: ({ signal }) => heliograph.bessCurrentGet({ site_id, bess_id }, { signal }),
    refetchInterval: seen_ms,
  })

/** Everything of a unit at a glance. */
export const useDashboard = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'dashboard'],
    queryFn: ({ signal }) => heliograph.bessDashboardGet({ site_id, bess_id }, { signal }),
    refetchInterval: seen_ms,
  })

export const useAlarms = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'alarms'],
    queryFn: ({ signal }) =>
      heliograph.bessAlarmsStatesList({ site_id, bess_id, only_set: true }, { signal }),
    refetchInterval: seen_ms,
  })

export const useClusters = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'clusters'],
    queryFn: ({ signal }) => heliograph.bessClustersList({ site_id, bess_id }, { signal }),
    refetchInterval: seen_ms,
  })

export const useCells = (site_id: string, bess_id: number, cluster_idx: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'cells', cluster_idx],
    queryFn: ({ signal }) =>
      heliograph.bessClustersGet({ site_id, bess_id, cluster_idx }, { signal }),
    refetchInterval: slow_ms,
  })

export const usePcs = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'pcs'],
    queryFn: ({ signal }) => heliograph.bessPcsCurrentGet({ site_id, bess_id }, { signal }),
    refetchInterval: seen_ms,
  })

export const usePcsFaults = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'faults'],
    queryFn: ({ signal }) => heliograph.bessPcsFaultsGet({ site_id, bess_id }, { signal }),
    refetchInterval: slow_ms,
  })

export const useSchedules = (site_id: string, bess_id: number, target_date: string) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'schedules', target_date],
    queryFn: ({ signal }) =>
      heliograph.bessSchedulesList({ site_id, bess_id, target_date }, { signal }),
    refetchInterval: seen_ms,
  })

export const useDeviations = (site_id: string, bess_id: number, target_date: string) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'deviations', target_date],
    queryFn: ({ signal }) =>
      heliograph.bessDeviationsList({ site_id, bess_id, target_date }, { signal }),
    refetchInterval: slow_ms,
  })

/** So many of a log at once; the newest of them. */
const log_rows = 1000

export const useControlLog = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'control-log'],
    queryFn: ({ signal }) =>
      heliograph.bessControlLogList({ site_id, bess_id, limit: log_rows }, { signal }),
    refetchInterval: seen_ms,
  })

export const useAlarmLog = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'alarm-log'],
    queryFn: ({ signal }) =>
      heliograph.bessAlarmsHistoryList({ site_id, bess_id, limit: log_rows }, { signal }),
    refetchInterval: seen_ms,
  })

export const useDispatchLog = (site_id: string, bess_id: number, span: Span) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'dispatch-log', span],
    queryFn: ({ signal }) => {
      const [start, end] = [new Date(span.start_ms), new Date(span.end_ms)]
      const asked = { site_id, bess_id, start, end, limit: 10_000 }
      return heliograph.bessDispatchLogList(asked, { signal })
    },
    refetchInterval: seen_ms,
  })

export const useProtection = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'protection'],
    queryFn: ({ signal }) => heliograph.bessProtectionList({ site_id, bess_id }, { signal }),
    refetchInterval: slow_ms,
  })

export const useSetup = (site_id: string, bess_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), bess_id, 'setup'],
    queryFn: ({ signal }) => heliograph.bessSetupGet({ site_id, bess_id }, { signal }),
    refetchInterval: slow_ms,
  })

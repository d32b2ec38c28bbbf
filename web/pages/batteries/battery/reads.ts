/** Reads that several pages of batteries share. */
import { useQuery } from '@tanstack/react-query'
import { readOf, useRead } from '../../../queries.ts'

export const bessKey = (site_id: string) => ['bess', site_id] as const

export const live_ms = 15_000
export const slow_ms = 60_000

export const useUnits = (site_id: string) => useRead('bess', 'bessList', { site_id }, slow_ms)

export const schedulesOf = (site_id: string, bess_id: number, target_date: string) =>
  readOf('bess', 'bessSchedulesList', { site_id, bess_id, target_date }, live_ms)

export const useSchedules = (site_id: string, bess_id: number, target_date: string) =>
  useQuery(schedulesOf(site_id, bess_id, target_date))

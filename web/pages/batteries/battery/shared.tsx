import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { readOf, useRead, useSite } from '../../../queries.ts'
import { scheduleColors, scheduleWords } from './words.ts'

export const live_ms = 15_000
export const slow_ms = 60_000

export const useUnits = () => useRead('bess', 'bessList', {}, slow_ms)

/** The unit of a page, by its address; `is_missing` once that is certain. */
export function useUnit(bess_id: number) {
  const { data } = useUnits()
  const unit = data?.data.find((one) => one.bess_id === bess_id)
  return { unit, name: unit?.name ?? 'the battery', is_missing: data !== undefined && !unit }
}

export const schedulesOf = (site_id: string, bess_id: number, target_date: string) =>
  readOf('bess', 'bessSchedulesList', { site_id, bess_id, target_date }, live_ms)

export const useSchedules = (bess_id: number, target_date: string) =>
  useQuery(schedulesOf(useSite().site_id, bess_id, target_date))

interface ScheduleBadgeProps {
  status: string | null
  prefix?: string
}

export const ScheduleBadge = ({ status, prefix = '' }: ScheduleBadgeProps) => (
  <Badge color={scheduleColors[status ?? ''] ?? 'gray'}>
    {prefix}
    {scheduleWords(status)}
  </Badge>
)

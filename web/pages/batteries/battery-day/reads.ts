import { etagOf } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { bessKey } from '../battery/reads.ts'

const seen_ms = 15_000

/** A schedule as it was read, with the tag of that: what is decided goes by what was seen. */
export const useSchedule = (site_id: string, schedule_id: number) =>
  useQuery({
    queryKey: [...bessKey(site_id), 'schedule', schedule_id],
    queryFn: async ({ signal }) => {
      const schedule = await heliograph.bessScheduleGet({ site_id, schedule_id }, { signal })
      return { schedule, etag: etagOf(schedule) }
    },
    refetchInterval: seen_ms,
  })

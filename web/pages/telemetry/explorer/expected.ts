/** Expected power of a plant in the steps of its measured history. */
import { queryOptions } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import type { Step } from '../../../ui/history.ts'
import { type Span, windowOf } from '../../../ui/site-clock.ts'
import { expectedSteps } from './expected-steps.ts'

interface Asked {
  site_id: string
  timezone: string
  logger_id: number
  span: Span
  every: Step
}

export const expectedHistory = ({ site_id, timezone, logger_id, span, every }: Asked) =>
  queryOptions({
    queryKey: ['history', 'expected', site_id, logger_id, span.start_ms, span.end_ms, every],
    staleTime: 300_000,
    queryFn: async ({ signal }) => {
      const asked = { site_id, ...windowOf(span), logger_ids: String(logger_id) }
      const { data } = await heliograph.energyHourlyList(asked, { signal })
      const hours = new Map(
        data.flatMap(({ hours: own }) =>
          own.map(({ start_at, expected_energy_kwh: kwh }) => [Date.parse(start_at), kwh] as const),
        ),
      )
      return expectedSteps(hours, { span, step_s: Number.parseInt(every, 10), timezone })
    },
  })

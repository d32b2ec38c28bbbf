/** Measurements of a string, for people without access to diagnostics. */
import { everyWindow, type StringReading, type Window } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { Section } from '../../../ui/section.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { StringCharts, type StringChartsProps } from './charts.tsx'

export default function MeasuredCharts(props: StringChartsProps) {
  const { site_id, inverter_id, string_index, span, timezone } = props
  const query = useQuery({
    queryKey: ['string-history', site_id, inverter_id, string_index, span.start_ms],
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const of = { site_id, inverter_id, string_index, limit: 10_000 }
      const read = (window: Window) =>
        heliograph.stringsHistoryList({ ...of, ...window }, { signal })
      const rows: StringReading[] = []
      const window = { start: new Date(span.start_ms), end: new Date(span.end_ms) }
      for await (const row of everyWindow(read, window)) rows.push(row)
      return rows
    },
  })
  return (
    <Section title="Daily course">
      <Answered query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No measurements on this day" />
          ) : (
            <StringCharts
              timezone={timezone}
              at_ms={rows.map(({ measured_at }) => Date.parse(measured_at))}
              measured={{
                power: rows.map(({ power_kw }) => power_kw),
                current: rows.map(({ current_a }) => current_a),
                voltage: rows.map(({ voltage_v }) => voltage_v),
              }}
            />
          )
        }
      </Answered>
    </Section>
  )
}

/** What a string measured beside what the sun lets expect, and its I-V curve. */

import { everyWindow, type IvExpectedMeta, type IvExpectedPoint } from '@heliograph/sdk'
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { heliograph } from '../../../api.ts'
import { formatNumber } from '../../../ui/format.ts'
import { Section } from '../../../ui/section.tsx'
import { Answered, Empty } from '../../../ui/states.tsx'
import { inWords } from '../../../ui/words.ts'
import { open_circuit } from '../string-health/reason.ts'
import { StringCharts, type StringChartsProps } from './charts.tsx'
import { IvCurve } from './iv-curve.tsx'
import MeasuredCharts from './measured.tsx'

interface Expected {
  points: IvExpectedPoint[]
  meta: IvExpectedMeta | null
}

export default function ExpectedCharts(props: StringChartsProps) {
  const { site_id, inverter_id, string_index, span } = props
  const query = useQuery({
    queryKey: ['iv-expected', site_id, inverter_id, string_index, span.start_ms],
    structuralSharing: false,
    refetchInterval: span.end_ms > Date.now() ? 120_000 : false,
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Expected> => {
      let meta: IvExpectedMeta | null = null
      const points: IvExpectedPoint[] = []
      const of = { site_id, inverter_id, string_index, limit: 5000 }
      const read = async (window: { start: Date | string; end?: Date | string }) => {
        const answer = await heliograph.ivExpectedList({ ...of, ...window }, { signal })
        // Each page is judged by itself: that with most light knows best.
        if (!meta || answer.meta.diagnosed_point_count > meta.diagnosed_point_count) {
          meta = answer.meta
        }
        return answer
      }
      const window = { start: new Date(span.start_ms), end: new Date(span.end_ms) }
      for await (const point of everyWindow(read, window)) points.push(point)
      return { points, meta }
    },
  })
  return (
    <Answered query={query}>
      {({ points, meta }) =>
        points.length > 0 ? (
          <Shown points={points} meta={meta} timezone={props.timezone} />
        ) : meta?.reason ? (
          <>
            <Text>Nothing can be expected of it: {inWords(meta.reason).toLowerCase()}.</Text>
            <MeasuredCharts {...props} />
          </>
        ) : (
          <Empty title="Nothing was measured on this day" />
        )
      }
    </Answered>
  )
}

function Shown({ points, meta, timezone }: Expected & { timezone: string }) {
  const series = useMemo(
    () => ({
      at_ms: points.map(({ measured_at }) => Date.parse(measured_at)),
      measured: {
        power: points.map((point) => point.measured_power_kw),
        current: points.map((point) => point.measured_current_a),
        voltage: points.map((point) => point.measured_voltage_v),
      },
      expected: {
        power: points.map((point) => point.expected_p_mp_kw),
        current: points.map((point) => point.expected_i_mp_a),
        voltage: points.map((point) => point.expected_v_mp_v),
      },
    }),
    [points],
  )
  return (
    <Stack>
      <Section title="Over the day">
        {meta && <Text mb="xs">{diagnosisOf(meta)}</Text>}
        <StringCharts {...series} timezone={timezone} />
      </Section>
      <Section title="I-V curve">
        <IvCurve points={points} />
      </Section>
    </Stack>
  )
}

const diagnoses: Record<string, string> = {
  normal: 'It does what the sun lets expect',
  current_loss: 'It lacks current: soiling, shade, or light that does not reach it',
  voltage_loss: 'It lacks voltage: panels bridged, or aged',
  series_resistance: 'Resistance in its way: a connector or a cable',
  shading_or_mismatch: 'Shade, or panels that do not match',
  open: `The string has an ${open_circuit}`,
}

const unsaid: Record<string, string> = {
  insufficient_data: 'There was too little light on this day for a diagnosis.',
  more_than_expected: 'It delivers more than is expected: no diagnosis.',
  ambiguous: 'The pattern of its loss fits several causes: no diagnosis.',
}

function diagnosisOf(meta: IvExpectedMeta): string {
  const { diagnosis, diagnosis_reason, current_loss_pct, voltage_loss_pct, confidence_pct } = meta
  if (!diagnosis) return unsaid[diagnosis_reason ?? ''] ?? 'There is no diagnosis of this day.'
  const parts = [
    lossOf(current_loss_pct, 'current'),
    lossOf(voltage_loss_pct, 'voltage'),
    confidence_pct !== null && diagnosis !== 'open' && `${formatNumber(confidence_pct, 0)} % sure`,
  ].filter(Boolean)
  const words = diagnoses[diagnosis] ?? inWords(diagnosis)
  return parts.length === 0 ? `${words}.` : `${words} (${parts.join(', ')}).`
}

const lossOf = (pct: number | null, of: string) =>
  pct !== null && pct > 0 && `${formatNumber(pct)} % of its ${of} lost`

/** Measured and expected values of a string, and its I-V curve. */

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
        // Each page has its own diagnosis: the page with the most daylight is the most reliable.
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
            <Text>No expected values: {inWords(meta.reason).toLowerCase()}.</Text>
            <MeasuredCharts {...props} />
          </>
        ) : (
          <Empty title="No measurements on this day" />
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
      <Section title="Daily course">
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
  normal: 'Normal',
  current_loss: 'Low current: soiling, shading or blocked light',
  voltage_loss: 'Low voltage: bypassed or degraded panels',
  series_resistance: 'Series resistance: connector or cable',
  shading_or_mismatch: 'Shading or mismatch of panels',
  open: `Detected ${open_circuit}`,
}

const unsaid: Record<string, string> = {
  insufficient_data: 'No diagnosis: low irradiance on this day.',
  more_than_expected: 'No diagnosis: more power than expected.',
  ambiguous: 'No diagnosis: several causes are possible.',
}

function diagnosisOf(meta: IvExpectedMeta): string {
  const { diagnosis, diagnosis_reason, current_loss_pct, voltage_loss_pct, confidence_pct } = meta
  if (!diagnosis) return unsaid[diagnosis_reason ?? ''] ?? 'No diagnosis for this day.'
  const parts = [
    lossOf(current_loss_pct, 'current'),
    lossOf(voltage_loss_pct, 'voltage'),
    confidence_pct !== null &&
      diagnosis !== 'open' &&
      `${formatNumber(confidence_pct, 0)} % confidence`,
  ].filter(Boolean)
  const words = diagnoses[diagnosis] ?? inWords(diagnosis)
  return parts.length === 0 ? `${words}.` : `${words} (${parts.join(', ')}).`
}

const lossOf = (pct: number | null, of: string) =>
  pct !== null && pct > 0 && `${formatNumber(pct)} % ${of} loss`

/** Measured and expected values of a string over a day, and its I-V curve. */
import {
  everyWindow,
  type IvExpectedMeta,
  type IvExpectedPoint,
  type Window,
} from '@heliograph/sdk'
import { Group, Slider, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useMayRead, useSite } from '../../../queries.ts'
import { formatNumber, formatQuantity, inWords } from '../../../ui/format.ts'
import { aligned, historyOf, type Values } from '../../../ui/history.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { type Line, LineChart } from '../../../ui/line-chart.tsx'
import { Section, Time } from '../../../ui/page.tsx'
import { type Span, windowOf } from '../../../ui/site-clock.ts'
import { Answered, Empty } from '../../../ui/states.tsx'
import { open_circuit } from '../string-health/reason.ts'

interface StringChartsProps {
  inverter_id: number
  string_index: number
  span: Span
}

export default function StringCharts(props: StringChartsProps) {
  return useMayRead()('diagnostics:read') ? <Expected {...props} /> : <Measured {...props} />
}

async function allOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}

interface ExpectedValues {
  points: IvExpectedPoint[]
  meta: IvExpectedMeta | null
}

function Expected(props: StringChartsProps) {
  const { inverter_id, string_index, span } = props
  const { site_id } = useSite()
  const query = useQuery({
    queryKey: ['iv-expected', site_id, inverter_id, string_index, span.start_ms],
    structuralSharing: false,
    refetchInterval: span.end_ms > Date.now() ? 120_000 : false,
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ExpectedValues> => {
      let meta: IvExpectedMeta | null = null
      const of = { site_id, inverter_id, string_index, every: '60s', limit: 2000 } as const
      const read = async (window: Window) => {
        const answer = await heliograph.ivExpectedList({ ...of, ...window }, { signal })
        // Each page has its own diagnosis: the page with the most daylight is the most reliable.
        if (!meta || answer.meta.diagnosed_point_count > meta.diagnosed_point_count) {
          meta = answer.meta
        }
        return answer
      }
      return { points: await allOf(everyWindow(read, windowOf(span))), meta }
    },
  })
  return (
    <Answered query={query}>
      {({ points, meta }) =>
        points.length > 0 ? (
          <Shown points={points} meta={meta} />
        ) : meta?.reason ? (
          <>
            <Text>No expected values: {inWords(meta.reason).toLowerCase()}.</Text>
            <Measured {...props} />
          </>
        ) : (
          <Empty title="No measurements on this day" />
        )
      }
    </Answered>
  )
}

function Shown({ points, meta }: ExpectedValues) {
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
        <Charts {...series} />
      </Section>
      <Section title="I-V curve">
        <IvCurve points={points} />
      </Section>
    </Stack>
  )
}

/** Measurements, for people without access to diagnostics. */
function Measured({ inverter_id, string_index, span }: StringChartsProps) {
  const { site_id } = useSite()
  const string = { site_id, inverter_id, string_index }
  const query = useQuery(historyOf('stringsHistoryList', string, { span, names: [] }))
  return (
    <Section title="Daily course">
      <Answered query={query}>
        {({ at_ms, columns }) =>
          at_ms.length === 0 ? (
            <Empty title="No measurements on this day" />
          ) : (
            <Charts
              at_ms={at_ms}
              measured={{
                power: columns['power_kw']!,
                current: columns['current_a']!,
                voltage: columns['voltage_v']!,
              }}
            />
          )
        }
      </Answered>
    </Section>
  )
}

interface StringValues {
  power: Values
  current: Values
  voltage: Values
}

interface ChartsProps {
  at_ms: readonly number[]
  measured: StringValues
  expected?: StringValues
}

const kinds = [
  ['power', 'Power', 'kW', 2],
  ['current', 'Current', 'A', 2],
  ['voltage', 'Voltage', 'V', 0],
] as const

function Charts({ at_ms, measured, expected }: ChartsProps) {
  const { timezone } = useSite()
  const charts = useMemo(
    () =>
      kinds.map(([kind, label, unit, digits]) => {
        const series = expected ? [measured, expected] : [measured]
        const drawn = aligned(series.map((values) => ({ at_ms, values: values[kind] })))
        const [own = [], wanted] = drawn.columns
        const lines: Line[] = [{ label, unit, digits, values: own, color: 'blue' }]
        if (wanted) {
          lines.push({
            label: 'Expected',
            unit,
            digits,
            values: wanted,
            color: 'orange',
            dash: true,
          })
        }
        return { label, at_ms: drawn.at_ms, lines }
      }),
    [at_ms, measured, expected],
  )
  return (
    <Stack gap="xs">
      {charts.map(({ label, ...drawn }) => (
        <LineChart
          key={label}
          title={`${label} of the string over the day`}
          timezone={timezone}
          height={190}
          {...drawn}
        />
      ))}
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

type Point = IvExpectedPoint

/** Expected I-V curve at the measured irradiance, and the operating point of the string. */
function IvCurve({ points }: { points: readonly Point[] }) {
  const daylight = useMemo(() => points.filter((point) => kneesOf(point) !== null), [points])
  const brightest = useMemo(() => brightestOf(daylight), [daylight])
  const [chosen, setChosen] = useState<number | null>(null)
  const nth = Math.min(chosen ?? brightest, daylight.length - 1)
  const point = daylight[nth]
  if (!point) {
    return <Empty title="No daylight on this day">The curve needs irradiance.</Empty>
  }
  return (
    <Stack gap="sm">
      <Group gap="lg">
        <Text>
          <Time at={point.measured_at} />
        </Text>
        <Text size="sm">
          {formatQuantity(point.effective_irradiance_w_m2, 'W/m²', 0)} effective irradiance, cells{' '}
          {formatQuantity(point.cell_temperature_c, '°C', 0)}
        </Text>
        <Text size="sm">{deviationOf(point)}</Text>
      </Group>
      <Slider
        min={0}
        max={daylight.length - 1}
        value={nth}
        onChange={setChosen}
        label={null}
        thumbLabel="Time of day"
        disabled={daylight.length < 2}
      />
      <Plot point={point} />
    </Stack>
  )
}

function deviationOf({ current_deviation_at_voltage_pct: pct, curtailed }: Point): string {
  const limited = curtailed ? '; the inverter was limited' : ''
  if (pct === null) return `Operating point not evaluated${limited}`
  const words = pct < 0 ? 'less' : 'more'
  return `${formatNumber(Math.abs(pct))} % ${words} current than expected at this voltage${limited}`
}

function brightestOf(daylight: readonly Point[]): number {
  const lights = daylight.map(({ effective_irradiance_w_m2: light }) => light ?? 0)
  return Math.max(0, lights.indexOf(Math.max(...lights)))
}

function kneesOf(point: Point): Knees | null {
  const { expected_i_sc_a, expected_v_oc_v, expected_i_mp_a, expected_v_mp_v } = point
  if (!expected_i_sc_a || !expected_v_oc_v || !expected_i_mp_a || !expected_v_mp_v) return null
  if (expected_i_mp_a >= expected_i_sc_a || expected_v_mp_v >= expected_v_oc_v) return null
  return {
    i_sc_a: expected_i_sc_a,
    v_oc_v: expected_v_oc_v,
    i_mp_a: expected_i_mp_a,
    v_mp_v: expected_v_mp_v,
  }
}

const expected_color = '#e8590c'

function Plot({ point }: { point: Point }) {
  const option = useMemo(() => optionOf(point), [point])
  const { i_sc_a, v_oc_v, i_mp_a, v_mp_v } = kneesOf(point)!
  const { measured_current_a: i, measured_voltage_v: v } = point
  const description = `I-V curve: ${i_sc_a.toFixed(2)} A at short circuit, ${v_oc_v.toFixed(0)} V open, maximum power at ${v_mp_v.toFixed(0)} V and ${i_mp_a.toFixed(2)} A; operating point ${formatQuantity(v, 'V', 0)} and ${formatQuantity(i, 'A', 2)}`
  return <Chart title={description} option={option} height={300} />
}

function optionOf(point: Point) {
  const knees = kneesOf(point)!
  const mark = { type: 'line', symbolSize: 11, symbol: 'circle' }
  const axis = { type: 'value', nameLocation: 'middle' }
  return {
    grid: { left: 48, right: 16, top: 40, bottom: 44 },
    tooltip: { show: false },
    xAxis: { ...axis, name: 'Voltage, V', nameGap: 28 },
    yAxis: { ...axis, name: 'Current, A', nameGap: 32 },
    series: [
      {
        type: 'line',
        data: curveOf(knees, 80),
        showSymbol: false,
        itemStyle: { color: expected_color },
      },
      {
        ...mark,
        name: 'expected maximum power',
        data: [[knees.v_mp_v, knees.i_mp_a]],
        symbol: 'emptyCircle',
        itemStyle: { color: expected_color },
      },
      {
        ...mark,
        name: 'operating point',
        data: [[point.measured_voltage_v, point.measured_current_a]],
        itemStyle: { color: '#1c7ed6' },
      },
    ],
  }
}

interface Knees {
  i_sc_a: number
  v_oc_v: number
  i_mp_a: number
  v_mp_v: number
}

/**
 * The curve through short circuit, maximum power and open circuit, as volt and ampere: the explicit
 * form I = Isc (1 - C1 (exp(V / (C2 Voc)) - 1)), which is exact in the three points.
 */
function curveOf({ i_sc_a, v_oc_v, i_mp_a, v_mp_v }: Knees, count: number) {
  const c2 = (v_mp_v / v_oc_v - 1) / Math.log(1 - i_mp_a / i_sc_a)
  const c1 = (1 - i_mp_a / i_sc_a) * Math.exp(-v_mp_v / (c2 * v_oc_v))
  return Array.from({ length: count + 1 }, (_, nth): [number, number] => {
    const volt = (v_oc_v * nth) / count
    return [volt, Math.max(0, i_sc_a * (1 - c1 * (Math.exp(volt / (c2 * v_oc_v)) - 1)))]
  })
}

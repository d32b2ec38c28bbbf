/** Expected I-V curve at the measured irradiance, and the operating point of the string. */

import type { IvExpectedPoint } from '@heliograph/sdk'
import { Group, Slider, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { curveOf, type Knees } from './curve.ts'

type Point = IvExpectedPoint

export function IvCurve({ points }: { points: readonly Point[] }) {
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
  let best = 0
  for (const [nth, { effective_irradiance_w_m2: light }] of daylight.entries()) {
    if ((light ?? 0) > (daylight[best]?.effective_irradiance_w_m2 ?? 0)) best = nth
  }
  return best
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

const box = { width: 440, height: 260, left: 46, right: 14, top: 10, bottom: 42 }

function Plot({ point }: { point: Point }) {
  const knees = kneesOf(point)!
  const { measured_current_a: i, measured_voltage_v: v } = point
  const v_max = roundUp(Math.max(knees.v_oc_v, v ?? 0) * 1.05, 100)
  const i_max = roundUp(Math.max(knees.i_sc_a, i ?? 0) * 1.1, 1)
  const x = (volt: number) => box.left + (volt / v_max) * (box.width - box.left - box.right)
  const y = (ampere: number) =>
    box.height - box.bottom - (ampere / i_max) * (box.height - box.top - box.bottom)
  const curve = curveOf(knees, 80).map(([volt, ampere]) => `${x(volt)},${y(ampere)}`)
  const description = `I-V curve: ${knees.i_sc_a.toFixed(2)} A at short circuit, ${knees.v_oc_v.toFixed(0)} V open, maximum power at ${knees.v_mp_v.toFixed(0)} V and ${knees.i_mp_a.toFixed(2)} A; operating point ${formatQuantity(v, 'V', 0)} and ${formatQuantity(i, 'A', 2)}`
  return (
    <svg
      viewBox={`0 0 ${box.width} ${box.height}`}
      role="img"
      aria-label={description}
      fill="currentColor"
      style={{ width: '100%', maxWidth: 620 }}
    >
      <title>{description}</title>
      <Axes {...{ x, y, v_max, i_max }} />
      <polyline
        points={curve.join(' ')}
        fill="none"
        stroke="var(--mantine-color-orange-8)"
        strokeWidth={2}
      />
      <circle
        cx={x(knees.v_mp_v)}
        cy={y(knees.i_mp_a)}
        r={5}
        fill="none"
        stroke="var(--mantine-color-orange-8)"
        strokeWidth={2}
      />
      {i !== null && v !== null && (
        <circle cx={x(v)} cy={y(i)} r={6} fill="var(--mantine-primary-color-filled)" />
      )}
      <g fontSize={12}>
        <circle
          cx={box.left + 14}
          cy={box.height - box.bottom - 34}
          r={5}
          fill="none"
          stroke="var(--mantine-color-orange-8)"
          strokeWidth={2}
        />
        <text x={box.left + 26} y={box.height - box.bottom - 30}>
          expected maximum power
        </text>
        <circle
          cx={box.left + 14}
          cy={box.height - box.bottom - 14}
          r={6}
          fill="var(--mantine-primary-color-filled)"
        />
        <text x={box.left + 26} y={box.height - box.bottom - 10}>
          operating point
        </text>
      </g>
    </svg>
  )
}

const roundUp = (value: number, step: number) => Math.ceil(value / step) * step

function Axes({
  x,
  y,
  v_max,
  i_max,
}: {
  x: (volt: number) => number
  y: (ampere: number) => number
  v_max: number
  i_max: number
}) {
  const volts = ticks(v_max)
  const amperes = ticks(i_max)
  return (
    <g fontSize={12} stroke="none">
      {volts.map((volt) => (
        <g key={volt}>
          <line
            x1={x(volt)}
            x2={x(volt)}
            y1={y(0)}
            y2={y(i_max)}
            stroke="currentColor"
            opacity={0.12}
          />
          <text x={x(volt)} y={y(0) + 16} textAnchor="middle">
            {formatNumber(volt, 0)}
          </text>
        </g>
      ))}
      {amperes.map((ampere) => (
        <g key={ampere}>
          <line
            x1={x(0)}
            x2={x(v_max)}
            y1={y(ampere)}
            y2={y(ampere)}
            stroke="currentColor"
            opacity={0.12}
          />
          <text x={x(0) - 6} y={y(ampere) + 4} textAnchor="end">
            {formatNumber(ampere, Number.isInteger(ampere) ? 0 : 1)}
          </text>
        </g>
      ))}
      <text x={box.width / 2} y={box.height - 6} textAnchor="middle">
        Voltage, V
      </text>
      <text
        x={14}
        y={box.height / 2}
        textAnchor="middle"
        transform={`rotate(-90 14 ${box.height / 2})`}
      >
        Current, A
      </text>
    </g>
  )
}

function ticks(max: number): number[] {
  const step = [0.2, 0.5, 1, 2, 5, 100, 200, 500].find((one) => max / one <= 8) ?? max / 5
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, nth) => nth * step)
}

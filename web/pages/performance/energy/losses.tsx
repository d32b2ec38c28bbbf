import type { InverterLosses, LoggerEfficiency } from '@heliograph/sdk'
import { useMemo } from 'react'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import type { ChartOption } from '../../../ui/echart.tsx'
import { formatEnergy, formatNumber, formatQuantity } from '../../../ui/format.ts'
import { Chart } from '../../../ui/lazy-chart.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Empty } from '../../../ui/states.tsx'
import { kinds, type Loss, lossesOf } from './loss-parts.ts'
import { sumKnown } from './sums.ts'

interface LossesProps {
  inverters: readonly InverterLosses[]
  plants: readonly LoggerEfficiency[]
}

/** Losses between expected and delivered energy. */
export function Losses({ inverters, plants }: LossesProps) {
  const delivered_kwh =
    sumKnown(plants, (plant) => plant.energy_kwh) ?? sumKnown(inverters, (row) => row.ac_energy_kwh)
  const expected_kwh = sumKnown(plants, (plant) => plant.expected_energy_kwh)
  const losses = useMemo(
    () => lossesOf(inverters, { expected_kwh, delivered_kwh }),
    [inverters, expected_kwh, delivered_kwh],
  )
  const option = useMemo(() => waterfall(losses, delivered_kwh ?? 0), [losses, delivered_kwh])
  const named = namesOf(losses, delivered_kwh ?? 0).join(', ')
  if (delivered_kwh === null)
    return (
      <Empty title="Insufficient data for this period">
        Losses need measurements for at least half of the daylight.
      </Empty>
    )
  return (
    <>
      <Chart
        title={`From expected to delivered energy, loss by loss: ${named}`}
        option={option}
        height={280}
      />
      <Muted mb="sm">
        The axis does not start at 0. Conversion is DC minus AC energy; the other losses are
        estimated from measured irradiance. The remainder was lost before the inverters: weak
        strings, soiling, shading and model error.
      </Muted>
      <DataTable
        label="Losses of each inverter"
        width={900}
        {...{ columns, rows: inverters }}
        keyOf={({ inverter_id }) => inverter_id}
      />
    </>
  )
}

/** Names of the bars with their energy. */
function namesOf(losses: readonly Loss[], delivered_kwh: number): string[] {
  const expected_kwh = losses.reduce((sum, { kwh }) => sum + (kwh ?? 0), delivered_kwh)
  return [
    `Expected ${formatEnergy(expected_kwh)}`,
    ...losses.map(({ name, kwh }) => `${name} ${formatEnergy(kwh)}`),
    `Delivered ${formatEnergy(delivered_kwh)}`,
  ]
}

function waterfall(losses: readonly Loss[], delivered_kwh: number): ChartOption {
  const total_kwh = losses.reduce((sum, { kwh }) => sum + (kwh ?? 0), delivered_kwh)
  let left_kwh = total_kwh
  const below: number[] = [0]
  const loss: (number | null)[] = [null]
  for (const { kwh } of losses) {
    left_kwh -= kwh ?? 0
    below.push(left_kwh)
    loss.push(kwh)
  }
  const tell = (value: unknown) => `${formatNumber(typeof value === 'number' ? value : null)} kWh`
  return {
    legend: { show: false },
    grid: { left: 8, right: 16, top: 8, bottom: 8, containLabel: true },
    // Horizontal bars leave room for long names on a phone.
    yAxis: {
      type: 'category',
      inverse: true,
      data: namesOf(losses, delivered_kwh),
    },
    // Losses are small compared with the total, so the axis does not start at 0.
    xAxis: {
      type: 'value',
      min: Math.floor((delivered_kwh * 0.9) / 10) * 10,
      splitNumber: 3,
      axisLabel: { formatter: (kwh: number) => `${formatNumber(kwh, 0)} kWh`, hideOverlap: true },
    },
    series: [
      {
        type: 'bar',
        stack: 'all',
        data: [...below, 0],
        itemStyle: { color: 'transparent' },
        tooltip: { show: false },
        silent: true,
        name: '',
      },
      {
        type: 'bar',
        stack: 'all',
        name: 'Energy',
        barMaxWidth: 24,
        data: [total_kwh, ...losses.map(() => null), delivered_kwh] as never,
        tooltip: { valueFormatter: tell },
      },
      {
        type: 'bar',
        stack: 'all',
        name: 'Lost',
        barMaxWidth: 24,
        data: [...loss, null] as never,
        tooltip: { valueFormatter: tell },
      },
    ],
    tooltip: { trigger: 'item' },
  }
}

/** Efficiencies within half a percent are as expected. */
const isLow = ({
  conversion_efficiency_pct: is_pct,
  expected_efficiency_pct: of_pct,
}: InverterLosses) => is_pct !== null && of_pct !== null && of_pct - is_pct > 0.5

const columns: readonly Column<InverterLosses>[] = [
  { name: 'Inverter', cell: ({ inverter_name }) => inverter_name },
  numeric('Delivered', ({ ac_energy_kwh }) => formatEnergy(ac_energy_kwh)),
  ...kinds.map(({ name, of }) => numeric<InverterLosses>(name, (row) => formatEnergy(of(row)))),
  numeric('Efficiency', (row) => (
    <>
      {formatQuantity(row.conversion_efficiency_pct, '%', 2)}
      {isLow(row) && (
        <Muted>{`${formatQuantity(row.expected_efficiency_pct, '%', 2)} expected`}</Muted>
      )}
    </>
  )),
  numeric('At night', ({ night_consumption_kwh }) => formatEnergy(night_consumption_kwh)),
]

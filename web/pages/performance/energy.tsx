import type { InverterLosses, LoggerEfficiency } from '@heliograph/sdk'
import { useMemo } from 'react'
import { useOverview, useSite } from '../../queries.ts'
import { columnsOption } from '../../ui/columns.ts'
import { column, DataTable, numeric, tableOf, wrapped } from '../../ui/data-table.tsx'
import { PeriodChoice, period_titles, usePeriod } from '../../ui/days.tsx'
import type { ChartOption } from '../../ui/echart.tsx'
import { formatEnergy, formatNumber, formatQuantity, inUnit, sumKnown } from '../../ui/format.ts'
import { Chart } from '../../ui/lazy-chart.tsx'
import { FigureGrid, figures, Muted, noted, Page, Section, useNow } from '../../ui/page.tsx'
import type { Period } from '../../ui/periods.ts'
import { dayAt } from '../../ui/site-clock.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { kinds, type Loss, lossesOf } from './energy/loss-parts.ts'
import { mean, performanceIndex } from './energy/means.ts'
import { type Bucket, labelOf, useBuckets, useLosses, usePerformance } from './energy/reads.ts'

export default function Energy() {
  const { site_id, timezone } = useSite()
  const today = dayAt(useNow(60_000), timezone)
  const choice = usePeriod('month', today)
  const { period } = choice
  const plant_count = useOverview().data?.loggers.length
  const asked = { site_id, period, timezone, today, plant_count }
  const buckets = useBuckets(asked)
  const performance = usePerformance(asked)
  const losses = useLosses(asked)
  const plants = performance.data ?? []
  return (
    <Page title="Energy" actions={<PeriodChoice {...choice} />}>
      <Answered query={performance}>
        {(plants) => <EnergyFigures plants={plants} buckets={buckets.data ?? []} />}
      </Answered>
      <Section title={period_titles[period.kind]}>
        <Answered query={buckets}>
          {(buckets) => (
            <EnergyChart buckets={buckets} plants={plants} period={period} timezone={timezone} />
          )}
        </Answered>
      </Section>
      <Section title="Plants">
        <Answered query={performance}>
          {(rows) => <DataTable {...yield_table} rows={rows} />}
        </Answered>
      </Section>
      <Section title="Losses">
        <Answered query={losses}>
          {(inverters) => <Losses inverters={inverters} plants={plants} />}
        </Answered>
      </Section>
    </Page>
  )
}

const low_index_pct = 90

interface EnergyFiguresProps {
  plants: readonly LoggerEfficiency[]
  /** Energy of the period, also when data is insufficient for ratios. */
  buckets: readonly Bucket[]
}

function EnergyFigures({ plants, buckets }: EnergyFiguresProps) {
  const energy_kwh =
    sumKnown(plants, (plant) => plant.energy_kwh) ??
    sumKnown(buckets, ({ by_logger }) => sumKnown([...by_logger.values()], (kwh) => kwh))
  const is_little = plants.length > 0 && plants.every(({ energy_kwh: own_kwh }) => own_kwh === null)
  const expected_kwh = sumKnown(plants, (plant) => plant.expected_energy_kwh)
  const capacity = (plant: LoggerEfficiency) => plant.dc_capacity_kwp
  const capacity_kwp = sumKnown(plants, capacity)
  const light = ({ poa_insolation_kwh_m2: kwh_m2, dc_capacity_kwp }: LoggerEfficiency) =>
    kwh_m2 === null ? null : kwh_m2 * dc_capacity_kwp
  const index_pct = performanceIndex(plants)
  const ratio_pct = mean(plants, (plant) => plant.performance_ratio_pct, light)
  const guaranteed_pct = mean(plants, (plant) => plant.guaranteed_performance_ratio_pct, capacity)
  // A year with less than half of its data has no ratios, but has energy.
  const yield_kwh_kwp =
    mean(plants, (plant) => plant.specific_yield_kwh_kwp, capacity) ??
    (energy_kwh === null || !capacity_kwp ? null : energy_kwh / capacity_kwp)
  const available_pct = mean(plants, (plant) => plant.availability_time_pct, capacity)
  const curtailed_kwh = sumKnown(plants, (plant) => plant.curtailed_energy_kwh)
  return (
    <FigureGrid cols={6}>
      {figures([
        [
          'Energy',
          formatEnergy(energy_kwh),
          is_little && energy_kwh !== null && 'insufficient data for ratios',
        ],
        [
          'Performance vs expected',
          formatQuantity(index_pct, '%'),
          expected_kwh === null ? null : `${formatEnergy(expected_kwh)} expected`,
          index_pct === null ? null : index_pct < low_index_pct ? 'bad' : 'good',
        ],
        [
          'Performance ratio',
          formatQuantity(ratio_pct, '%'),
          guaranteed_pct === null ? null : `${formatQuantity(guaranteed_pct, '%')} guaranteed`,
        ],
        ['Yield, kWh/kWp', formatNumber(yield_kwh_kwp, 2)],
        ['Availability', formatQuantity(available_pct, '%'), 'of daylight'],
        ['Lost to curtailment', formatEnergy(curtailed_kwh)],
      ])}
    </FigureGrid>
  )
}

interface EnergyChartProps {
  buckets: readonly Bucket[]
  plants: readonly LoggerEfficiency[]
  period: Period
  timezone: string
}

function EnergyChart({ buckets, plants, period, timezone }: EnergyChartProps) {
  const is_known = buckets.some(({ by_logger }) => by_logger.size > 0)
  const option = useMemo(() => {
    const ids = [...new Set(buckets.flatMap(({ by_logger }) => [...by_logger.keys()]))]
    const nameOf = (id: number) =>
      plants.find(({ logger_id }) => logger_id === id)?.logger_name ?? `Plant ${id}`
    const is_large = period.kind === 'year'
    const scale = (kwh: number | null | undefined) =>
      kwh === null || kwh === undefined ? null : is_large ? kwh / 1000 : kwh
    return columnsOption({
      categories: buckets.map(({ key }) => labelOf(key, { period, timezone })),
      unit: is_large ? 'MWh' : 'kWh',
      digits: is_large ? 2 : 1,
      columns: [
        ...ids
          .sort((a, b) => a - b)
          .map((id) => ({
            name: nameOf(id),
            stack: 'energy',
            values: buckets.map(({ by_logger }) => scale(by_logger.get(id))),
          })),
        {
          name: 'Expected',
          as: 'line' as const,
          color: '#868e96',
          values: buckets.map(({ expected_kwh }) => scale(expected_kwh)),
        },
      ],
    })
  }, [buckets, plants, period, timezone])
  if (!is_known) return <Empty title="No data for this period" />
  return (
    <>
      <Chart title="Energy of each plant, and expected energy" option={option} height={300} />
      {buckets.some(({ is_partial }) => is_partial) && (
        <Muted>Incomplete period or measurements: values may still increase.</Muted>
      )}
    </>
  )
}

const reasons = {
  no_daylight: 'No daylight, or the position of the site is unknown.',
  insufficient_data: 'Less than half of the daylight was measured.',
} as const

const sensors = {
  irradiance: 'Implausible irradiance: the ratios are unreliable.',
  dc_power: 'Implausible DC power: below AC power.',
} as const

const yield_table = tableOf<LoggerEfficiency>('Yields of each plant', 1000, 'logger_id', [
  wrapped('Plant', ({ logger_name, excluded_reason, suspect_sensors }) => (
    <>
      {noted(logger_name, excluded_reason && reasons[excluded_reason])}
      {suspect_sensors.map((sensor) => (
        <Muted key={sensor}>{sensors[sensor]}</Muted>
      ))}
    </>
  )),
  numeric('Energy', (plant) => plant.energy_kwh, formatEnergy),
  numeric('Expected', (plant) => plant.expected_energy_kwh, formatEnergy),
  numeric('Of expected', (plant) => plant.energy_performance_index_pct, inUnit('%')),
  numeric('Yield', (plant) => plant.specific_yield_kwh_kwp, inUnit('kWh/kWp', 2)),
  numeric('Performance ratio', (plant) => {
    const guaranteed_pct = plant.performance_ratio_to_guaranteed_pct
    return noted(
      formatQuantity(plant.performance_ratio_pct, '%'),
      guaranteed_pct !== null && `${formatQuantity(guaranteed_pct, '%', 0)} of guaranteed`,
    )
  }),
  numeric('Availability', (plant) => plant.availability_time_pct, inUnit('%')),
  numeric('Curtailed', (plant) => plant.curtailed_energy_kwh, formatEnergy),
  numeric('Data complete', (plant) => plant.completeness_pct, inUnit('%')),
])

interface LossesProps {
  inverters: readonly InverterLosses[]
  plants: readonly LoggerEfficiency[]
}

function Losses({ inverters, plants }: LossesProps) {
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
      <DataTable {...loss_table} rows={inverters} />
    </>
  )
}

const totalOf = (losses: readonly Loss[], delivered_kwh: number) =>
  losses.reduce((sum, { kwh }) => sum + (kwh ?? 0), delivered_kwh)

const namesOf = (losses: readonly Loss[], delivered_kwh: number) => [
  `Expected ${formatEnergy(totalOf(losses, delivered_kwh))}`,
  ...losses.map(({ name, kwh }) => `${name} ${formatEnergy(kwh)}`),
  `Delivered ${formatEnergy(delivered_kwh)}`,
]

function waterfall(losses: readonly Loss[], delivered_kwh: number): ChartOption {
  const total_kwh = totalOf(losses, delivered_kwh)
  const below = losses.map((_, nth) => total_kwh - totalOf(losses.slice(0, nth + 1), 0))
  const bar = { type: 'bar' as const, stack: 'all' }
  const shown = {
    ...bar,
    barMaxWidth: 24,
    tooltip: {
      valueFormatter: (value: unknown) =>
        `${formatNumber(typeof value === 'number' ? value : null)} kWh`,
    },
  }
  return {
    legend: { show: false },
    grid: { left: 8, right: 16, top: 8, bottom: 8, containLabel: true },
    // Horizontal bars leave room for long names on a phone.
    yAxis: { type: 'category', inverse: true, data: namesOf(losses, delivered_kwh) },
    // Losses are small compared with the total, so the axis does not start at 0.
    xAxis: {
      type: 'value',
      min: Math.floor((delivered_kwh * 0.9) / 10) * 10,
      splitNumber: 3,
      axisLabel: { formatter: (kwh: number) => `${formatNumber(kwh, 0)} kWh`, hideOverlap: true },
    },
    series: [
      {
        ...bar,
        data: [0, ...below, 0],
        itemStyle: { color: 'transparent' },
        tooltip: { show: false },
        silent: true,
        name: '',
      },
      {
        ...shown,
        name: 'Energy',
        data: [total_kwh, ...losses.map(() => null), delivered_kwh] as never,
      },
      { ...shown, name: 'Lost', data: [null, ...losses.map(({ kwh }) => kwh), null] as never },
    ],
    tooltip: { trigger: 'item' },
  }
}

const loss_table = tableOf<InverterLosses>('Losses of each inverter', 900, 'inverter_id', [
  column('Inverter', ({ inverter_name }) => inverter_name),
  numeric('Delivered', ({ ac_energy_kwh }) => ac_energy_kwh, formatEnergy),
  ...kinds.map(({ name, of }) => numeric<InverterLosses>(name, (row) => formatEnergy(of(row)))),
  numeric('Efficiency', ({ conversion_efficiency_pct: pct, expected_efficiency_pct: expected }) =>
    noted(
      formatQuantity(pct, '%', 2),
      // Efficiencies within half a percent are as expected.
      pct !== null &&
        expected !== null &&
        expected - pct > 0.5 &&
        `${formatQuantity(expected, '%', 2)} expected`,
    ),
  ),
  numeric('At night', ({ night_consumption_kwh }) => night_consumption_kwh, formatEnergy),
])

import type { ModelStatus } from '@heliograph/sdk'
import { Badge, Group, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { type Column, DataTable, numeric } from '../../../ui/data-table.tsx'
import { useDevices } from '../../../ui/devices.tsx'
import { formatNumber, formatQuantity, none } from '../../../ui/format.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

const states = {
  ok: { word: 'OK', color: 'teal' },
  degraded: { word: 'Degraded', color: 'orange' },
  disabled: { word: 'Disabled: physics is better', color: 'gray' },
  insufficient_data: { word: 'Insufficient data', color: 'gray' },
} as const

const windows = ['7', '30', '90'].map((value) => ({ value, label: `${value} days` }))
const leads = [
  { value: 'day_ahead', label: 'Day ahead' },
  { value: 'intraday', label: 'Intraday' },
]

interface ModelsProps {
  site_id: string
  models: readonly ModelStatus[]
  /** Currency of the prices that a model forecasts. */
  currencyOf(model: string): string | undefined
}

export function Models(props: ModelsProps) {
  const { site_id, models } = props
  const [days, setDays] = useState('30')
  const [lead, setLead] = useState('day_ahead')
  const { plantName } = useDevices(site_id)
  if (models.length === 0) return <Empty title="No models yet" />
  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl aria-label="Window" data={windows} value={days} onChange={setDays} />
        <SegmentedControl aria-label="Lead time" data={leads} value={lead} onChange={setLead} />
      </Group>
      <DataTable
        label="Models and their scores"
        width={940}
        columns={columnsOf(days, lead, props, plantName)}
        rows={models}
        keyOf={({ model }) => model}
      />
    </>
  )
}

type PlantName = (logger_id: number) => string

const columnsOf = (days: string, lead: string, props: ModelsProps, plantName: PlantName) => {
  const scoresOf = ({ metrics }: ModelStatus) =>
    metrics.find(({ window_days, lead_time }) => window_days === Number(days) && lead_time === lead)
  const unitOf = ({ kind, model }: ModelStatus) =>
    kind === 'price' ? `${props.currencyOf(model) ?? ''}/MWh` : 'kW'
  const columns: Column<ModelStatus>[] = [
    { name: 'Model', cell: (model) => nameOf(model, plantName) },
    { name: 'State', wraps: true, cell: (model) => <State model={model} /> },
    numeric('Mean error', (model) => {
      const scores = scoresOf(model)
      const is_price = model.kind === 'price'
      const error = is_price ? scores?.mae_per_mwh : scores?.mae_kw
      return (
        <>
          {formatQuantity(error, unitOf(model), is_price ? 2 : 1)}
          {scores?.nmae_pct != null && (
            <Muted>{formatQuantity(scores.nmae_pct, '%')} of rated power</Muted>
          )}
        </>
      )
    }),
    numeric('Bias', (model) => {
      const scores = scoresOf(model)
      const is_price = model.kind === 'price'
      return biasWords(is_price ? scores?.mbe_per_mwh : scores?.mbe_kw, unitOf(model), is_price)
    }),
    numeric('Within the band', (model) =>
      formatQuantity(scoresOf(model)?.p10_p90_coverage_pct, '%', 0),
    ),
    numeric('Better than persistence', (model) =>
      formatQuantity(scoresOf(model)?.skill_vs_persistence_pct, '%', 0),
    ),
    numeric('Samples', (model) => {
      const { sample_count, hindcast_count = 0 } = scoresOf(model) ?? {}
      return (
        <>
          {formatNumber(sample_count, 0)}
          {hindcast_count > 0 && <Muted>{formatNumber(hindcast_count, 0)} hindcast</Muted>}
        </>
      )
    }),
    {
      name: 'Trained',
      cell: ({ trained_at, version, training_sample_count }) => (
        <>
          <Time at={trained_at} />
          {version && (
            <Muted>
              version {version}, {formatNumber(training_sample_count, 0)} samples
            </Muted>
          )}
        </>
      ),
    },
  ]
  return columns
}

function State({ model: { status, drift_detected, last_error } }: { model: ModelStatus }) {
  const { word, color } = states[status]
  return (
    <>
      <Badge miw="max-content" color={color}>
        {word}
      </Badge>
      {drift_detected && <Muted>Drift: the error has grown</Muted>}
      {last_error && <Muted>Last training failed: {last_error}</Muted>}
    </>
  )
}

function biasWords(bias: number | null | undefined, unit: string, is_price: boolean): string {
  if (bias === null || bias === undefined) return none
  const size = formatQuantity(Math.abs(bias), unit, is_price ? 2 : 1)
  return `${size} too ${bias >= 0 ? 'high' : 'low'}`
}

function nameOf({ model, logger_id }: ModelStatus, plantName: PlantName): string {
  if (logger_id !== null) return plantName(logger_id)
  if (model === 'production:site') return 'Site'
  return model.replace(/^price:/, 'Prices of ')
}

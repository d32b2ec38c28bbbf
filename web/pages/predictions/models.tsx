import type { ModelMetrics, ModelStatus } from '@heliograph/sdk'
import { Badge, Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { formatNumber, formatQuantity, none } from '../../ui/format.ts'
import { RowTable } from '../../ui/row-table.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const states = {
  ok: { word: 'in order', color: 'teal' },
  degraded: { word: 'degraded', color: 'orange' },
  disabled: { word: 'physics is better', color: 'gray' },
  insufficient_data: { word: 'too little data', color: 'gray' },
} as const

const windows = ['7', '30', '90'].map((value) => ({ value, label: `${value} days` }))
const leads = [
  { value: 'day_ahead', label: 'A day ahead' },
  { value: 'intraday', label: 'Within the day' },
]

const head = [
  ...['Of', 'State', 'Mean error', 'Leaning', 'Within the band', 'Better than simple'],
  ...['Steps', 'Trained'],
]

interface ModelsProps {
  models: readonly ModelStatus[]
  timezone: string
}

export function Models({ models, timezone }: ModelsProps) {
  const [days, setDays] = useState('30')
  const [lead, setLead] = useState('day_ahead')
  if (models.length === 0) return <Empty title="There is no model yet" />
  const metricsOf = ({ metrics }: ModelStatus) =>
    metrics.find(({ window_days, lead_time }) => window_days === Number(days) && lead_time === lead)
  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl aria-label="Over" data={windows} value={days} onChange={setDays} />
        <SegmentedControl aria-label="Issued" data={leads} value={lead} onChange={setLead} />
      </Group>
      <RowTable label="Models and their scores" min_width={940} head={head}>
        {models.map((model) => (
          <Row key={model.model} model={model} metrics={metricsOf(model)} timezone={timezone} />
        ))}
      </RowTable>
    </>
  )
}

interface RowProps {
  model: ModelStatus
  metrics: ModelMetrics | undefined
  timezone: string
}

function Row({ model, metrics, timezone }: RowProps) {
  const { word, color } = states[model.status]
  const is_price = model.kind === 'price'
  const error = is_price
    ? formatQuantity(metrics?.mae_per_mwh, 'per MWh', 2)
    : formatQuantity(metrics?.mae_kw, 'kW')
  const bias = is_price ? (metrics?.mbe_per_mwh ?? null) : (metrics?.mbe_kw ?? null)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
          {nameOf(model)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge miw="max-content" color={color}>
          {word}
        </Badge>
        {model.drift_detected && (
          <Text size="xs" c="dimmed">
            drifts: worse than it was
          </Text>
        )}
        {model.last_error && (
          <Text size="xs" c="dimmed">
            the last training failed: {model.last_error}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {error}
        {metrics?.nmae_pct != null && (
          <Text size="xs" c="dimmed">
            {formatQuantity(metrics.nmae_pct, '%')} of rated power
          </Text>
        )}
      </Table.Td>
      <Table.Td>{leaning(bias, is_price)}</Table.Td>
      <Table.Td>{formatQuantity(metrics?.p10_p90_coverage_pct, '%', 0)}</Table.Td>
      <Table.Td>{formatQuantity(metrics?.skill_vs_persistence_pct, '%', 0)}</Table.Td>
      <Table.Td>
        {formatNumber(metrics?.sample_count, 0)}
        {(metrics?.hindcast_count ?? 0) > 0 && (
          <Text size="xs" c="dimmed">
            {formatNumber(metrics?.hindcast_count, 0)} told afterwards
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={model.trained_at} timezone={timezone} />
        {model.version && (
          <Text size="xs" c="dimmed">
            version {model.version}, on {formatNumber(model.training_sample_count, 0)} steps
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function leaning(bias: number | null, is_price: boolean): string {
  if (bias === null) return none
  const size = is_price
    ? formatQuantity(Math.abs(bias), 'per MWh', 2)
    : formatQuantity(Math.abs(bias), 'kW')
  return `${size} too ${bias >= 0 ? 'high' : 'low'}`
}

function nameOf({ model, logger_id }: ModelStatus): string {
  if (logger_id !== null) return `Plant ${logger_id}`
  if (model === 'production:site') return 'The site'
  return model.replace(/^price:/, 'Prices of ')
}

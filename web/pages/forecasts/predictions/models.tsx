import type { ModelMetrics, ModelStatus } from '@heliograph/sdk'
import { Badge, Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { useDevices } from '../../../ui/devices.tsx'
import { formatNumber, formatQuantity, none } from '../../../ui/format.ts'
import { RowTable } from '../../../ui/row-table.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

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
  'Of',
  'State',
  'Mean error',
  'Leaning',
  'Within the band',
  'Better than the day before',
  'Steps',
  'Trained',
]

interface ModelsProps {
  site_id: string
  models: readonly ModelStatus[]
  timezone: string
  /** Of prices that a model is of, by its name. */
  currencyOf(model: string): string | undefined
}

export function Models({ site_id, models, timezone, currencyOf }: ModelsProps) {
  const [days, setDays] = useState('30')
  const [lead, setLead] = useState('day_ahead')
  const { plantName } = useDevices(site_id)
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
          <Row
            key={model.model}
            name={nameOf(model, plantName)}
            model={model}
            metrics={metricsOf(model)}
            price_unit={`${currencyOf(model.model) ?? ''}/MWh`}
            timezone={timezone}
          />
        ))}
      </RowTable>
    </>
  )
}

interface RowProps {
  name: string
  model: ModelStatus
  metrics: ModelMetrics | undefined
  price_unit: string
  timezone: string
}

function Row({ name, model, metrics, price_unit, timezone }: RowProps) {
  const { word, color } = states[model.status]
  const is_price = model.kind === 'price'
  const error = is_price
    ? formatQuantity(metrics?.mae_per_mwh, price_unit, 2)
    : formatQuantity(metrics?.mae_kw, 'kW')
  const bias = is_price ? (metrics?.mbe_per_mwh ?? null) : (metrics?.mbe_kw ?? null)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
          {name}
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
      <Table.Td>{leaning(bias, is_price ? price_unit : 'kW')}</Table.Td>
      <Table.Td>{formatQuantity(metrics?.p10_p90_coverage_pct, '%', 0)}</Table.Td>
      <Table.Td>{formatQuantity(metrics?.skill_vs_persistence_pct, '%', 0)}</Table.Td>
      <Table.Td>
        {formatNumber(metrics?.sample_count, 0)}
        {(metrics?.hindcast_count ?? 0) > 0 && (
          <Text size="xs" c="dimmed">
            {formatNumber(metrics?.hindcast_count, 0)} forecast afterwards
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

function leaning(bias: number | null, unit: string): string {
  if (bias === null) return none
  const size = formatQuantity(Math.abs(bias), unit, unit === 'kW' ? 1 : 2)
  return `${size} too ${bias >= 0 ? 'high' : 'low'}`
}

function nameOf({ model, logger_id }: ModelStatus, plantName: (id: number) => string): string {
  if (logger_id !== null) return plantName(logger_id)
  if (model === 'production:site') return 'The site'
  return model.replace(/^price:/, 'Prices of ')
}

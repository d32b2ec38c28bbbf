import type { Alert } from '@heliograph/sdk'
import {
  Box,
  Button,
  Checkbox,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useMay, useRead, useSite } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { deviceText, useDevices } from '../../ui/devices.tsx'
import { FilterSelect, FilterTabs } from '../../ui/filters.tsx'
import { WriteButton } from '../../ui/form.tsx'
import {
  choices,
  formatEnergy,
  formatMoney,
  formatPower,
  inSiteTime,
  sumKnown,
} from '../../ui/format.ts'
import { figures, Heading, Muted, Page, Time } from '../../ui/page.tsx'
import { alert_severities, bySeverity } from '../../ui/severities.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { AlertDrawer, lostWords } from './drawer.tsx'
import { NoteDialog, type Step } from './note-dialog.tsx'

const at_once = 50

export default function Alerts() {
  const filters = useFilters()
  const status = shows[filters.get('show') ?? 'open'] ?? shows['open']!
  const alerts = useRead('alerts', 'alertsList', { status }, 15_000)
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const [step, setStep] = useState<Step | null>(null)
  const select = (id: number, is_selected: boolean) => {
    const next = new Set(selected)
    if (is_selected) next.add(id)
    else next.delete(id)
    setSelected(next)
  }
  return (
    <Page title="Alerts">
      <AlertFilters />
      <Answered query={alerts}>
        {({ data, meta }) => {
          const shown = data.filter((one) => isShown(one, filters)).sort(worstFirst)
          const chosen = shown.filter(({ alert_id }) => selected.has(alert_id))
          return (
            <Stack gap="md">
              <AlertFigures alerts={shown} count={meta.count} received={data.length} />
              {shown.length === 0 && <NoAlerts is_filtered={data.length > 0} show={status} />}
              <AlertGroup
                title={status.includes('resolved') ? 'Resolved' : 'Needs attention'}
                list={shown.filter(({ suppressed }) => !suppressed)}
                selected={selected}
                select={select}
              />
              <AlertGroup
                title="Suppressed"
                list={shown.filter(({ suppressed }) => suppressed)}
                selected={selected}
                select={select}
              />
              {chosen.length > 0 && (
                <SelectionBar
                  chosen={chosen}
                  onStep={(kind) => setStep({ kind, alerts: chosen })}
                  onClear={() => setSelected(new Set())}
                />
              )}
            </Stack>
          )
        }}
      </Answered>
      <AlertDrawer
        listed={alerts.data?.data ?? []}
        onStep={(kind, alert) => setStep({ kind, alerts: [alert] })}
      />
      <NoteDialog step={step} onClose={() => setStep(null)} onDone={() => setSelected(new Set())} />
    </Page>
  )
}

function NoAlerts({ is_filtered, show }: { is_filtered: boolean; show: readonly string[] }) {
  if (is_filtered) return <Empty title="No alerts match the filters" />
  if (show.includes('resolved')) return <Empty title="No resolved alerts" />
  if (!show.includes('acknowledged')) return <Empty title="No unacknowledged alerts" />
  return <Empty title="No active alerts">Rules are evaluated every minute.</Empty>
}

const shows: Record<string, Alert['status'][]> = {
  open: ['active', 'acknowledged'],
  active: ['active'],
  resolved: ['resolved'],
}

function isShown(alert: Alert, filters: ReturnType<typeof useFilters>): boolean {
  const severity = filters.get('severity')
  const logger_id = filters.number('logger_id')
  const text = filters.get('text')?.toLowerCase()
  const texts = [alert.title, alert.message, alert.code, alert.source_id, ...alert.vendor_codes]
  return (
    (severity === null || alert.severity === severity) &&
    (logger_id === undefined || alert.logger_id === logger_id) &&
    (!text || texts.some((part) => part.toLowerCase().includes(text)))
  )
}

/** Unacknowledged alerts first, then by severity, then the newest first. */
const worstFirst = (a: Alert, b: Alert): number =>
  Number(a.status === 'acknowledged') - Number(b.status === 'acknowledged') ||
  bySeverity(a, b) ||
  Date.parse(b.started_at) - Date.parse(a.started_at)

function AlertFilters() {
  const { get, set } = useFilters()
  const { plants } = useDevices()
  return (
    <Group align="end" gap="xs">
      <FilterTabs
        name="show"
        label="Which alerts"
        initial="open"
        choices={{ open: 'Open', active: 'Unacknowledged', resolved: 'Resolved' }}
      />
      <FilterSelect
        name="severity"
        label="Severity"
        all="All severities"
        data={choices(alert_severities)}
      />
      <FilterSelect name="logger_id" label="Plant" all="All plants" data={plants} />
      <TextInput
        aria-label="Text"
        placeholder="Search"
        leftSection={<IconSearch size={16} />}
        value={get('text') ?? ''}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
    </Group>
  )
}

interface AlertFiguresProps {
  alerts: readonly Alert[]
  count: number
  received: number
}

function AlertFigures({ alerts, count, received }: AlertFiguresProps) {
  const critical = alerts.filter(({ severity }) => severity === 'critical').length
  const untaken = alerts.filter(({ status }) => status === 'active').length
  const affected = alerts.filter(({ status }) => status !== 'resolved')
  const power_kw = sumKnown(affected, ({ affected_power_kw }) => affected_power_kw) ?? 0
  const currency = alerts.find(({ currency }) => currency !== null)?.currency ?? null
  const unknown = alerts.filter(
    (one) => one.lost_energy_kwh !== null && one.lost_amount === null,
  ).length
  if (alerts.length === 0) return null
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
        {figures([
          ['Critical', critical, null, critical > 0 && 'bad'],
          ['Unacknowledged', untaken, `of ${alerts.length} shown`],
          [
            'Energy lost',
            formatEnergy(sumKnown(alerts, ({ lost_energy_kwh }) => lost_energy_kwh)),
            power_kw > 0 && `${formatPower(power_kw)} lost now`,
          ],
          [
            'Revenue lost',
            formatMoney(
              sumKnown(alerts, ({ lost_amount }) => lost_amount),
              currency,
            ),
            unknown > 0 && `without ${unknown} of unknown price`,
          ],
        ])}
      </SimpleGrid>
      {count > received && (
        <Text size="sm">
          The newest {received} of {count.toLocaleString('en')} alerts. Older alerts are in the
          report “Alerts and O&amp;M”.
        </Text>
      )}
    </>
  )
}

interface AlertGroupProps {
  title: string
  list: Alert[]
  selected: ReadonlySet<number>
  select: (id: number, is_selected: boolean) => void
}

function AlertGroup({ title, list, selected, select }: AlertGroupProps) {
  const [shown_count, setShown] = useState(at_once)
  if (list.length === 0) return null
  return (
    <Stack gap="xs">
      <Heading>
        {title} ({list.length})
      </Heading>
      {list.slice(0, shown_count).map((alert) => (
        <AlertRow
          key={alert.alert_id}
          alert={alert}
          is_selected={selected.has(alert.alert_id)}
          onSelect={(is_selected) => select(alert.alert_id, is_selected)}
        />
      ))}
      {list.length > shown_count && (
        <Button variant="default" onClick={() => setShown(shown_count + at_once)}>
          Show {Math.min(at_once, list.length - shown_count)} more
        </Button>
      )}
    </Stack>
  )
}

interface AlertRowProps {
  alert: Alert
  is_selected: boolean
  onSelect: (is_selected: boolean) => void
}

/** The row opens the alert. The checkbox is large enough for touch. */
function AlertRow({ alert, is_selected, onSelect }: AlertRowProps) {
  const { timezone } = useSite()
  const may = useMay()
  const filters = useFilters()
  const where = deviceText(useDevices(), alert)
  const { alert_id, lost_energy_kwh, lost_amount, currency, suppressed_reason } = alert
  return (
    <Paper withBorder>
      <Group wrap="nowrap" gap={0} align="stretch">
        {may('alerts:write') || may('om:write') ? (
          <Box p="sm" component="label" style={{ cursor: 'pointer' }}>
            <Checkbox
              size="md"
              aria-label={`Select ${alert.title}, ${where ?? alert.source_id}`}
              disabled={alert.status === 'resolved'}
              checked={is_selected}
              onChange={(event) => onSelect(event.currentTarget.checked)}
            />
          </Box>
        ) : (
          <Box w={12} />
        )}
        <UnstyledButton
          py="xs"
          pr="sm"
          style={{ flex: 1, minWidth: 0 }}
          onClick={() => filters.set({ alert_id: String(alert_id) })}
        >
          <Group justify="space-between" gap={4}>
            <Group gap="2px 10px">
              <Text fw={600} span>
                {alert.title}
              </Text>
              {where && <Text span>{where}</Text>}
            </Group>
            <Group gap="xs">
              <SeverityBadge severity={alert.severity} />
              {alert.status !== 'active' && <StateBadge state={alert.status} />}
            </Group>
          </Group>
          <Muted lineClamp={2}>{inSiteTime(alert.message, timezone)}</Muted>
          <Group gap="2px 16px">
            <Text size="sm" span>
              since <Time at={alert.started_at} />
            </Text>
            {lost_energy_kwh !== null && lost_energy_kwh > 0 && (
              <Text size="sm" span fw={600}>
                {lostWords(alert)} {formatEnergy(lost_energy_kwh)}
                {lost_amount !== null && `, ${formatMoney(lost_amount, currency)}`}
              </Text>
            )}
            {suppressed_reason && (
              <Text size="sm" span>
                suppressed: {suppressed_reason}
              </Text>
            )}
            {alert.work_order_id !== null && (
              <Text size="sm" span>
                work order created
              </Text>
            )}
          </Group>
        </UnstyledButton>
      </Group>
    </Paper>
  )
}

interface SelectionBarProps {
  chosen: readonly Alert[]
  onStep: (kind: Step['kind']) => void
  onClear: () => void
}

/** Fixed at the lower edge, within reach of a thumb. */
function SelectionBar({ chosen, onStep, onClear }: SelectionBarProps) {
  const ids = chosen.map(({ alert_id }) => alert_id).join(',')
  const to_take = chosen.some(({ status }) => status === 'active')
  return (
    <Paper
      withBorder
      shadow="md"
      p="xs"
      role="region"
      aria-label="Selected alerts"
      style={{ position: 'sticky', bottom: 8, zIndex: 10 }}
    >
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {chosen.length} selected
        </Text>
        <WriteButton scope="alerts:write" disabled={!to_take} onClick={() => onStep('acknowledge')}>
          Acknowledge
        </WriteButton>
        <WriteButton scope="alerts:write" variant="default" onClick={() => onStep('resolve')}>
          Resolve
        </WriteButton>
        <WriteButton scope="om:write" variant="default" to={`/work-orders/new?alert_ids=${ids}`}>
          Create work order
        </WriteButton>
        <Button variant="subtle" onClick={onClear}>
          Clear
        </Button>
      </Group>
    </Paper>
  )
}

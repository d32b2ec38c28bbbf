import type { CurtailmentGroup, CurtailmentRelease, CurtailmentRow } from '@heliograph/sdk'
import {
  Alert,
  Badge,
  Box,
  Button,
  Card,
  Group,
  List,
  NativeSelect,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core'
import { IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { askPlatform, heliograph } from '../../api.ts'
import { useMay, useSite } from '../../queries.ts'
import { whole } from '../../ui/badges.tsx'
import { type Column, column, DataTable, numeric, wrapped } from '../../ui/data-table.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Dialog, Modal, WriteButton } from '../../ui/form.tsx'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
  inUnit,
} from '../../ui/format.ts'
import { Muted, Notice, noted, Page, Part, Time, useNow } from '../../ui/page.tsx'
import { Answered, Empty, Failure } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { LimitModal } from './curtailment/limit-modal.tsx'
import { useHistory, usePlants, useRows } from './curtailment/reads.ts'
import type { RequestedLimit } from './curtailment/requested-limit.ts'
import {
  type Command,
  commandsOf,
  endOf,
  isStuck,
  isWithdrawn,
  limitWords,
  outsiderOf,
  releasingReason,
  stateOf,
  stepsOf,
} from './curtailment/rows.ts'
import { StandingOrders } from './curtailment/standing-orders.tsx'
import { Suggestions } from './curtailment/suggestions.tsx'
import { Timeline } from './curtailment/timeline.tsx'
import { plantWarnings } from './curtailment/warnings.ts'

export default function Curtailment() {
  const rows = useRows()
  const plants = usePlants()
  const { commissioning_safe_mode } = useSite()
  const [requested, setRequested] = useState<Partial<RequestedLimit> | null>(null)
  const [releasing, setReleasing] = useState<Command | null>(null)
  const [closing, setClosing] = useState<Command | null>(null)
  const [made, setMade] = useState<CurtailmentGroup | null>(null)
  return (
    <Page
      title="Curtailment"
      actions={
        <WriteButton scope="curtailment:write" disabled={!plants} onClick={() => setRequested({})}>
          Limit output
        </WriteButton>
      }
    >
      <Text c="dimmed">
        Limits only lower output. The grid permit is enforced on site in any case.
        {commissioning_safe_mode && ' In commissioning safe mode limits cannot be set or released.'}
      </Text>
      <Warnings made={made} onClose={() => setMade(null)} />
      <Answered query={rows}>
        {({ data }) => (
          <Part title="Active and scheduled" gap="sm">
            {data.length === 0 ? (
              <Empty title="No limits">No limit is in force or scheduled.</Empty>
            ) : (
              commandsOf(data).map((command) => (
                <CommandCard
                  key={command.rows[0]!.id}
                  command={command}
                  onRelease={() => setReleasing(command)}
                  onCloseRecord={() => setClosing(command)}
                />
              ))
            )}
          </Part>
        )}
      </Answered>
      {/* Shown only with the orders: an empty timeline would read as “no limit”. */}
      {rows.data && <Timeline rows={rows.data.data} />}
      <Suggestions onTake={setRequested} />
      {plants && <StandingOrders plants={plants} />}
      <History />
      {releasing && <ReleaseModal command={releasing} onClose={() => setReleasing(null)} />}
      {closing && <CloseModal command={closing} onClose={() => setClosing(null)} />}
      {requested && plants && (
        <LimitModal
          plants={plants}
          requested={requested}
          rows={rows.data?.data}
          onClose={() => setRequested(null)}
          onMade={setMade}
        />
      )}
    </Page>
  )
}

function Warnings({ made, onClose }: { made: CurtailmentGroup | null; onClose: () => void }) {
  const { plantName } = useDevices()
  if (!made || made.warnings.length === 0) return null
  return (
    <Alert
      variant="default"
      title="Limit recorded"
      role="status"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      {made.warnings.includes('logger_offline') && (
        <Text size="sm">The site is offline. The limit applies as soon as it is back online.</Text>
      )}
      {plantWarnings(made.warnings, plantName).map((text) => (
        <Text key={text} size="sm" fw={600}>
          {text}
        </Text>
      ))}
      {made.warnings.some((warning) => warning.startsWith('overlaps_group')) && (
        <Text size="sm">Another limit overlaps. The lowest limit applies.</Text>
      )}
    </Alert>
  )
}

interface CommandCardProps {
  command: Command
  onRelease: () => void
  onCloseRecord: () => void
}

function CommandCard({ command: { rows }, onRelease, onCloseRecord }: CommandCardProps) {
  const may = useMay()
  const now_ms = useNow(10_000)
  const [first] = rows
  if (!first) return null
  const { group_id, source, created_by, start_at, end_at, id } = first
  const outsider = outsiderOf(first)
  const record = group_id ?? id
  return (
    <Card padding="sm">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={3} size="h4">
            Limit {limitWords(first)}
          </Title>
          <Text size="sm">
            <Time at={start_at} /> – {end_at === null ? 'until replaced' : <Time at={end_at} />}
          </Text>
          <Muted>
            {outsider !== null &&
              `Ordered by ${outsider} at the plant. Only ${outsider} can end it.`}
            {outsider === null && requestedBy({ source, created_by })}
          </Muted>
        </div>
        <Group gap="xs">
          {may('curtailment:write') && rows.some((row) => isStuck(row, now_ms)) && (
            <Button variant="default" size="sm" onClick={onCloseRecord}>
              Close record
            </Button>
          )}
          {outsider === null && (
            <WriteButton scope="curtailment:write" variant="default" size="sm" onClick={onRelease}>
              Release
            </WriteButton>
          )}
        </Group>
      </Group>
      <Box visibleFrom="sm">
        <Rows rows={rows} label={`Plants of limit ${limitWords(first)} (record ${record})`} />
      </Box>
      <Box hiddenFrom="sm">
        <NarrowRows rows={rows} />
      </Box>
    </Card>
  )
}

function requestedBy({ source, created_by }: Pick<CurtailmentRow, 'source' | 'created_by'>) {
  if (source === 'edge_local') return 'Reported by the site'
  if (source === 'standing_order') return `Standing order, approved by ${created_by}`
  return `Requested by ${created_by}`
}

interface WithRows {
  rows: readonly CurtailmentRow[]
}

function Rows({ rows, label }: WithRows & { label: string }) {
  const { plantName } = useDevices()
  const columns: Column<CurtailmentRow>[] = [
    column('Plant', ({ logger_id }) => plantName(logger_id)),
    column('State', (row) => whole(stateOf(row).words, stateOf(row).tone)),
    numeric('Limit', ({ max_power_kw, limit_pct_of_rated }) =>
      noted(formatPower(max_power_kw), formatQuantity(limit_pct_of_rated, '%')),
    ),
    numeric('Limit of the devices', (row) => row.observed_limit_kw, formatPower),
    numeric('Power now', (row) => row.observed_power_kw, formatPower),
    wrapped('Progress', (row) => <Steps row={row} />),
  ]
  return <DataTable label={label} columns={columns} rows={rows} width={720} by="id" />
}

/** The same list for a phone. */
function NarrowRows({ rows }: WithRows) {
  const { plantName } = useDevices()
  return (
    <Stack gap="sm" mt="sm">
      {rows.map((row) => (
        <div key={row.id}>
          <Group gap="xs">
            <Text fw={600}>{plantName(row.logger_id)}</Text>
            <Badge color={stateOf(row).tone}>{stateOf(row).words}</Badge>
          </Group>
          <Text size="sm" className="figure">
            Limit {formatPower(row.max_power_kw)} ({formatNumber(row.limit_pct_of_rated)} %), limit
            of the devices {formatPower(row.observed_limit_kw)}, power now{' '}
            {formatPower(row.observed_power_kw)}
          </Text>
          <Steps row={row} />
        </div>
      ))}
    </Stack>
  )
}

function Steps({ row }: { row: CurtailmentRow }) {
  return (
    <Stack gap={4}>
      <Group gap="sm">
        {stepsOf(row).map(({ label, at }) => (
          <Group key={label} gap={4} wrap="nowrap">
            {at ? (
              <IconCircleCheck
                size={16}
                color="var(--mantine-color-teal-filled)"
                aria-label="done"
              />
            ) : (
              <IconCircle size={16} color="var(--mantine-color-dimmed)" aria-label="pending" />
            )}
            <Text size="sm" c={at ? undefined : 'dimmed'}>
              {label}
              {at && ' '}
              {at && <Time at={at} style="time" />}
            </Text>
          </Group>
        ))}
      </Group>
      {row.apply_latency_ms !== null && row.release_requested_at === null && (
        <Muted>In force {formatQuantity(row.apply_latency_ms / 1000, 's')} after the start</Muted>
      )}
      {row.releasing_reason && (
        <Text size="sm">{releasingReason(row)} The plant may still be limited.</Text>
      )}
      {row.failure_message && (
        <Text size="sm" fw={600}>
          {row.failure_message}
        </Text>
      )}
    </Stack>
  )
}

interface CommandModalProps {
  command: Command
  onClose: () => void
}

const note_characters_min = 3

/** Closes the record of a limit whose release the site has not confirmed. */
function CloseModal({ command: { group_id, rows }, onClose }: CommandModalProps) {
  const { site_id } = useSite()
  const { plantName } = useDevices()
  const [plants] = useState(rows.filter(({ status }) => status === 'releasing'))
  const [note, setNote] = useState('')
  const close = useWrite({
    write: (note: string) => askPlatform('POST', '/curtailment/close', { site_id, group_id, note }),
    done: 'Record closed. Nothing was sent to the site.',
    changes: ['curtailment'],
    onDone: onClose,
  })
  const is_filled = note.trim().length >= note_characters_min
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (is_filled) close.run(note.trim())
  }
  return (
    <Dialog
      title="Close the record"
      action="Close record"
      write={close}
      color="red.9"
      disabled={!is_filled}
      onSubmit={submit}
      onClose={onClose}
    >
      <Notice title="The plant may still be limited">
        The site has not confirmed the release at{' '}
        {plants.map(({ logger_id }) => plantName(logger_id)).join(', ')}. Closing the record sends
        nothing to the site and lifts no limit. Check the devices on site first.
      </Notice>
      <Text size="sm">The record ends here, and its alert resolves.</Text>
      <Textarea
        label="Reason"
        description="Stored with the record and in the audit."
        required
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        data-autofocus
      />
    </Dialog>
  )
}

function ReleaseModal({ command: { group_id, rows }, onClose }: CommandModalProps) {
  const { site_id } = useSite()
  const { plantName } = useDevices()
  const [released, setReleased] = useState<CurtailmentRelease | null>(null)
  // A copy, because the limit leaves the list after its release.
  const [asked] = useState(rows)
  const release = useWrite({
    // Orders from outside have no release.
    write: () => heliograph.curtailmentGroupRelease({ site_id, group_id: group_id! }),
    changes: ['curtailment'],
    onDone: setReleased,
  })
  const live = useRows(release.is_pending).data?.data
  const latestOf = (row: CurtailmentRow) => {
    const sameId = ({ id }: CurtailmentRow) => id === row.id
    return live?.find(sameId) ?? released?.schedules.find(sameId) ?? row
  }
  const [first] = asked
  const is_started = released || release.is_pending
  return (
    <Modal onClose={onClose} title="Release limit" size="lg">
      <Stack>
        {first && !is_started && (
          <Text>
            The limit of <strong>{limitWords(first)}</strong>{' '}
            {asked.some(({ is_active }) => is_active)
              ? 'ends now'
              : 'is withdrawn before its start'}
            {' for '}
            {asked.length === 1 ? 'one plant' : `${asked.length} plants`}. The grid permit and other
            limits still apply.
          </Text>
        )}
        {is_started && (
          <List listStyleType="none" spacing="xs" role="list">
            {asked.map(latestOf).map((row) => (
              <List.Item key={row.id}>
                <Text fw={600} size="sm">
                  {plantName(row.logger_id)}
                </Text>
                <Steps row={row} />
              </List.Item>
            ))}
          </List>
        )}
        {released && <Outcome released={released} />}
        {release.error && <Failure error={release.error} />}
        <Group justify="flex-end">
          {released ? (
            <Button onClick={onClose}>Close</Button>
          ) : (
            <>
              {/* The focus is here so that a held Enter key releases nothing. */}
              <Button variant="default" onClick={onClose} data-autofocus>
                {release.is_pending ? 'Close' : 'Cancel'}
              </Button>
              <Button onClick={() => release.run(undefined)} loading={release.is_pending}>
                Release now
              </Button>
            </>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

function Outcome({ released }: { released: CurtailmentRelease }) {
  const { pending_restore_count: pending, restored_count: restored } = released
  if (pending > 0) {
    return (
      <Notice title="Release not fully confirmed">
        The site has confirmed {restored} of {restored + pending} plants. The others may still be
        limited. The site keeps trying. The limit stays listed until the release is confirmed.
      </Notice>
    )
  }
  return (
    <Alert color="teal" title="Released" role="status">
      {restored > 0
        ? 'The devices confirm that the limit is lifted at every plant.'
        : 'The limit had not started.'}
    </Alert>
  )
}

function History() {
  const [days, setDays] = useState(7)
  const { plantName } = useDevices()
  const columns: Column<CurtailmentRow>[] = [
    column('Plant', ({ logger_id }) => plantName(logger_id)),
    column('From', ({ start_at }) => <Time at={start_at} />),
    column('To', (row) => <Time at={isWithdrawn(row) ? row.end_at : endOf(row)} />),
    column('Limit', (row) => noted(formatPower(row.max_power_kw), limitWords(row))),
    column('Outcome', (row) => (
      <>
        {whole(isWithdrawn(row) ? 'Withdrawn' : stateOf(row).words, stateOf(row).tone)}
        {row.failure_message && <Text size="sm">{row.failure_message}</Text>}
      </>
    )),
    numeric('Within limit', ({ compliance_pct }) => compliance_pct, inUnit('%')),
    numeric('Energy curtailed', ({ curtailed_energy_kwh }) => curtailed_energy_kwh, formatEnergy),
    numeric('Revenue lost', (row) => moneyOf(row, row.lost_revenue_amount)),
    numeric('Cost avoided', (row) => moneyOf(row, row.avoided_cost_amount)),
  ]
  return (
    <Part
      title="Past limits"
      gap="sm"
      aside={
        <NativeSelect
          aria-label="Period"
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={[7, 30, 90, 365].map((n) => ({ value: String(n), label: `Last ${n} days` }))}
        />
      }
    >
      <Answered query={useHistory(days)}>
        {({ data: rows }) => (
          <DataTable
            key={days}
            label="Past limits"
            width={860}
            page_size={12}
            nouns={['order', 'orders']}
            columns={columns}
            rows={rows}
            by="id"
            none={<Empty title="No past limits">No limit ended in the last {days} days.</Empty>}
          />
        )}
      </Answered>
    </Part>
  )
}

const moneyReasons: Record<string, string> = {
  no_contract: 'Unknown: the plant has no contract',
  no_price: 'Unknown: no market price is published',
  no_exchange_rate: 'Unknown: no exchange rate',
}

const moneyOf = ({ money_reason, currency }: CurtailmentRow, amount: number | null) => (
  <span title={money_reason ? moneyReasons[money_reason] : undefined}>
    {formatMoney(amount, currency)}
  </span>
)

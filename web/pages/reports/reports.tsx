import type { ReportRun, ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import {
  Badge,
  Button,
  Card,
  Group,
  Loader,
  Paper,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
  Title,
} from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { heliograph } from '../../api.ts'
import { useRead, useSite, useUser } from '../../queries.ts'
import { StateBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, numeric } from '../../ui/data-table.tsx'
import { Dialog, Problem, WriteButton } from '../../ui/form.tsx'
import { formatQuantity, formatTime, inUnit, inWords, none } from '../../ui/format.ts'
import { figures, Muted, noted, Page, Time } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Answered, Empty } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { type Edited, OnceDrawer, SubscriptionDrawer } from './drawers.tsx'
import { whenText } from './schedule.ts'

export default function Reports() {
  const { get, set } = useFilters()
  const [edited, setEdited] = useState<Edited | null>(null)
  const [once, setOnce] = useState<ReportTemplate | null>(null)
  const catalogue = useRead('report-catalog', 'reportsCatalog', {}, { staleTime: 600_000 })
  const templateOf = (id: string) =>
    catalogue.data?.data.find(({ template_id }) => template_id === id)
  const nameOf = (id: string) => templateOf(id)?.name ?? id
  return (
    <Page title="Reports">
      <Glance />
      <Tabs
        value={get('tab') ?? 'runs'}
        onChange={(tab) => set({ tab: tab === 'runs' ? null : tab })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="runs">Reports</Tabs.Tab>
          <Tabs.Tab value="subscriptions">Subscriptions</Tabs.Tab>
          <Tabs.Tab value="catalogue">Catalogue</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="runs">
          <RunList nameOf={nameOf} />
        </Tabs.Panel>
        <Tabs.Panel value="subscriptions">
          <SubscriptionList
            nameOf={nameOf}
            onEdit={(subscription) =>
              setEdited({ subscription, template: templateOf(subscription.template_id) })
            }
          />
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <Answered query={catalogue}>
            {({ data }) => (
              <Catalogue
                templates={data}
                onOnce={setOnce}
                onSubscribe={(template) => setEdited({ subscription: null, template })}
              />
            )}
          </Answered>
        </Tabs.Panel>
      </Tabs>
      <OnceDrawer
        template={once}
        onClose={() => setOnce(null)}
        onDone={() => {
          setOnce(null)
          set({ tab: null })
        }}
      />
      <SubscriptionDrawer
        edited={edited}
        onClose={() => setEdited(null)}
        onDone={() => {
          setEdited(null)
          set({ tab: 'subscriptions' })
        }}
      />
    </Page>
  )
}

function Glance() {
  const { data } = useRead('reports', 'reportsOverview', {}, 60_000)
  if (!data) return null
  const failed = data.runs_failed_last_30d
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
      {figures([
        ['Requested, 30 days', data.runs_last_30d],
        ['Failed, 30 days', failed, null, failed > 0 && 'bad'],
        ['Subscriptions', data.subscriptions_active, 'enabled'],
        ['Next report', <Time key="next" at={data.next_run_at} />],
      ])}
    </SimpleGrid>
  )
}

interface WithNames {
  nameOf: (template_id: string) => string
}

function NoneYet({ title, advice }: { title: string; advice: string }) {
  const { set } = useFilters()
  return (
    <Empty title={title}>
      <Stack align="center">
        {advice}
        <Button variant="default" onClick={() => set({ tab: 'catalogue' })}>
          Open catalogue
        </Button>
      </Stack>
    </Empty>
  )
}

const isUnderWay = ({ status }: ReportRun) => status === 'queued' || status === 'running'

function RunList({ nameOf }: WithNames) {
  const { timezone } = useSite()
  const runs = useRead(
    'reports',
    'reportRunsList',
    { limit: 50 },
    {
      // Often while somebody waits for a report.
      refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? 3000 : 30_000),
    },
  )
  const columns: Column<ReportRun>[] = [
    column('Report', (run) => noted(nameOf(run.template_id), periodOf(run, timezone))),
    column('File', (run) => <Download run={run} />),
    column('State', (run) => (
      <Stack gap={4} align="flex-start">
        <StateBadge state={run.status} />
        {isUnderWay(run) && <Loader size="xs" type="bar" aria-label="Creating the report" />}
        {run.error_message && <Text size="sm">{run.error_message}</Text>}
      </Stack>
    )),
    column('Requested', ({ queued_at, trigger, requested_by }) =>
      noted(<Time at={queued_at} />, trigger === 'schedule' ? 'by schedule' : `by ${requested_by}`),
    ),
    numeric('Data complete', (run) => run.data_completeness_pct, inUnit('%')),
    numeric('Mails sent', ({ recipients_sent }) => recipients_sent),
  ]
  return (
    <Answered query={runs}>
      {({ data: rows }) => (
        <DataTable
          label="Reports"
          width={760}
          columns={columns}
          rows={rows}
          by="run_id"
          sorts={false}
          none={
            <NoneYet
              title="No reports yet"
              advice="Create a report, or subscribe to one, from the catalogue."
            />
          }
        />
      )}
    </Answered>
  )
}

function periodOf({ period_start_at, period_end_at }: ReportRun, timezone: string) {
  // The end is exclusive.
  const last_at = new Date(Date.parse(period_end_at) - 1000).toISOString()
  const days = [period_start_at, last_at].map((at) => formatTime(at, timezone, 'date'))
  return [...new Set(days)].join(' to ')
}

function Download({ run }: { run: ReportRun }) {
  const { site_id } = useSite()
  const { run_id, file_name, file_size_bytes, format } = run
  const download = useWrite({
    write: async () => saveFile(await heliograph.file('reportRunFile', { site_id, run_id })),
  })
  if (run.status === 'expired') return 'Deleted'
  if (run.status !== 'succeeded') return none
  const size = formatQuantity(file_size_bytes === null ? null : file_size_bytes / 1024, 'KiB', 0)
  const text = `${format.toUpperCase()}, ${size}`
  return (
    <Stack gap={4}>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} />}
        loading={download.is_pending}
        aria-label={`${text}: download ${file_name ?? run_id}`}
        onClick={() => download.run(undefined)}
      >
        {text}
      </Button>
      <Problem error={download.error} />
    </Stack>
  )
}

interface SubscriptionListProps extends WithNames {
  onEdit: (subscription: ReportSubscription) => void
}

function SubscriptionList({ nameOf, onEdit }: SubscriptionListProps) {
  const [to_delete, setToDelete] = useState<ReportSubscription | null>(null)
  const subscriptions = useRead('reports', 'reportSubscriptionsList', {}, 30_000)
  return (
    <Answered query={subscriptions}>
      {({ data }) => (
        <Stack>
          {data.length === 0 && (
            <NoneYet
              title="No subscriptions yet"
              advice="Subscribe to a report from the catalogue."
            />
          )}
          {data.map((one) => (
            <Subscription
              key={one.sub_id}
              one={one}
              name={nameOf(one.template_id)}
              onEdit={() => onEdit(one)}
              onDelete={() => setToDelete(one)}
            />
          ))}
          {to_delete && <DeleteDialog one={to_delete} onClose={() => setToDelete(null)} />}
        </Stack>
      )}
    </Answered>
  )
}

const endings: Record<NonNullable<ReportSubscription['ended_reason']>, string> = {
  key_revoked: 'its key was revoked',
  key_expired: 'its key has expired',
  person_disabled: 'its account is disabled',
  person_removed: 'its account was removed',
  no_access: 'its key or account has no access to this site',
}

interface SubscriptionProps {
  one: ReportSubscription
  name: string
  onEdit: () => void
  onDelete: () => void
}

function Subscription({ one, name, onEdit, onDelete }: SubscriptionProps) {
  const { site_id } = useSite()
  const { sub_id, enabled } = one
  const running = useWrite({
    write: () => heliograph.reportSubscriptionRun({ site_id, sub_id }),
    done: 'Report is being created: see “Reports”',
    changes: ['reports'],
  })
  const button = { scope: 'reports:write', size: 'sm' }
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {one.name}
          </Title>
          {one.ended_reason === null ? (
            <Badge color={enabled ? 'teal' : 'gray'}>{enabled ? 'Enabled' : 'Disabled'}</Badge>
          ) : (
            <Badge color="orange">Ended</Badge>
          )}
        </Group>
        <Summary one={one} name={name} />
        {one.ended_reason && (
          <Text size="sm">
            {`Ended: ${endings[one.ended_reason]}. Change and enable the subscription to take it over.`}
          </Text>
        )}
        <Problem error={running.error} />
        <Group gap="xs">
          <WriteButton
            {...button}
            loading={running.is_pending}
            aria-label={`Run now: ${one.name}`}
            onClick={() => running.run(undefined)}
          >
            Run now
          </WriteButton>
          <WriteButton
            {...button}
            variant="default"
            aria-label={`Change: ${one.name}`}
            onClick={onEdit}
          >
            Change
          </WriteButton>
          <WriteButton
            {...button}
            variant="default"
            aria-label={`Delete: ${one.name}`}
            onClick={onDelete}
          >
            Delete
          </WriteButton>
        </Group>
      </Stack>
    </Paper>
  )
}

/** Schedule, recipients and last outcome of a subscription. */
function Summary({ one, name }: Pick<SubscriptionProps, 'one' | 'name'>) {
  const { mail_is_sent } = useUser()
  return (
    <>
      <Text size="sm">
        {name}, {one.format.toUpperCase()}, {whenText(one)}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {mailedWords(one.recipients, mail_is_sent)}
      </Text>
      <Group gap="md">
        {one.next_run_at && (
          <Text size="sm" span>
            Next <Time at={one.next_run_at} />
          </Text>
        )}
        {one.last_run_at && (
          <Text size="sm" span>
            Last <Time at={one.last_run_at} />
          </Text>
        )}
        {one.last_run_status && <StateBadge state={one.last_run_status} />}
        {one.failure_count > 0 && (
          <Text size="sm" span fw={600}>
            {one.failure_count} failed in a row
          </Text>
        )}
      </Group>
    </>
  )
}

function mailedWords(recipients: readonly string[], mail_is_sent: boolean): string {
  if (recipients.length === 0) return 'Not mailed'
  const addresses = recipients.join(', ')
  return mail_is_sent
    ? `Mailed to ${addresses}`
    : `Not mailed to ${addresses}: this server sends no mail`
}

function DeleteDialog({ one, onClose }: { one: ReportSubscription; onClose: () => void }) {
  const { site_id } = useSite()
  const { sub_id, name } = one
  const remove = useWrite({
    write: () => heliograph.reportSubscriptionDelete({ site_id, sub_id }),
    done: 'Subscription deleted',
    changes: ['reports'],
    onDone: onClose,
  })
  return (
    <Dialog
      title={`Delete ${name}`}
      action="Delete"
      scope="reports:write"
      color="red"
      write={remove}
      onAct={() => remove.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        No more reports are created, and queued ones are cancelled. Existing files stay.
      </Text>
    </Dialog>
  )
}

interface CatalogueProps {
  templates: readonly ReportTemplate[]
  onOnce: (template: ReportTemplate) => void
  onSubscribe: (template: ReportTemplate) => void
}

const categories: Record<string, string> = { bess: 'Battery', om: 'Maintenance' }

function Catalogue({ templates, onOnce, onSubscribe }: CatalogueProps) {
  const { modules, scopes } = useUser()
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
      {templates.map((template) => {
        const { name, category } = template
        const lacking = template.required_scopes.filter((scope) => !scopes.includes(scope))
        const is_in_plan = modules.includes(template.required_module)
        const periods = template.periods.map((one) => (one === 'custom' ? 'free dates' : one))
        return (
          <Card key={template.template_id}>
            <Stack gap="xs" h="100%">
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <Title order={2} size="h5">
                  {name}
                </Title>
                <Badge color="gray">{categories[category] ?? inWords(category)}</Badge>
              </Group>
              <Text size="sm" style={{ flex: 1 }}>
                {template.description}
              </Text>
              <Muted>
                As {template.formats.join(', ').toUpperCase()}, about a {periods.join(', ')}
              </Muted>
              {!is_in_plan && <Text size="sm">Your plan does not include it.</Text>}
              {is_in_plan && lacking.length > 0 && (
                <Text size="sm">Leaves out sections that need {lacking.join(', ')}.</Text>
              )}
              {is_in_plan && (
                <Group gap="xs">
                  <WriteButton
                    scope="reports:write"
                    size="sm"
                    aria-label={`Create report: ${name}`}
                    onClick={() => onOnce(template)}
                  >
                    Create report
                  </WriteButton>
                  <WriteButton
                    scope="reports:write"
                    size="sm"
                    variant="default"
                    aria-label={`Subscribe: ${name}`}
                    onClick={() => onSubscribe(template)}
                  >
                    Subscribe
                  </WriteButton>
                </Group>
              )}
            </Stack>
          </Card>
        )
      })}
    </SimpleGrid>
  )
}

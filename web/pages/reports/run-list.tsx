import type { ReportRun, ReportTemplate } from '@heliograph/sdk'
import { Button, Loader, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { heliograph } from '../../api.ts'
import { useRead } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { type Column, DataTable, numeric } from '../../ui/data-table.tsx'
import { formatQuantity, formatTime } from '../../ui/format.ts'
import { Muted } from '../../ui/muted.tsx'
import { Problem } from '../../ui/problem.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { StateBadge } from '../../ui/severity.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useWrite } from '../../ui/use-write.ts'

interface RunListProps {
  site_id: string
  templates: readonly ReportTemplate[]
  onCreate: () => void
}

const isUnderWay = ({ status }: ReportRun) => status === 'queued' || status === 'running'

export function RunList({ site_id, templates, onCreate }: RunListProps) {
  const { timezone } = useSite()
  const runs = useRead(
    'reports',
    'reportRunsList',
    { site_id, limit: 50 },
    {
      // Often while somebody waits for a report.
      refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? 3000 : 30_000),
    },
  )
  const nameOf = (id: string) => templates.find((one) => one.template_id === id)?.name ?? id
  const columns: Column<ReportRun>[] = [
    {
      name: 'Report',
      cell: (run) => (
        <>
          {nameOf(run.template_id)}
          <Muted>
            <Period {...{ run, timezone }} />
          </Muted>
        </>
      ),
    },
    { name: 'File', cell: (run) => <Download {...{ site_id, run }} /> },
    { name: 'State', cell: (run) => <RunState run={run} /> },
    {
      name: 'Requested',
      cell: (run) => (
        <>
          <Time at={run.queued_at} />
          <Muted>{run.trigger === 'schedule' ? 'by schedule' : `by ${run.requested_by}`}</Muted>
        </>
      ),
    },
    numeric('Data complete', (run) => formatQuantity(run.data_completeness_pct, '%')),
    numeric('Mails sent', ({ recipients_sent }) => recipients_sent),
  ]
  return (
    <Answered query={runs}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No reports yet">
            <Stack align="center">
              Create a report, or subscribe to one, from the catalogue.
              <Button variant="default" onClick={onCreate}>
                Open catalogue
              </Button>
            </Stack>
          </Empty>
        ) : (
          <DataTable
            label="Reports"
            width={760}
            {...{ columns, rows: data }}
            keyOf={({ run_id }) => run_id}
          />
        )
      }
    </Answered>
  )
}

function Period({ run, timezone }: { run: ReportRun; timezone: string }) {
  // The end is exclusive.
  const last_at = new Date(Date.parse(run.period_end_at) - 1000).toISOString()
  const [first, last] = [run.period_start_at, last_at].map((at) => formatTime(at, timezone, 'date'))
  return first === last ? first : `${first} to ${last}`
}

function RunState({ run }: { run: ReportRun }) {
  return (
    <Stack gap={4} align="flex-start">
      <StateBadge state={run.status} />
      {isUnderWay(run) && <Loader size="xs" type="bar" aria-label="Creating the report" />}
      {run.error_message && <Text size="sm">{run.error_message}</Text>}
    </Stack>
  )
}

function Download({ site_id, run }: { site_id: string; run: ReportRun }) {
  const { run_id, file_name, file_size_bytes, format } = run
  const download = useWrite({
    write: async () => saveFile(await heliograph.file('reportRunFile', { site_id, run_id })),
    changes: [],
  })
  if (run.status === 'expired') return 'Deleted'
  if (run.status !== 'succeeded') return '–'
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

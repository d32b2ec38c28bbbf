import { Badge, Button, Code, Group, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { PlatformAuditEntry, PlatformAuditEntryList } from '../../generated/platform.ts'
import { usePlatformList, useSites } from '../../queries.ts'
import { type Column, column, DataTable, EarlierItems, wrapped } from '../../ui/data-table.tsx'
import { LocalTime, noted, Page } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { isDone, kindOf, whatOf } from './audit/entry.ts'

const outcomes = [
  { value: '', label: 'All' },
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Refused' },
]

export default function Audit() {
  const [site_id, setSite] = useState<string | null>(null)
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState('')
  const filter: Record<string, string> = site_id === null ? {} : { site_id }
  const audit = usePlatformList<PlatformAuditEntryList>('audit', '/audit', filter, {})
  const { data: sites } = useSites()
  const isShown = (entry: PlatformAuditEntry) =>
    (outcome === '' || isDone(entry) === (outcome === 'done')) &&
    [entry.by_name, entry.by, entry.address, whatOf(entry), entry.path, entry.body]
      .join(' ')
      .toLowerCase()
      .includes(text.trim().toLowerCase())
  return (
    <Page title="Audit">
      <Text c="dimmed">
        Changes, commands, refused requests and sign-ins of the last 400 days. Times are in the zone
        of your browser.
      </Text>
      <Group align="end">
        <Select
          label="Site"
          placeholder="All sites, and the client"
          clearable
          clearButtonProps={{ 'aria-label': 'All sites' }}
          data={(sites?.data ?? []).map((one) => ({ value: one.site_id, label: one.name }))}
          value={site_id}
          onChange={setSite}
        />
        <TextInput
          label="Search"
          placeholder="Name, path or IP address"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Select
          label="Outcome"
          data={outcomes}
          allowDeselect={false}
          value={outcome}
          onChange={(chosen) => setOutcome(chosen ?? '')}
        />
        <Button variant="default" onClick={() => void audit.refetch()}>
          Reload
        </Button>
      </Group>
      <Answered query={audit}>
        {({ pages }) => {
          const entries = pages.flatMap(({ data }) => data)
          if (entries.length === 0) return <Empty title="No entries yet" />
          return (
            <DataTable
              label="Audit"
              width={720}
              columns={columns}
              rows={entries.filter(isShown)}
              by={({ site_id, audit_id }) => `${site_id}/${audit_id}`}
              sorts={false}
              none={
                <Empty title="No entries match the filters">
                  {audit.hasNextPage &&
                    `Searched the newest ${entries.length}: load earlier entries.`}
                </Empty>
              }
            />
          )
        }}
      </Answered>
      <EarlierItems list={audit} noun="entries" />
    </Page>
  )
}

const columns: readonly Column<PlatformAuditEntry>[] = [
  column('Time', ({ at }) => <LocalTime at={at} />),
  wrapped('By', (entry) =>
    noted(
      <span title={entry.by}>{entry.by_name}</span>,
      [kindOf(entry), entry.address].filter(Boolean).join(', '),
    ),
  ),
  wrapped('Action', (entry) => (
    <>
      <Text size="sm">{whatOf(entry)}</Text>
      {entry.body && entry.body !== '{}' && (
        <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>{entry.body}</Code>
      )}
    </>
  )),
  column('Outcome', (entry) => <Outcome entry={entry} />),
]

function Outcome({ entry }: { entry: PlatformAuditEntry }) {
  const { status, request_id } = entry
  const [word, color] =
    status === null ? ['Pending', 'gray'] : isDone(entry) ? ['Done', 'teal'] : ['Refused', 'red']
  return (
    <Badge miw="max-content" color={color} title={request_id ? `Request ${request_id}` : undefined}>
      {[word, status].filter(Boolean).join(' ')}
    </Badge>
  )
}

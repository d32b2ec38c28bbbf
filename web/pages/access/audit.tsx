import { Badge, Button, Code, Group, Select, Table, Text, TextInput } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { askPlatform } from '../../api.ts'
import { useSites, useUser } from '../../queries.ts'
import { here } from '../../ui/here.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { RowTable } from '../../ui/row-table.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import NotFound from '../not-found.tsx'
import { type Entry, isDone, kindOf, whatOf } from './audit/entry.ts'

const page_size = 100

interface AuditPage {
  data: Entry[]
  meta: { next_cursor: string | null }
}

function useAudit(site_id: string | null) {
  return useInfiniteQuery({
    queryKey: ['audit', site_id],
    initialPageParam: null as string | null,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: String(page_size) })
      if (site_id) query.set('site_id', site_id)
      if (pageParam) query.set('cursor', pageParam)
      return askPlatform<AuditPage>('GET', `/audit?${query}`)
    },
    getNextPageParam: ({ meta }) => meta.next_cursor,
  })
}

const outcomes = [
  { value: '', label: 'All' },
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Refused' },
]

export default function Audit() {
  return useUser().role === 'administrator' ? <Records /> : <NotFound />
}

function Records() {
  const [site_id, setSite] = useState<string | null>(null)
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState('')
  const audit = useAudit(site_id)
  const { data: sites } = useSites()
  const isShown = (entry: Entry) =>
    (outcome === '' || isDone(entry) === (outcome === 'done')) &&
    [entry.by_name, entry.by, entry.address, whatOf(entry), entry.path, entry.body]
      .join(' ')
      .toLowerCase()
      .includes(text.trim().toLowerCase())
  return (
    <Page title="Audit">
      <Text c="dimmed">
        What people and keys changed, commanded or were refused, and who signed in, for the last 400
        days. Times are those of your own clock.
      </Text>
      <Group align="end">
        <Select
          label="Site"
          placeholder="All, and the client"
          clearable
          clearButtonProps={{ 'aria-label': 'All sites' }}
          data={(sites?.data ?? []).map((one) => ({ value: one.site_id, label: one.name }))}
          value={site_id}
          onChange={setSite}
        />
        <TextInput
          label="By whom, or what"
          placeholder="Name, path or address"
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
          Read again
        </Button>
      </Group>
      <Answered query={audit}>
        {({ pages }) => (
          <Entries
            entries={pages.flatMap(({ data }) => data)}
            isShown={isShown}
            is_all={!audit.hasNextPage}
          />
        )}
      </Answered>
      <Problem error={audit.data ? audit.error : null} />
      {audit.hasNextPage && (
        <Button
          variant="default"
          loading={audit.isFetchingNextPage}
          onClick={() => void audit.fetchNextPage()}
        >
          Show earlier ones
        </Button>
      )}
    </Page>
  )
}

interface EntriesProps {
  entries: readonly Entry[]
  isShown(entry: Entry): boolean
  is_all: boolean
}

const head = ['When', 'By', 'What', 'Outcome']

function Entries({ entries, isShown, is_all }: EntriesProps) {
  const shown = entries.filter(isShown)
  if (entries.length === 0) return <Empty title="Nothing was done yet" />
  if (shown.length === 0) {
    return (
      <Empty title="None of these">
        {is_all
          ? 'Nothing is like that.'
          : `None of the newest ${entries.length}: show earlier ones.`}
      </Empty>
    )
  }
  return (
    <RowTable label="Audit" min_width={720} head={head}>
      {shown.map((entry) => (
        <Table.Tr key={`${entry.site_id}/${entry.audit_id}`}>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <Time at={entry.at} timezone={here} />
          </Table.Td>
          <Table.Td>
            <span title={entry.by}>{entry.by_name}</span>
            <Text size="xs" c="dimmed">
              {kindOf(entry)}
              {entry.address && `, ${entry.address}`}
            </Text>
          </Table.Td>
          <Table.Td>
            <Text size="sm">{whatOf(entry)}</Text>
            {entry.body && entry.body !== '{}' && (
              <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>{entry.body}</Code>
            )}
          </Table.Td>
          <Table.Td>
            <Badge
              miw="max-content"
              color={entry.status === null ? 'gray' : isDone(entry) ? 'teal' : 'red'}
              title={entry.request_id ? `Request ${entry.request_id}` : undefined}
            >
              {entry.status === null
                ? 'waiting'
                : `${isDone(entry) ? 'done' : 'refused'} ${entry.status}`}
            </Badge>
          </Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  )
}

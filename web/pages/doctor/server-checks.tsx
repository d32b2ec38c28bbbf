import { Badge, Text } from '@mantine/core'
import type { PlatformDoctorCheck, PlatformDoctorCheckList } from '../../generated/platform.ts'
import { usePlatform } from '../../queries.ts'
import { type Column, column, DataTable, wrapped } from '../../ui/data-table.tsx'
import { inWords, none } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'

const tones = { ok: 'teal', warning: 'orange', error: 'red' } as const
const names = { ok: 'OK', warning: 'Warning', error: 'Error' } as const

const columns: Column<PlatformDoctorCheck>[] = [
  column('Check', ({ name }) => <Text fw={500}>{inWords(name)}</Text>),
  column('State', ({ state }) => <Badge color={tones[state]}>{names[state]}</Badge>),
  wrapped('Finding', ({ finding }) => finding),
  wrapped('What to do', ({ action }) => action ?? none),
]

export default function ServerChecks() {
  const checks = usePlatform<PlatformDoctorCheckList>('doctor', '/doctor', 60_000)
  return (
    <Page title="Server checks">
      <Answered query={checks}>
        {({ data }) => (
          <DataTable label="Checks" width={820} columns={columns} rows={data} by="name" />
        )}
      </Answered>
      <Text c="dimmed" size="sm">
        The same as the command heliograph doctor on the machine of the server.
      </Text>
    </Page>
  )
}

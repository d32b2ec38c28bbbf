import { Card, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useUser } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { Password } from './account/password.tsx'
import { SecondFactor } from './account/second-factor.tsx'
import { Sessions } from './account/sessions.tsx'

const roles = {
  viewer: 'Viewer: reads everything, changes nothing',
  operator: 'Operator: reads, commands and changes',
  administrator: 'Administrator: everything, including keys and people',
} as const

export default function Account() {
  const user = useUser()
  return (
    <Page title="My account">
      <Stack maw={760}>
        <Card withBorder>
          <Table variant="vertical" layout="fixed" withRowBorders={false}>
            <Table.Tbody>
              <Fact name="Name">{user.name}</Fact>
              <Fact name="E-mail">{user.email}</Fact>
              <Fact name="Role">{roles[user.role]}</Fact>
              <Fact name="Client">{user.client}</Fact>
            </Table.Tbody>
          </Table>
        </Card>
        <Part title="Password">
          <Password />
        </Part>
        <Part title="Second factor">
          <SecondFactor is_on={user.two_factor_enabled} />
        </Part>
        <Part title="Where you are signed in">
          <Sessions />
        </Part>
      </Stack>
    </Page>
  )
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <Table.Tr>
      <Table.Th w={110} bg="transparent">
        {name}
      </Table.Th>
      <Table.Td>
        <Text style={{ overflowWrap: 'anywhere' }}>{children}</Text>
      </Table.Td>
    </Table.Tr>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Stack gap="sm">
        <Group>
          <Title order={2} size="h4">
            {title}
          </Title>
        </Group>
        {children}
      </Stack>
    </Card>
  )
}

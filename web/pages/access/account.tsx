import {
  Anchor,
  Badge,
  Button,
  Card,
  Group,
  PasswordInput,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { QRCodeSVG } from 'qrcode.react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { askPlatform } from '../../api.ts'
import { useUser } from '../../queries.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { NewPasswordFields } from '../../ui/fields.tsx'
import { Problem, SubmitForm } from '../../ui/form.tsx'
import { Heading, LocalTime, Muted, Page } from '../../ui/page.tsx'
import { checkAgain, checkNewPassword, show_password } from '../../ui/passwords.ts'
import { Answered } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'

const roles = {
  viewer: 'Viewer: reads everything, changes nothing',
  operator: 'Operator: reads, commands and changes',
  administrator: 'Administrator: everything, including keys and people',
} as const

export default function Account() {
  const user = useUser()
  const facts = [
    ['Name', user.name],
    ['E-mail', user.email],
    ['Role', roles[user.role]],
    ['Client', user.client],
  ]
  return (
    <Page title="My account">
      <Stack maw={760}>
        <Card>
          <Table variant="vertical" layout="fixed" withRowBorders={false}>
            <Table.Tbody>
              {facts.map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th w={110} bg="transparent">
                    {name}
                  </Table.Th>
                  <Table.Td>
                    <Text style={{ overflowWrap: 'anywhere' }}>{value}</Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Card>
        <AccountPart title="Password">
          <Password />
        </AccountPart>
        <AccountPart title="Second factor">
          <SecondFactor is_on={user.two_factor_enabled} />
        </AccountPart>
        <AccountPart title="Where you are signed in">
          <Sessions />
        </AccountPart>
      </Stack>
    </Page>
  )
}

const AccountPart = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card component="section" aria-label={title}>
    <Stack gap="sm">
      <Group>
        <Heading>{title}</Heading>
      </Group>
      {children}
    </Stack>
  </Card>
)

function Password() {
  const form = useForm({
    initialValues: { current: '', next: '', again: '' },
    validate: {
      current: (current) => (current === '' ? 'Enter your present password.' : null),
      next: checkNewPassword,
      again: (again, { next }) => checkAgain(again, next),
    },
  })
  const change = useWrite({
    write: ({ current, next }: typeof form.values) =>
      askPlatform('POST', '/auth/change-password', {
        currentPassword: current,
        newPassword: next,
        revokeOtherSessions: true,
      }),
    done: 'Password changed. You are signed out on other devices.',
    changes: ['account'],
    onDone: form.reset,
  })
  return (
    <SubmitForm
      form={form}
      write={change}
      action="Change password"
      words={{ INVALID_PASSWORD: 'Wrong present password.' }}
      gap="sm"
      maw={420}
    >
      <PasswordInput
        label="Present password"
        autoComplete="current-password"
        visibilityToggleButtonProps={show_password}
        {...form.getInputProps('current')}
      />
      <NewPasswordFields
        description="You are signed out on other devices."
        first={form.getInputProps('next')}
        again={form.getInputProps('again')}
      />
    </SubmitForm>
  )
}

interface Prepared {
  totpURI: string
  backupCodes: string[]
}

const words = {
  INVALID_PASSWORD: 'Wrong password.',
  INVALID_CODE: 'Wrong or expired code: enter the next one.',
}

/** The second factor is enabled only after a code was verified, so that nobody is locked out. */
function SecondFactor({ is_on }: { is_on: boolean }) {
  const [prepared, setPrepared] = useState<Prepared | null>(null)
  const prepare = useWrite({
    write: (body: Confirmation) => askPlatform<Prepared>('POST', '/auth/two-factor/enable', body),
    onDone: setPrepared,
  })
  const turnOff = useWrite({
    write: (body: Confirmation) => askPlatform('POST', '/auth/two-factor/disable', body),
    done: 'Second factor disabled',
    changes: ['session'],
  })
  if (prepared) return <Confirm prepared={prepared} onDone={() => setPrepared(null)} />
  const write = is_on ? turnOff : prepare
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={is_on ? 'teal' : 'gray'}>{is_on ? 'On' : 'Off'}</Badge>
        <Text size="sm">
          {is_on
            ? 'Sign-in requires a code of your authenticator app.'
            : 'Sign-in with a code of an authenticator app in addition to the password.'}
        </Text>
      </Group>
      <WithPassword key={String(is_on)} action={is_on ? 'Disable' : 'Set up'} write={write} />
    </Stack>
  )
}

interface Confirmation {
  password: string
}

interface WithPasswordProps {
  action: string
  write: { is_pending: boolean; error: unknown; run(given: Confirmation): void }
}

function WithPassword({ action, write }: WithPasswordProps) {
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? 'Enter your password.' : null) },
  })
  return (
    <SubmitForm
      form={form}
      write={write}
      action={action}
      words={words}
      variant="default"
      gap="sm"
      maw={420}
    >
      <PasswordInput
        label="Your password"
        description="Confirms that it is you."
        autoComplete="current-password"
        visibilityToggleButtonProps={show_password}
        {...form.getInputProps('password')}
      />
    </SubmitForm>
  )
}

function Confirm({ prepared, onDone }: { prepared: Prepared; onDone(): void }) {
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const verify = useWrite({
    write: () => askPlatform('POST', '/auth/two-factor/verify-totp', { code }),
    done: 'Second factor enabled',
    changes: ['session', 'account'],
    onDone,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const is_code = /^\d{6}$/.test(code)
    setProblem(is_code ? null : 'Enter the six digits of the app.')
    if (is_code) verify.run(undefined)
  }
  const secret = new URL(prepared.totpURI).searchParams.get('secret') ?? ''
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">
          1. Scan this with your authenticator app, or on this device{' '}
          <Anchor href={prepared.totpURI} underline="always">
            open it in the app
          </Anchor>
          .
        </Text>
        <QRCodeSVG
          value={prepared.totpURI}
          size={180}
          marginSize={4}
          title="QR code of the secret"
        />
        <CopyText label="Secret" text={secret} />
        <Text size="sm">
          2. Store these codes away from your phone. Each works once instead of the app.
        </Text>
        <CopyText label="Backup codes" text={prepared.backupCodes.join('\n')} />
        <TextInput
          label="3. Present code of the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={6}
          maw={260}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value.trim())}
          error={problem}
        />
        <Problem error={verify.error} words={words} />
        <Group>
          <Button type="submit" loading={verify.is_pending}>
            Enable
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface Session {
  id: string
  token: string
  createdAt: string
  ipAddress: string | null
  userAgent: string | null
}

async function readSessions() {
  const [sessions, present] = await Promise.all([
    askPlatform<Session[]>('GET', '/auth/list-sessions'),
    askPlatform<{ session: Session } | null>('GET', '/auth/get-session'),
  ])
  return sessions
    .map((session) => ({ ...session, is_here: session.id === present?.session.id }))
    .toSorted(
      (a, b) => Number(b.is_here) - Number(a.is_here) || (a.createdAt < b.createdAt ? 1 : -1),
    )
}

function Sessions() {
  const sessions = useQuery({ queryKey: ['account', 'sessions'], queryFn: readSessions })
  const end = useWrite({
    write: (token: string) => askPlatform('POST', '/auth/revoke-session', { token }),
    done: 'Session signed out',
    changes: ['account'],
  })
  const endOthers = useWrite({
    write: () => askPlatform('POST', '/auth/revoke-other-sessions'),
    done: 'Other sessions signed out',
    changes: ['account'],
  })
  return (
    <Answered query={sessions}>
      {(all) => (
        <Stack gap="xs">
          {all.slice(0, shown_max).map((session) => (
            <Group key={session.id} justify="space-between" wrap="nowrap">
              <div>
                <Text size="sm" component="div">
                  {deviceOf(session.userAgent)} at {session.ipAddress || 'unknown address'}{' '}
                  {session.is_here && <Badge color="teal">This session</Badge>}
                </Text>
                <Muted>
                  since <LocalTime at={session.createdAt} />
                </Muted>
              </div>
              {!session.is_here && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => end.run(session.token)}
                  aria-label={`Sign out ${deviceOf(session.userAgent)}`}
                >
                  Sign out
                </Button>
              )}
            </Group>
          ))}
          {all.length > shown_max && <Muted>and {all.length - shown_max} older</Muted>}
          <Problem error={end.error ?? endOthers.error} />
          {all.length > 1 && (
            <Button
              variant="default"
              loading={endOthers.is_pending}
              onClick={() => endOthers.run(undefined)}
              style={{ alignSelf: 'flex-start' }}
            >
              Sign out other sessions
            </Button>
          )}
        </Stack>
      )}
    </Answered>
  )
}

const shown_max = 10

/** Names by the part of a user agent that tells them; the first that is found counts. */
const browsers = { 'Edg/': 'Edge', 'Firefox/': 'Firefox', 'Chrome/': 'Chrome', 'Safari/': 'Safari' }
const systems = {
  Android: 'Android',
  iPhone: 'iPhone',
  iPad: 'iPad',
  Windows: 'Windows',
  'Mac OS': 'macOS',
  Linux: 'Linux',
}

function deviceOf(agent: string | null): string {
  const find = (names: Record<string, string>) =>
    Object.entries(names).find(([part]) => agent?.includes(part))?.[1]
  return [find(browsers), find(systems)].filter(Boolean).join(' on ') || 'Unknown device'
}

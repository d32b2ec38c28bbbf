import { HeliographError } from '@heliograph/sdk'
import { Alert, Button, Center, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { askPlatform, type Role } from '../../api.ts'
import { NewPasswordFields } from '../../ui/new-password-fields.tsx'
import { checkAgain, checkNewPassword } from '../../ui/passwords.ts'
import { leadTo, Problem, withFields } from '../../ui/problem.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'

interface OpenInvitation {
  client: string
  email: string | null
  role: Role
  expires_at: string
}

export default function Invitation() {
  const token = window.location.hash.slice(1)
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => askPlatform<OpenInvitation>('POST', '/invitations/look', { token }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  useEffect(() => {
    document.title = 'Invitation – Heliograph'
  }, [])
  return (
    <Center mih="100vh" p="md" component="main">
      {invitation.isPending && <Loading />}
      {invitation.error instanceof HeliographError && invitation.error.code === 'not_found' && (
        <Alert color="orange" title="This link does not work any more" role="alert">
          It was used, has ended or was taken back. Ask for another one.
        </Alert>
      )}
      {invitation.error instanceof HeliographError && invitation.error.code !== 'not_found' && (
        <Failure error={invitation.error} onRetry={() => void invitation.refetch()} />
      )}
      {invitation.data && <NewAccount token={token} invitation={invitation.data} />}
    </Center>
  )
}

function NewAccount({ token, invitation }: { token: string; invitation: OpenInvitation }) {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { name: '', email: invitation.email ?? '', password: '', again: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Your name is needed.' : null),
      email: (email) => (/^\S+@\S+$/.test(email) ? null : 'An e-mail address is needed.'),
      password: checkNewPassword,
      again: (again, { password }) => checkAgain(again, password),
    },
  })
  const { run, is_pending, error } = useWrite({
    write: async ({ name, email, password }: typeof form.values) => {
      const own = invitation.email === null ? { email: email.trim() } : {}
      const body = { token, name: name.trim(), password, ...own }
      const made = await withFields(form, () =>
        askPlatform<{ email: string }>('POST', '/invitations/accept', body),
      )
      // The account is there, whatever becomes of this: one may also sign in by hand.
      const credentials = { email: made.email, password }
      await askPlatform('POST', '/auth/sign-in/email', credentials).catch(() => null)
    },
    changes: [],
    onDone: () => {
      queries.clear()
      go('/')
    },
  })
  return (
    <Paper withBorder p="lg" w={420} maw="100%">
      <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
        <Stack>
          <Title order={1} size="h3">
            Your account at {invitation.client}
          </Title>
          <Text>You are invited as {invitation.role}.</Text>
          <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            readOnly={invitation.email !== null}
            {...form.getInputProps('email')}
          />
          <NewPasswordFields
            label="Password"
            first={form.getInputProps('password')}
            again={form.getInputProps('again')}
          />
          <Problem error={error} />
          <Button type="submit" loading={is_pending}>
            Make the account
          </Button>
        </Stack>
      </form>
    </Paper>
  )
}

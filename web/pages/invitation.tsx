import { HeliographError } from '@heliograph/sdk'
import {
  Alert,
  Button,
  Center,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { askPlatform, type Role } from '../api.ts'
import { Failure, Loading } from '../ui/states.tsx'

interface OpenInvitation {
  client: string
  email: string | null
  role: Role
  expires_at: string
}

const password_characters_min = 12

export default function Invitation() {
  const token = window.location.hash.slice(1)
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => askPlatform<OpenInvitation>('POST', '/invitations/look', { token }),
    staleTime: Number.POSITIVE_INFINITY,
  })
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
  const [is_busy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { name: '', email: invitation.email ?? '', password: '', again: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'How are you called?' : null),
      email: (email) => (/^\S+@\S+$/.test(email) ? null : 'An e-mail address is needed.'),
      password: (password) =>
        [...password].length < password_characters_min
          ? `At least ${password_characters_min} characters: a sentence is easy to keep in mind.`
          : null,
      again: (again, { password }) => (again === password ? null : 'The two are not the same.'),
    },
  })
  const submit = form.onSubmit(async ({ name, email, password }) => {
    if (is_busy) return
    setBusy(true)
    try {
      const own = invitation.email === null ? { email: email.trim() } : {}
      const body = { token, name: name.trim(), password, ...own }
      const made = await askPlatform<{ email: string }>('POST', '/invitations/accept', body)
      await askPlatform('POST', '/auth/sign-in/email', { email: made.email, password })
      queries.clear()
      go('/')
    } catch (error) {
      const violations = error instanceof HeliographError ? error.violations : []
      for (const { field, message } of violations) form.setFieldError(field, message)
      if (violations.length === 0) form.setFieldError('name', (error as Error).message)
    } finally {
      setBusy(false)
    }
  })
  return (
    <Paper withBorder p="lg" w={420} maw="100%">
      <form onSubmit={submit} noValidate>
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
          <PasswordInput
            label="Password"
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label="Password once more"
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            {...form.getInputProps('again')}
          />
          <Button type="submit" loading={is_busy}>
            Make the account
          </Button>
        </Stack>
      </form>
    </Paper>
  )
}

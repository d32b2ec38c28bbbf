import { isCode } from '@heliograph/sdk'
import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { askPlatform } from '../../api.ts'
import type { PlatformOpenInvitation } from '../../generated/platform.ts'
import { NewPasswordFields } from '../../ui/fields.tsx'
import { leadTo, Problem, withFields } from '../../ui/form.tsx'
import { OpenPage } from '../../ui/page.tsx'
import { checkAgain, checkNewPassword } from '../../ui/passwords.ts'
import { Answered } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'

export default function Invitation() {
  const token = window.location.hash.slice(1)
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => askPlatform<PlatformOpenInvitation>('POST', '/invitations/look', { token }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const is_gone = isCode(invitation.error, 'not_found')
  return (
    <OpenPage
      heading={invitation.data ? `Your account at ${invitation.data.client}` : 'Invitation'}
      title="Invitation"
    >
      {is_gone ? (
        <Alert variant="light" color="orange" title="This link is no longer valid" role="alert">
          It has been used, has expired or was revoked. Ask for a new one.
        </Alert>
      ) : (
        <Answered query={invitation}>
          {(open) => <NewAccount token={token} invitation={open} />}
        </Answered>
      )}
    </OpenPage>
  )
}

function NewAccount({ token, invitation }: { token: string; invitation: PlatformOpenInvitation }) {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { name: '', email: invitation.email ?? '', password: '', again: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter your name.' : null),
      email: (email) => (/^\S+@\S+$/.test(email) ? null : 'Enter an e-mail address.'),
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
      // The account exists even if this fails: people can sign in by hand.
      const credentials = { email: made.email, password }
      await askPlatform('POST', '/auth/sign-in/email', credentials).catch(() => null)
    },
    onDone: () => {
      queries.clear()
      go('/')
    },
  })
  return (
    <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
      <Stack>
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
          Create account
        </Button>
      </Stack>
    </form>
  )
}

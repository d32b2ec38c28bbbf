import { Alert, Anchor, Button, Center, Paper, Stack, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { askPlatform } from '../../api.ts'
import { NewPasswordFields } from '../../ui/new-password-fields.tsx'
import { checkAgain, checkNewPassword } from '../../ui/passwords.ts'
import { leadTo, Problem } from '../../ui/problem.tsx'
import { useWrite } from '../../ui/use-write.ts'

/** By the link of a mail, or of who runs the server. */
export default function NewPassword() {
  const token = window.location.hash.slice(1)
  const [, go] = useLocation()
  useEffect(() => {
    document.title = 'New password – Heliograph'
  }, [])
  const form = useForm({
    initialValues: { next: '', again: '' },
    validate: {
      next: checkNewPassword,
      again: (again, { next }) => checkAgain(again, next),
    },
  })
  const { run, is_pending, error } = useWrite({
    write: ({ next }: typeof form.values) =>
      askPlatform('POST', '/auth/reset-password', { token, newPassword: next }),
    done: 'The password is changed: sign in with it.',
    changes: [],
    onDone: () => go('/sign-in'),
  })
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={380} maw="100%">
        <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
          <Stack>
            <Title order={1} size="h3">
              Choose a new password
            </Title>
            {token === '' && (
              <Alert color="orange" variant="outline" role="alert">
                This address is not whole: open the link as it is in the mail.
              </Alert>
            )}
            <NewPasswordFields
              description="At least 12 characters. You are signed out everywhere."
              first={form.getInputProps('next')}
              again={form.getInputProps('again')}
            />
            <Problem
              error={error}
              words={{
                INVALID_TOKEN: 'This link was used already or has ended: ask for a new one.',
              }}
            />
            <Button type="submit" loading={is_pending}>
              Set it
            </Button>
            <Anchor component={Link} href="/sign-in" size="sm" ta="center">
              To the sign-in
            </Anchor>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}

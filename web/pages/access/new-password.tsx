import { Anchor, Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useLocation } from 'wouter'
import { askPlatform } from '../../api.ts'
import { NewPasswordFields } from '../../ui/fields.tsx'
import { leadTo, Problem } from '../../ui/form.tsx'
import { OpenPage } from '../../ui/page.tsx'
import { checkAgain, checkNewPassword } from '../../ui/passwords.ts'
import { useWrite } from '../../ui/use-write.ts'

/** Opened by a link that was mailed, or made by the operator of the server. */
export default function NewPassword() {
  const token = window.location.hash.slice(1)
  const [, go] = useLocation()
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
    done: 'Password changed: sign in with the new one',
    onDone: () => go('/sign-in'),
  })
  return (
    <OpenPage heading="Choose a new password" title="New password" token={token}>
      <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
        <Stack>
          <NewPasswordFields
            description="At least 12 characters. You are signed out everywhere."
            first={form.getInputProps('next')}
            again={form.getInputProps('again')}
          />
          <Problem
            error={error}
            words={{
              INVALID_TOKEN: 'This link has been used already or has expired: request a new one.',
            }}
          />
          <Button type="submit" loading={is_pending}>
            Set password
          </Button>
          <Anchor component={Link} href="/sign-in" size="sm" ta="center">
            Sign in
          </Anchor>
        </Stack>
      </form>
    </OpenPage>
  )
}

import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { askPlatform } from '../../../api.ts'
import { NewPasswordFields } from '../../../ui/new-password-fields.tsx'
import { checkAgain, checkNewPassword, show_password } from '../../../ui/passwords.ts'
import { leadTo, Problem } from '../../../ui/problem.tsx'
import { useWrite } from '../../../ui/use-write.ts'

export function Password() {
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
    changes: [['account', 'sessions']],
    onDone: form.reset,
  })
  return (
    <form onSubmit={form.onSubmit(change.run, leadTo(form))} noValidate>
      <Stack gap="sm" maw={420}>
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
        <Problem error={change.error} words={{ INVALID_PASSWORD: 'Wrong present password.' }} />
        <Button type="submit" loading={change.is_pending} style={{ alignSelf: 'flex-start' }}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}

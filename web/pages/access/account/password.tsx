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
      current: (current) => (current === '' ? 'The present password is needed.' : null),
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
    done: 'The password is changed. Elsewhere you are signed out.',
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
          description="You are signed out everywhere else."
          first={form.getInputProps('next')}
          again={form.getInputProps('again')}
        />
        <Problem
          error={change.error}
          words={{ INVALID_PASSWORD: 'The present password is wrong.' }}
        />
        <Button type="submit" loading={change.is_pending} style={{ alignSelf: 'flex-start' }}>
          Change it
        </Button>
      </Stack>
    </form>
  )
}

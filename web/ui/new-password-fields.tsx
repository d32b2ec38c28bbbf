import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { show_password } from './passwords.ts'

/** A password that is chosen, typed twice: `checkNewPassword` and `checkAgain` are their rules. */
export function NewPasswordFields({
  label = 'New password',
  description,
  first,
  again,
}: {
  label?: string
  description?: string
  /** What `getInputProps` of the form gives. */
  first: PasswordInputProps
  again: PasswordInputProps
}) {
  const common = {
    autoComplete: 'new-password',
    visibilityToggleButtonProps: show_password,
  }
  return (
    <>
      <PasswordInput {...common} label={label} description={description} {...first} />
      <PasswordInput {...common} label={`${label} once more`} {...again} />
    </>
  )
}

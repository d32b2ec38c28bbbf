import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { show_password } from './passwords.ts'

/** Two fields for a new password; their rules are `checkNewPassword` and `checkAgain`. */
export function NewPasswordFields({
  label = 'New password',
  description,
  first,
  again,
}: {
  label?: string
  description?: string
  /** Results of `getInputProps`. */
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
      <PasswordInput {...common} label={`Repeat ${label.toLowerCase()}`} {...again} />
    </>
  )
}

import { HeliographError } from '@heliograph/sdk'
import {
  Alert,
  Anchor,
  Button,
  PasswordInput,
  PinInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { askPlatform } from '../../api.ts'
import { leadTo } from '../../ui/form.tsx'
import { OpenPage } from '../../ui/page.tsx'
import { show_password } from '../../ui/passwords.ts'
import { useWrite } from '../../ui/use-write.ts'

type Step = 'password' | 'code' | 'backup' | 'forgotten' | 'sent'

const blank = { email: '', password: '', code: '' }
type Values = typeof blank

/** Address to open after sign-in; only paths of this server. */
export function wayBack(search: string): string {
  const back = new URLSearchParams(search).get('back') ?? '/'
  return /^\/(?![/\\])/.test(back) ? back : '/'
}

/** Errors by field, found before anything is sent. */
function wrongOf(step: Step, { email, password, code }: Values) {
  if (step === 'code')
    return /^\d{6}$/.test(code) ? {} : { code: 'Enter the six digits of the app.' }
  if (step === 'backup') return code.trim() ? {} : { code: 'Enter one of your backup codes.' }
  return {
    ...(/^\S+@\S+$/.test(email.trim()) ? {} : { email: 'Enter an e-mail address.' }),
    ...(step === 'password' && password === '' && { password: 'Enter your password.' }),
  }
}

/** Returns the next step, or null after sign-in. */
async function submitStep(step: Step, values: Values): Promise<Step | null> {
  const { password } = values
  const [email, code] = [values.email.trim(), values.code.trim()]
  if (step === 'password') {
    type Answer = { twoFactorRedirect?: boolean }
    const body = { email, password }
    const answer = await askPlatform<Answer>('POST', '/auth/sign-in/email', body)
    return answer.twoFactorRedirect ? 'code' : null
  }
  if (step === 'forgotten') {
    await askPlatform('POST', '/auth/request-password-reset', { email })
    return 'sent'
  }
  const path = step === 'code' ? 'verify-totp' : 'verify-backup-code'
  await askPlatform('POST', `/auth/two-factor/${path}`, { code })
  return null
}

export default function SignIn() {
  const [step, setStep] = useState<Step>('password')
  const form = useForm<Values>({
    initialValues: blank,
    validate: (values) => wrongOf(step, values),
  })
  const queries = useQueryClient()
  const [, go] = useLocation()
  const { run, is_pending, error, reset } = useWrite({
    write: (values: Values) => submitStep(step, values),
    onDone: (next) => {
      if (next !== null) return setStep(next)
      queries.clear()
      go(wayBack(window.location.search))
    },
  })
  const turnTo = (next: Step) => {
    setStep(next)
    reset()
    form.clearErrors()
    form.setFieldValue('code', '')
  }
  const forgot = step === 'forgotten' || step === 'sent'
  return (
    <OpenPage heading={forgot ? 'New password' : 'Sign in to Heliograph'} title="Sign in">
      <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
        <Stack>
          {error && (
            <Alert color="red" role="alert">
              {inWords(error)}
            </Alert>
          )}
          <Fields step={step} form={form} />
          {step !== 'sent' && (
            <Button type="submit" loading={is_pending}>
              {step === 'forgotten' ? 'Send link' : 'Sign in'}
            </Button>
          )}
          <OtherWay step={step} turnTo={turnTo} />
        </Stack>
      </form>
    </OpenPage>
  )
}

function Fields({ step, form }: { step: Step; form: UseFormReturnType<Values> }) {
  if (step === 'code') return <CodeField {...form.getInputProps('code')} />
  if (step === 'backup') {
    return <TextInput label="Backup code" autoComplete="off" {...form.getInputProps('code')} />
  }
  if (step === 'sent') {
    return (
      <Text>
        If an account with this address exists, a link to set a new password has been mailed. If
        this server sends no mail, its operator can make a link on the command line.
      </Text>
    )
  }
  return (
    <>
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        {...form.getInputProps('email')}
      />
      {step === 'password' && (
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          visibilityToggleButtonProps={show_password}
          {...form.getInputProps('password')}
        />
      )}
    </>
  )
}

interface CodeFieldProps {
  value?: string
  onChange?: (code: string) => void
  error?: string
}

function CodeField({ value, onChange, error }: CodeFieldProps) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        Authenticator code
      </Text>
      <PinInput
        length={6}
        type="number"
        oneTimeCode
        autoFocus
        ariaLabel="Authenticator code"
        getInputProps={(nth) => ({ 'aria-label': `Digit ${nth + 1} of 6` })}
        value={value}
        onChange={onChange}
        error={Boolean(error)}
      />
      {error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  )
}

function OtherWay({ step, turnTo }: { step: Step; turnTo: (next: Step) => void }) {
  const [next, label]: [Step, string] =
    step === 'password'
      ? ['forgotten', 'Forgot the password?']
      : step === 'code'
        ? ['backup', 'Use a backup code']
        : ['password', 'Back']
  return (
    <Anchor component="button" type="button" size="sm" onClick={() => turnTo(next)}>
      {label}
    </Anchor>
  )
}

function inWords(error: unknown): string {
  if (!(error instanceof HeliographError)) return 'Something went wrong. Try again.'
  if (error.code === 'INVALID_EMAIL_OR_PASSWORD') return 'Wrong e-mail or password.'
  if (error.code === 'INVALID_CODE') return 'Wrong or expired code: enter the next one.'
  if (error.code === 'INVALID_EMAIL') return 'Enter an e-mail address.'
  if (error.status === 429 && error.code !== 'LOCKED_OUT')
    return 'Too many attempts: wait a minute.'
  return error.message
}

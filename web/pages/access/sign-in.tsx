import { HeliographError } from '@heliograph/sdk'
import {
  Alert,
  Anchor,
  Button,
  Center,
  Paper,
  PasswordInput,
  PinInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { askPlatform } from '../../api.ts'
import { show_password } from '../../ui/passwords.ts'
import { leadTo } from '../../ui/problem.tsx'

type Step = 'password' | 'code' | 'backup' | 'forgotten' | 'sent'

const blank = { email: '', password: '', code: '' }
type Values = typeof blank

/** The address to go on with; only one of this server. */
export function wayBack(search: string): string {
  const back = new URLSearchParams(search).get('back') ?? '/'
  return /^\/(?![/\\])/.test(back) ? back : '/'
}

/** What is missing, before anything is sent. */
function wrongOf(step: Step, { email, password, code }: Values) {
  if (step === 'code') return /^\d{6}$/.test(code) ? {} : { code: 'Six digits, as the app shows.' }
  if (step === 'backup') return code.trim() ? {} : { code: 'One of your backup codes is needed.' }
  return {
    ...(/^\S+@\S+$/.test(email.trim()) ? {} : { email: 'An e-mail address is needed.' }),
    ...(step === 'password' && password === '' && { password: 'Your password is needed.' }),
  }
}

/** Returns the step that follows; null: signed in. */
async function submitStep(step: Step, values: Values): Promise<Step | null> {
  const { password } = values
  const [email, code] = [values.email.trim(), values.code.trim()]
  if (step === 'password') {
    const body = { email, password }
    const answer = await askPlatform<{ twoFactorRedirect?: boolean }>(
      'POST',
      '/auth/sign-in/email',
      body,
    )
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

function useSignIn() {
  const [step, setStep] = useState<Step>('password')
  const form = useForm<Values>({
    initialValues: blank,
    validate: (values) => wrongOf(step, values),
  })
  const [problem, setProblem] = useState<string | null>(null)
  const [is_busy, setBusy] = useState(false)
  const queries = useQueryClient()
  const [, go] = useLocation()

  const submit = form.onSubmit(async (values) => {
    if (is_busy) return
    setBusy(true)
    setProblem(null)
    try {
      const next = await submitStep(step, values)
      if (next !== null) return setStep(next)
      queries.clear()
      go(wayBack(window.location.search))
    } catch (error) {
      setProblem(inWords(error))
    } finally {
      setBusy(false)
    }
  }, leadTo(form))
  return {
    step,
    form,
    problem,
    is_busy,
    submit,
    turnTo(next: Step) {
      setStep(next)
      setProblem(null)
      form.clearErrors()
      form.setFieldValue('code', '')
    },
  }
}

type SignInState = ReturnType<typeof useSignIn>

export default function SignIn() {
  const state = useSignIn()
  const { step, problem, is_busy, submit } = state
  const forgot = step === 'forgotten' || step === 'sent'
  useEffect(() => {
    document.title = 'Sign in – Heliograph'
  }, [])
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={380} maw="100%">
        <form onSubmit={submit} noValidate>
          <Stack>
            <Title order={1} size="h3">
              {forgot ? 'A new password' : 'Sign in to Heliograph'}
            </Title>
            {problem && (
              <Alert color="red" role="alert" variant="outline">
                {problem}
              </Alert>
            )}
            <Fields state={state} />
            {step !== 'sent' && (
              <Button type="submit" loading={is_busy}>
                {step === 'forgotten' ? 'Send a link' : 'Sign in'}
              </Button>
            )}
            <OtherWay state={state} />
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}

function Fields({ state: { step, form } }: { state: SignInState }) {
  if (step === 'code') return <CodeField {...form.getInputProps('code')} />
  if (step === 'backup') {
    return (
      <TextInput
        label="One of your backup codes"
        autoComplete="off"
        {...form.getInputProps('code')}
      />
    )
  }
  if (step === 'sent') {
    return (
      <Text>
        If there is an account of this address, a link to a new password is on its way. Where this
        server sends no mails, its operator makes one by the command line.
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
        Code of your authenticator
      </Text>
      <PinInput
        length={6}
        type="number"
        oneTimeCode
        autoFocus
        ariaLabel="Code of your authenticator"
        getInputProps={(nth) => ({ 'aria-label': `Digit ${nth + 1} of 6 of the code` })}
        {...{ value, onChange, error: Boolean(error) }}
      />
      {error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  )
}

function OtherWay({ state: { step, turnTo } }: { state: SignInState }) {
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
  if (!(error instanceof HeliographError)) return 'Something went wrong: try again.'
  if (error.code === 'INVALID_EMAIL_OR_PASSWORD') return 'E-mail or password is wrong.'
  if (error.code === 'INVALID_CODE') return 'The code is wrong, or over: try the next one.'
  if (error.code === 'INVALID_EMAIL') return 'An e-mail address is needed.'
  if (error.status === 429 && error.code !== 'LOCKED_OUT') return 'Too many tries: wait a minute.'
  return error.message
}

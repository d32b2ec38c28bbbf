import { Anchor, Badge, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { QRCodeSVG } from 'qrcode.react'
import { type FormEvent, useState } from 'react'
import { askPlatform } from '../../../api.ts'
import { CopyText } from '../../../ui/copy-text.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { useWrite } from '../../../ui/use-write.ts'

interface Prepared {
  totpURI: string
  backupCodes: string[]
}

const words = {
  INVALID_PASSWORD: 'Wrong password.',
  INVALID_CODE: 'Wrong or expired code: enter the next one.',
}

/** The second factor is enabled only after a code was verified, so that nobody is locked out. */
export function SecondFactor({ is_on }: { is_on: boolean }) {
  const [prepared, setPrepared] = useState<Prepared | null>(null)
  const prepare = useWrite({
    write: (password: string) =>
      askPlatform<Prepared>('POST', '/auth/two-factor/enable', { password }),
    changes: [],
    onDone: setPrepared,
  })
  const turnOff = useWrite({
    write: (password: string) => askPlatform('POST', '/auth/two-factor/disable', { password }),
    done: 'Second factor disabled',
    changes: [['session']],
  })
  if (prepared) return <Confirm prepared={prepared} onDone={() => setPrepared(null)} />
  const write = is_on ? turnOff : prepare
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={is_on ? 'teal' : 'gray'}>{is_on ? 'On' : 'Off'}</Badge>
        <Text size="sm">
          {is_on
            ? 'Sign-in requires a code of your authenticator app.'
            : 'Sign-in with a code of an authenticator app in addition to the password.'}
        </Text>
      </Group>
      <WithPassword
        key={String(is_on)}
        action={is_on ? 'Disable' : 'Set up'}
        is_pending={write.is_pending}
        error={write.error}
        onSubmit={write.run}
      />
    </Stack>
  )
}

interface WithPasswordProps {
  action: string
  is_pending: boolean
  error: unknown
  onSubmit(password: string): void
}

function WithPassword({ action, is_pending, error, onSubmit }: WithPasswordProps) {
  const [password, setPassword] = useState('')
  const [is_empty, setEmpty] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setEmpty(password === '')
    if (password !== '') onSubmit(password)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" maw={420}>
        <PasswordInput
          label="Your password"
          description="Confirms that it is you."
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={is_empty && password === '' ? 'Enter your password.' : null}
        />
        <Problem error={error} words={words} />
        <Button
          type="submit"
          variant="default"
          loading={is_pending}
          style={{ alignSelf: 'flex-start' }}
        >
          {action}
        </Button>
      </Stack>
    </form>
  )
}

function Confirm({ prepared, onDone }: { prepared: Prepared; onDone(): void }) {
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const verify = useWrite({
    write: () => askPlatform('POST', '/auth/two-factor/verify-totp', { code }),
    done: 'Second factor enabled',
    changes: [['session'], ['account', 'sessions']],
    onDone,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const is_code = /^\d{6}$/.test(code)
    setProblem(is_code ? null : 'Enter the six digits of the app.')
    if (is_code) verify.run(undefined)
  }
  const secret = new URL(prepared.totpURI).searchParams.get('secret') ?? ''
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">
          1. Scan this with your authenticator app, or on this device{' '}
          <Anchor href={prepared.totpURI} underline="always">
            open it in the app
          </Anchor>
          .
        </Text>
        <QRCodeSVG
          value={prepared.totpURI}
          size={180}
          marginSize={4}
          title="QR code of the secret"
        />
        <CopyText label="Secret" text={secret} />
        <Text size="sm">
          2. Store these codes away from your phone. Each works once instead of the app.
        </Text>
        <CopyText label="Backup codes" text={prepared.backupCodes.join('\n')} />
        <TextInput
          label="3. Present code of the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={6}
          maw={260}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value.trim())}
          error={problem}
        />
        <Problem error={verify.error} words={words} />
        <Group>
          <Button type="submit" loading={verify.is_pending}>
            Enable
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

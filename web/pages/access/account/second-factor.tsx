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
  INVALID_PASSWORD: 'The password is wrong.',
  INVALID_CODE: 'The code is wrong, or over: try the next one.',
}

/** On only once a code was typed: who loses the way halfway is not locked out. */
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
    done: 'The second factor is off.',
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
            ? 'Signing in takes a code of your authenticator, too.'
            : 'A code of an authenticator app, besides the password, when you sign in.'}
        </Text>
      </Group>
      <WithPassword
        key={String(is_on)}
        action={is_on ? 'Turn it off' : 'Set it up'}
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
          description="So that nobody else does it at your screen."
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={is_empty && password === '' ? 'Your password is needed.' : null}
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
    done: 'The second factor is on.',
    changes: [['session'], ['account', 'sessions']],
    onDone,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const is_code = /^\d{6}$/.test(code)
    setProblem(is_code ? null : 'Six digits, as the app shows them.')
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
          title="The secret for an authenticator app, as a picture"
        />
        <CopyText label="Secret" text={secret} />
        <Text size="sm">
          2. Keep these codes where the phone is not. Each lets you in once without it.
        </Text>
        <CopyText label="Backup codes" text={prepared.backupCodes.join('\n')} />
        <TextInput
          label="3. The code that the app shows now"
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
            Turn it on
          </Button>
          <Button variant="default" onClick={onDone}>
            Not now
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

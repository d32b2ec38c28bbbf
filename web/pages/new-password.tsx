import { Alert, Button, Center, Paper, PasswordInput, Stack, Title } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { askPlatform } from '../api.ts'

export default function NewPassword() {
  const token = window.location.hash.slice(1)
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [is_busy, setBusy] = useState(false)
  const [, go] = useLocation()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (is_busy) return
    setBusy(true)
    try {
      await askPlatform('POST', '/auth/reset-password', { token, newPassword: password })
      go('/sign-in')
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={380} maw="100%">
        <form onSubmit={submit} noValidate>
          <Stack>
            <Title order={1} size="h3">
              Choose a new password
            </Title>
            {problem && (
              <Alert color="red" role="alert" variant="outline">
                {problem}
              </Alert>
            )}
            <PasswordInput
              label="New password"
              description="At least 12 characters. You are signed out everywhere."
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            />
            <Button type="submit" loading={is_busy}>
              Set it
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}

import { Alert, Button, Center, Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { askPlatform } from '../../api.ts'
import { Problem } from '../../ui/problem.tsx'
import { useWrite } from '../../ui/use-write.ts'

interface Confirmed {
  email: string
  client: string
}

/** By the link of a mail. Opening it confirms nothing: programs open links of mails, too. */
export default function ConfirmAddress() {
  const token = window.location.hash.slice(1)
  const [confirmed, setConfirmed] = useState<Confirmed | null>(null)
  useEffect(() => {
    document.title = 'Confirm address – Heliograph'
  }, [])
  const { run, is_pending, error } = useWrite({
    write: (_: undefined) => askPlatform<Confirmed>('POST', '/recipients/confirm', { token }),
    done: 'The address is confirmed',
    changes: [],
    onDone: setConfirmed,
  })
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w={380} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            Receive reports
          </Title>
          {token === '' && (
            <Alert color="orange" variant="outline" role="alert">
              This address is not whole: open the link as it is in the mail.
            </Alert>
          )}
          {confirmed ? (
            <Text>{`Reports of ${confirmed.client} are mailed to ${confirmed.email}.`}</Text>
          ) : (
            <>
              <Text>Confirm that reports may be mailed to your address.</Text>
              <Problem
                error={error}
                words={{ not_found: 'This link was used already or has ended.' }}
              />
              <Button loading={is_pending} onClick={() => run(undefined)}>
                Confirm
              </Button>
            </>
          )}
        </Stack>
      </Paper>
    </Center>
  )
}

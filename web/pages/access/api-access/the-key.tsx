import { connect, HeliographError } from '@heliograph/sdk'
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyText } from '../../../ui/copy-text.tsx'
import { Modal } from '../../../ui/modal.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import type { ShownKey } from './keys.ts'

/** Shows a new key once. The dialog closes only by its button. */
export function TheKey({ made, onClose }: { made: ShownKey; onClose(): void }) {
  const curl = `curl -H "Authorization: Bearer ${made.key}" \\\n  ${location.origin}/v1/sites`
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Key “${made.name}”`}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="orange" variant="outline">
          The key is shown only once. Store it in a safe place.
        </Alert>
        <CopyText label="Key" text={made.key} />
        <CopyText label="Example request" text={curl} />
        <TryIt secret={made.key} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const shown_characters_max = 4000

function TryIt({ secret }: { secret: string }) {
  const [problem, setProblem] = useState<string | null>(null)
  const [answer, setAnswer] = useState<string | null>(null)
  const call = useWrite({
    write: async () => {
      setProblem(null)
      try {
        // The SDK sends no cookies with a key.
        const sites = await connect({ api_key: secret, retries: 0 }).sitesList()
        setAnswer(JSON.stringify(sites, null, 2).slice(0, shown_characters_max))
      } catch (error) {
        setProblem(inWords(error))
      }
    },
    changes: [],
  })
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" loading={call.is_pending} onClick={() => call.run(undefined)}>
          Try it: GET /v1/sites
        </Button>
        {answer && <Text size="sm">200: the key is valid.</Text>}
      </Group>
      {problem && (
        <Alert color="red" variant="outline" role="alert">
          {problem}
        </Alert>
      )}
      {answer && (
        <Code block tabIndex={0} mah={220} style={{ overflow: 'auto' }} aria-label="Answer">
          {answer}
        </Code>
      )}
    </Stack>
  )
}

function inWords(error: unknown): string {
  if (!(error instanceof HeliographError)) return String(error)
  return error.status === null ? error.message : `${error.status}: ${error.message}`
}

import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../../../api.ts'
import type {
  PlatformEnrolment,
  PlatformEnrolmentList,
  PlatformNewEnrolment,
} from '../../../generated/platform.ts'
import { usePlatform, useSite } from '../../../queries.ts'
import { CopyText } from '../../../ui/copy-text.tsx'
import { Dialog, Problem } from '../../../ui/form.tsx'
import { LocalTime, Notice, Section } from '../../../ui/page.tsx'
import { Answered } from '../../../ui/states.tsx'
import { useWrite } from '../../../ui/use-write.ts'

const changes = ['enrolments', 'edges']

/** For administrators: the command for the gateway, and the question of a take-over. */
export function SetUp() {
  const { site_id } = useSite()
  const [made, setMade] = useState<PlatformNewEnrolment | null>(null)
  const enrolments = usePlatform<PlatformEnrolmentList>('enrolments', '/enrolments', 5000)
  const create = useWrite({
    write: () => askPlatform<PlatformNewEnrolment>('POST', '/enrolments', { site_id }),
    changes,
    onDone: setMade,
  })
  return (
    <Answered query={enrolments}>
      {({ data }) => {
        const waiting = data.find(({ state }) => state === 'waiting')
        const of_made = data.find(({ enrolment_id }) => enrolment_id === made?.enrolment_id)
        return (
          <Stack>
            {waiting && <TakeOver of={waiting} />}
            <Section title="Set up a gateway">
              <Stack gap="sm" align="flex-start">
                <Text size="sm">
                  Install the package heliograph-edge on the machine at the plant, then type this
                  command there. A gateway that is set up later takes the site over once you have
                  confirmed it here.
                </Text>
                {made && <Command made={made} state={(of_made ?? made).state} />}
                <Problem error={create.error} />
                <Button
                  variant={made ? 'default' : 'filled'}
                  loading={create.is_pending}
                  onClick={() => create.run(undefined)}
                >
                  {made ? 'Create another command' : 'Show setup command'}
                </Button>
              </Stack>
            </Section>
          </Stack>
        )
      }}
    </Answered>
  )
}

const states: Record<PlatformEnrolment['state'], string | null> = {
  open: null,
  waiting: 'The gateway has used the code, and waits for your confirmation.',
  enrolled: 'The gateway was set up with this code.',
  expired: 'The code has expired.',
  revoked: 'The code was revoked.',
  locked: 'The code is locked, as wrong codes were tried.',
}

function Command({
  made,
  state,
}: {
  made: PlatformNewEnrolment
  state: PlatformEnrolment['state']
}) {
  const { code, server_url, expires_at } = made
  if (state !== 'open') {
    return (
      <Alert color={state === 'enrolled' ? 'teal' : 'orange'} role="status">
        {states[state]}
      </Alert>
    )
  }
  const server = server_url ?? location.origin
  return (
    <Stack gap="xs" w="100%">
      <CopyText
        label="On the gateway"
        text={`sudo heliograph-edge setup --server ${server} ${code}`}
      />
      <Text size="sm">
        The code is shown only once. It works for one gateway, until <LocalTime at={expires_at} />.
      </Text>
    </Stack>
  )
}

function TakeOver({ of }: { of: PlatformEnrolment }) {
  const { enrolment_id, gateway, address, agent_version, used_at } = of
  const [is_open, setOpen] = useState(false)
  const confirm = useWrite({
    write: () => askPlatform('POST', `/enrolments/${enrolment_id}/confirm`),
    done: `${gateway} is the gateway of the site`,
    changes,
    onDone: () => setOpen(false),
  })
  const refuse = useWrite({
    write: () => askPlatform('DELETE', `/enrolments/${enrolment_id}`),
    done: `${gateway} was refused`,
    changes,
  })
  return (
    <Notice title="Another gateway asks to take over this site">
      <Stack gap="xs">
        <Text size="sm">
          {gateway} at {address}, version {agent_version}, <LocalTime at={used_at} />.
        </Text>
        <Problem error={refuse.error} />
        <Group gap="xs">
          <Button size="xs" onClick={() => setOpen(true)}>
            Confirm take-over
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={refuse.is_pending}
            onClick={() => refuse.run(undefined)}
          >
            Refuse
          </Button>
        </Group>
      </Stack>
      {is_open && (
        <Dialog
          title="Confirm take-over"
          action="Take over"
          color="red.9"
          focus_cancel
          write={confirm}
          onAct={() => confirm.run(undefined)}
          onClose={() => setOpen(false)}
        >
          <Text size="sm">
            {gateway} becomes the gateway of the site. The token of the present gateway is revoked,
            and its connection ends at once. This cannot be undone.
          </Text>
          <Text size="sm">
            Switch the present gateway off first: without a connection it goes on controlling the
            devices.
          </Text>
        </Dialog>
      )}
    </Notice>
  )
}

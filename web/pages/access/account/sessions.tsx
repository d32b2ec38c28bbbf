import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { askPlatform } from '../../../api.ts'
import { Muted } from '../../../ui/muted.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Answered } from '../../../ui/states.tsx'
import { LocalTime } from '../../../ui/time.tsx'
import { useWrite } from '../../../ui/use-write.ts'

interface Session {
  id: string
  token: string
  createdAt: string
  updatedAt: string
  ipAddress: string | null
  userAgent: string | null
}

const changes = [['account', 'sessions']]

async function read() {
  const [sessions, present] = await Promise.all([
    askPlatform<Session[]>('GET', '/auth/list-sessions'),
    askPlatform<{ session: Session } | null>('GET', '/auth/get-session'),
  ])
  const is_here = (session: Session) => session.id === present?.session.id
  return sessions
    .map((session) => ({ ...session, is_here: is_here(session) }))
    .toSorted(
      (a, b) => Number(b.is_here) - Number(a.is_here) || (a.createdAt < b.createdAt ? 1 : -1),
    )
}

export function Sessions() {
  const sessions = useQuery({ queryKey: ['account', 'sessions'], queryFn: read })
  const end = useWrite({
    write: (token: string) => askPlatform('POST', '/auth/revoke-session', { token }),
    done: 'Session signed out',
    changes,
  })
  const endOthers = useWrite({
    write: () => askPlatform('POST', '/auth/revoke-other-sessions'),
    done: 'Other sessions signed out',
    changes,
  })
  return (
    <Answered query={sessions}>
      {(all) => (
        <Stack gap="xs">
          {all.slice(0, shown_max).map((session) => (
            <Group key={session.id} justify="space-between" wrap="nowrap">
              <div>
                <Text size="sm" component="div">
                  {deviceOf(session.userAgent)} at {session.ipAddress || 'unknown address'}{' '}
                  {session.is_here && <Badge color="teal">This session</Badge>}
                </Text>
                <Muted>
                  since <LocalTime at={session.createdAt} />
                </Muted>
              </div>
              {!session.is_here && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => end.run(session.token)}
                  aria-label={`Sign out ${deviceOf(session.userAgent)}`}
                >
                  Sign out
                </Button>
              )}
            </Group>
          ))}
          {all.length > shown_max && <Muted>and {all.length - shown_max} older</Muted>}
          <Problem error={end.error ?? endOthers.error} />
          {all.length > 1 && (
            <Button
              variant="default"
              loading={endOthers.is_pending}
              onClick={() => endOthers.run(undefined)}
              style={{ alignSelf: 'flex-start' }}
            >
              Sign out other sessions
            </Button>
          )}
        </Stack>
      )}
    </Answered>
  )
}

const shown_max = 10

const browsers = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

function deviceOf(agent: string | null): string {
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([part]) => agent?.includes(part))?.[1]
  const browser = find(browsers)
  const system = find(systems)
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? 'Unknown device'
}

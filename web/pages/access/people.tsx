import { Button, Title } from '@mantine/core'
import { useState } from 'react'
import { useUser } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import NotFound from '../not-found.tsx'
import { ChangePerson } from './people/change-person.tsx'
import { Invitations } from './people/invitations.tsx'
import { Invite } from './people/invite.tsx'
import { type Person, usePeople } from './people/people.ts'
import { PeopleTable } from './people/people-table.tsx'
import { RemovePerson } from './people/remove-person.tsx'

type Open = { what: 'invite' } | { what: 'change' | 'remove'; person: Person }

export default function People() {
  return useUser().role === 'administrator' ? <Everybody /> : <NotFound />
}

function Everybody() {
  const people = usePeople()
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="People"
      actions={<Button onClick={() => setOpen({ what: 'invite' })}>Invite person</Button>}
    >
      <Answered query={people}>
        {({ data }) => (
          <PeopleTable
            people={data}
            onChange={(person) => setOpen({ what: 'change', person })}
            onRemove={(person) => setOpen({ what: 'remove', person })}
          />
        )}
      </Answered>
      <Title order={2} size="h4">
        Invitations
      </Title>
      <Invitations />
      {open?.what === 'invite' && <Invite onClose={close} />}
      {open?.what === 'change' && <ChangePerson person={open.person} onClose={close} />}
      {open?.what === 'remove' && <RemovePerson person={open.person} onClose={close} />}
    </Page>
  )
}

import { Button, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { askPlatform } from '../../../api.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { leadTo, Problem, withFields } from '../../../ui/problem.tsx'
import { checkSites, SiteChoice } from '../../../ui/site-choice.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { type Person, people_changed, refusals, roles } from './people.ts'

type Change = Pick<Person, 'name' | 'role' | 'site_ids' | 'is_disabled'>

export function ChangePerson({ person, onClose }: { person: Person; onClose(): void }) {
  const { name, role, site_ids, is_disabled } = person
  const form = useForm<Change>({
    initialValues: { name, role, site_ids, is_disabled },
    validate: {
      name: (typed) => (typed.trim() === '' ? 'Enter a name.' : null),
      site_ids: checkSites,
    },
  })
  const change = useWrite({
    write: (body: Change) =>
      withFields(form, () =>
        askPlatform('PATCH', `/users/${person.user_id}`, { ...body, name: body.name.trim() }),
      ),
    done: 'Saved',
    changes: people_changed,
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={`Change ${person.name}`}>
      <form onSubmit={form.onSubmit(change.run, leadTo(form))} noValidate>
        <Stack>
          <TextInput label="Name" maxLength={100} {...form.getInputProps('name')} />
          <Select
            label="Role"
            data={roles as { value: string; label: string }[]}
            allowDeselect={false}
            {...form.getInputProps('role')}
          />
          <SiteChoice
            value={form.values.site_ids}
            onChange={(chosen) => form.setFieldValue('site_ids', chosen)}
            error={form.errors['site_ids'] as string | undefined}
          />
          <Switch
            label="Disabled"
            description="Ends all sessions, and blocks sign-in."
            {...form.getInputProps('is_disabled', { type: 'checkbox' })}
          />
          <Problem error={change.error} words={refusals} />
          <DialogButtons onClose={onClose}>
            <Button type="submit" loading={change.is_pending}>
              Save
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}

import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { askPlatform } from '../../../api.ts'
import { useUser } from '../../../queries.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { leadTo, Problem, withFields } from '../../../ui/problem.tsx'
import { checkSites, SiteChoice } from '../../../ui/site-choice.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { keys_changed, type ShownKey } from './keys.ts'
import { commands, presets, type Scope, scopeWords } from './scopes.ts'

const endings = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
]

interface Order {
  name: string
  site_ids: string[] | null
  scopes: Scope[]
  expires_at: string
}

const name_in_use = 'An active key has this name already. Choose another name.'

const initialValues: Order = { name: '', site_ids: null, scopes: [], expires_at: '365' }

const validate = {
  name: (name: string) =>
    name.trim() === '' ? 'Enter the name of the program, such as “Energy trader”.' : null,
  scopes: (scopes: Scope[]) => (scopes.length === 0 ? 'Choose at least one permission.' : null),
  site_ids: checkSites,
}

const endOf = (days: string) =>
  days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString()

interface NewKeyProps {
  onMade(key: ShownKey): void
  onClose(): void
}

export function NewKey({ onMade, onClose }: NewKeyProps) {
  const { scopes } = useUser()
  const offered = scopes as Scope[]
  const form = useForm<Order>({ initialValues, validate })
  const make = useWrite({
    write: (order: Order) =>
      withFields(
        form,
        () =>
          askPlatform<ShownKey>('POST', '/keys', {
            ...order,
            name: order.name.trim(),
            expires_at: endOf(order.expires_at),
          }),
        { conflict_state: { field: 'name', message: name_in_use } },
      ),
    changes: keys_changed,
    onDone: onMade,
  })
  return (
    <Modal opened onClose={onClose} title="New key" size="lg" closeOnClickOutside={false}>
      <form onSubmit={form.onSubmit(make.run, leadTo(form))} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="The program that uses the key. Names of active keys are unique."
            maxLength={100}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <SiteChoice
            value={form.values.site_ids}
            onChange={(site_ids) => form.setFieldValue('site_ids', site_ids)}
            error={form.errors['site_ids'] as string | undefined}
          />
          <Scopes
            offered={offered}
            value={form.values.scopes}
            onChange={(chosen) => form.setFieldValue('scopes', chosen)}
            error={form.errors['scopes'] as string | undefined}
          />
          <Select
            label="Expires"
            data={endings}
            allowDeselect={false}
            {...form.getInputProps('expires_at')}
          />
          <Problem error={make.error} words={{ conflict_state: name_in_use }} />
          <DialogButtons onClose={onClose}>
            <Button type="submit" loading={make.is_pending}>
              Create key
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Modal>
  )
}

interface ScopesProps {
  offered: readonly Scope[]
  value: Scope[]
  onChange(value: Scope[]): void
  error: string | undefined
}

function Scopes({ offered, value, onChange, error }: ScopesProps) {
  const moves = value.filter((scope) => commands.includes(scope))
  return (
    <Stack gap="xs">
      <Checkbox.Group
        label="Permissions"
        description="Limited to the modules of your plan."
        value={value}
        onChange={(chosen) => onChange(chosen as Scope[])}
        error={error}
      >
        <Group gap="xs" my="xs">
          {presets.map(({ name, has }) => (
            <Button
              key={name}
              size="xs"
              variant="default"
              onClick={() => onChange(offered.filter(has))}
            >
              {name}
            </Button>
          ))}
        </Group>
        <Stack gap={8}>
          {offered.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={scopeWords[scope] ?? scope}
              description={scope}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {moves.length > 0 && (
        <Text size="sm" role="status">
          A program with this key can <b>command the plant</b> without confirmation.
        </Text>
      )}
    </Stack>
  )
}

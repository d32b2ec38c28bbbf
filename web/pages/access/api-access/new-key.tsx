import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { askPlatform } from '../../../api.ts'
import type { PlatformKey, PlatformShownKey } from '../../../generated/platform.ts'
import { useUser } from '../../../queries.ts'
import { checkSites, SiteChoice } from '../../../ui/fields.tsx'
import { Dialog, leadTo, withFields } from '../../../ui/form.tsx'
import { inputsOf } from '../../../ui/inputs.tsx'
import { useWrite } from '../../../ui/use-write.ts'

type Scope = PlatformKey['scopes'][number]

const scopeWords: Readonly<Record<Scope, string>> = {
  'plant:read': 'The site, its plants, inverters, strings and sensors',
  'diagnostics:read': 'Performance, losses, string health and I-V curves',
  'energy:read': 'Energy by hour and day',
  'weather:read': 'Weather, measured and forecast',
  'markets:read': 'Day-ahead prices',
  'earnings:read': 'Money: contracts, earnings, fees',
  'predictions:read': 'Forecasts of production and prices',
  'alerts:read': 'Alerts',
  'alerts:write': 'Acknowledge and resolve alerts',
  'om:read': 'Work orders and defects',
  'om:write': 'Make and change work orders and defects',
  'reports:read': 'Reports and their files',
  'reports:write': 'Order and change reports',
  'curtailment:read': 'Curtailment and its history',
  'curtailment:write': 'Curtail and release the plant',
  'bess:read': 'Batteries and their schedules',
  'bess:write': 'Change and approve schedules of batteries',
}

/** Scopes that command the plant. */
const commands: readonly Scope[] = ['curtailment:write', 'bess:write']

const monitoring: readonly Scope[] = ['plant:read', 'energy:read', 'weather:read', 'alerts:read']
const trading: readonly Scope[] = [
  'plant:read',
  'energy:read',
  'markets:read',
  'earnings:read',
  'predictions:read',
  'curtailment:read',
  'bess:read',
]

const presets: readonly { name: string; has(scope: Scope): boolean }[] = [
  { name: 'Read everything', has: (scope) => scope.endsWith(':read') },
  { name: 'Monitoring', has: (scope) => monitoring.includes(scope) },
  { name: 'Energy trader', has: (scope) => trading.includes(scope) },
  { name: 'Everything', has: () => true },
]

const endings = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
]

const endOf = (days: string) =>
  days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString()

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

export function NewKey({
  onMade,
  onClose,
}: {
  onMade(key: PlatformShownKey): void
  onClose(): void
}) {
  const form = useForm<Order>({ initialValues, validate })
  const make = useWrite({
    write: (order: Order) => {
      const body = { ...order, name: order.name.trim(), expires_at: endOf(order.expires_at) }
      return withFields(form, () => askPlatform<PlatformShownKey>('POST', '/keys', body), {
        conflict_state: { field: 'name', message: name_in_use },
      })
    },
    changes: ['keys'],
    onDone: onMade,
  })
  return (
    <Dialog
      title="New key"
      action="Create key"
      write={make}
      words={{ conflict_state: name_in_use }}
      size="lg"
      closeOnClickOutside={false}
      onSubmit={form.onSubmit(make.run, leadTo(form))}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="The program that uses the key. Names of active keys are unique."
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <SiteChoice {...form.getInputProps('site_ids')} />
      <Scopes {...form.getInputProps('scopes')} />
      {inputsOf(form).choice('expires_at', 'Expires', endings)}
    </Dialog>
  )
}

interface ScopesProps {
  value?: Scope[]
  onChange?: (value: Scope[]) => void
  error?: string
}

function Scopes({ value = [], onChange, error }: ScopesProps) {
  const offered = useUser().scopes
  return (
    <Stack gap="xs">
      <Checkbox.Group
        label="Permissions"
        description="Limited to the modules of your plan."
        value={value}
        onChange={(chosen) => onChange?.(chosen as Scope[])}
        error={error}
      >
        <Group gap="xs" my="xs">
          {presets.map(({ name, has }) => (
            <Button
              key={name}
              size="xs"
              variant="default"
              onClick={() => onChange?.(offered.filter(has))}
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
      {value.some((scope) => commands.includes(scope)) && (
        <Text size="sm" role="status">
          A program with this key can <b>command the plant</b> without confirmation.
        </Text>
      )}
    </Stack>
  )
}

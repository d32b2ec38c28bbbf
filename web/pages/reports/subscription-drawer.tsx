import type { ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import {
  Button,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { type FormRulesRecord, type UseFormReturnType, useForm } from '@mantine/form'
import { heliograph } from '../../api.ts'
import { useUser } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { useFormDraft } from '../../ui/draft.ts'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { Drawer } from '../../ui/modal.tsx'
import { leadTo, Problem, withFields } from '../../ui/problem.tsx'
import { Loading } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { choices } from '../../ui/words.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import { useMarketZone } from '../earnings/reads.ts'
import { FormatField, PlantsField } from './order-fields.tsx'
import { Parameters } from './parameters.tsx'
import {
  bodyOf,
  frequencies,
  monthDays,
  newValues,
  periods,
  rules,
  type SubscriptionValues,
  valuesOf,
  weekdays,
} from './schedule.ts'

/** A subscription to change, or the template of a new one. */
export type Edited =
  | { subscription: ReportSubscription; template: ReportTemplate | undefined }
  | { subscription: null; template: ReportTemplate }

interface DrawerProps {
  site_id: string
  edited: Edited | null
  onClose: () => void
  onSaved: () => void
}

export function SubscriptionDrawer({ site_id, edited, onClose, onSaved }: DrawerProps) {
  const name = edited?.subscription?.name ?? edited?.template?.name ?? ''
  return (
    <Drawer
      opened={edited !== null}
      onClose={onClose}
      title={edited?.subscription ? `Change ${name}` : `Subscribe to ${name}`}
      closeOnClickOutside={false}
    >
      {edited && <SubscriptionForm {...{ site_id, edited, onClose, onSaved }} />}
    </Drawer>
  )
}

type FormProps = DrawerProps & { edited: Edited }
type OrderFormProps = FormProps & { timezone: string }

/** Earnings use market days, so that the file agrees with the page. */
function SubscriptionForm(props: FormProps) {
  const site = useSite()
  const { edited } = props
  const is_money = edited.subscription === null && edited.template.template_id === 'earnings'
  const zone = useMarketZone(site, is_money)
  if (is_money && zone === undefined) return <Loading />
  return <OrderForm {...props} timezone={is_money && zone ? zone : site.timezone} />
}

function OrderForm({ site_id, edited, timezone, onClose, onSaved }: OrderFormProps) {
  const { email } = useUser()
  const { subscription, template } = edited
  const form = useForm<SubscriptionValues>({
    initialValues: subscription
      ? valuesOf(subscription)
      : newValues(edited.template, timezone, email),
    validate: rules,
  })
  const { template_id } = edited.subscription ?? edited.template
  const draft = useFormDraft(`${subscription ? subscription.sub_id : template_id}`, form)
  const { run, is_pending, error } = useWrite({
    write: (values: SubscriptionValues, idempotency_key) =>
      withFields(form, () => {
        const body = { ...bodyOf(values), 'Idempotency-Key': idempotency_key }
        if (subscription) {
          const { sub_id } = subscription
          return heliograph.reportSubscriptionChange({ site_id, sub_id, ...body })
        }
        return heliograph.reportSubscriptionCreate({ site_id, template_id, ...body })
      }),
    done: 'Saved',
    changes: [['reports', site_id]],
    onDone: () => {
      draft.drop()
      onSaved()
    },
  })
  return (
    <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
      <Stack>
        <DraftNotice {...draft} />
        <Fields {...{ site_id, template, form }} />
        <Problem error={error} />
        <Group>
          <WriteButton scope="reports:write" type="submit" loading={is_pending}>
            {subscription ? 'Save' : 'Subscribe'}
          </WriteButton>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface FieldsProps {
  site_id: string
  template: ReportTemplate | undefined
  form: SubscriptionFormed
}

function Fields({ site_id, template, form }: FieldsProps) {
  const { mail_is_sent } = useUser()
  const { plants } = useDevices(site_id)
  const formats = template?.formats ?? [form.values.format]
  return (
    <>
      {template && <Text size="sm">{template.description}</Text>}
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <When form={form} />
      <SimpleGrid cols={2}>
        <Select
          label="Period"
          allowDeselect={false}
          data={choices(periods)}
          {...form.getInputProps('period')}
        />
        <FormatField formats={formats} {...form.getInputProps('format')} />
      </SimpleGrid>
      <PlantsField
        has_choice={form.values.logger_ids.length > 0}
        data={plants}
        {...form.getInputProps('logger_ids')}
      />
      <Parameters
        {...{ template, given: form.values.parameters, errors: form.errors }}
        onChange={(parameters) => form.setFieldValue('parameters', parameters)}
      />
      <TagsInput
        label="Mail to"
        description={
          mail_is_sent
            ? 'Each recipient gets a separate mail with the file. Press Enter after each address.'
            : 'This server sends no mail. Reports can be downloaded here.'
        }
        placeholder="owner@example.com"
        acceptValueOnBlur
        {...form.getInputProps('recipients')}
      />
      <Switch label="Enabled" {...form.getInputProps('enabled', { type: 'checkbox' })} />
    </>
  )
}

type FormRules = FormRulesRecord<SubscriptionValues>
type SubscriptionFormed = UseFormReturnType<SubscriptionValues, SubscriptionValues, FormRules>

function When({ form }: { form: SubscriptionFormed }) {
  const { frequency } = form.values
  return (
    <SimpleGrid cols={2}>
      <Select
        label="Frequency"
        allowDeselect={false}
        data={choices(frequencies)}
        {...form.getInputProps('frequency')}
      />
      {frequency === 'weekly' && (
        <Select
          label="Day"
          allowDeselect={false}
          data={weekdays}
          {...form.getInputProps('day_of_week')}
        />
      )}
      {(frequency === 'monthly' || frequency === 'quarterly') && (
        <Select
          label="Day"
          allowDeselect={false}
          data={monthDays}
          {...form.getInputProps('day_of_month')}
        />
      )}
      <TextInput label="Time" placeholder="06:00" {...form.getInputProps('time_of_day')} />
      <TextInput label="Time zone" {...form.getInputProps('timezone')} />
    </SimpleGrid>
  )
}

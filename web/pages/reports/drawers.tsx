import type { ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import {
  Button,
  MultiSelect,
  Select,
  SimpleGrid,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { askPlatform, heliograph } from '../../api.ts'
import { useSite, useUser } from '../../queries.ts'
import { useDevices } from '../../ui/devices.tsx'
import { useFormDraft } from '../../ui/draft.ts'
import { DateField, NumberField } from '../../ui/fields.tsx'
import { Drawer, SubmitForm, withFields } from '../../ui/form.tsx'
import { choices, inWords } from '../../ui/format.ts'
import { inputsOf } from '../../ui/inputs.tsx'
import { Muted } from '../../ui/page.tsx'
import { addDays, dayAt, isDate } from '../../ui/site-clock.ts'
import { Loading } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { useMarketZone } from '../earnings/reads.ts'
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

interface DrawerProps {
  onClose: () => void
  onDone: () => void
}

/** A subscription to change, or the template of a new one. */
export type Edited =
  | { subscription: ReportSubscription; template: ReportTemplate | undefined }
  | { subscription: null; template: ReportTemplate }

export function SubscriptionDrawer({ edited, ...rest }: DrawerProps & { edited: Edited | null }) {
  const name = edited?.subscription?.name ?? edited?.template?.name ?? ''
  return (
    <Drawer
      opened={edited !== null}
      onClose={rest.onClose}
      title={edited?.subscription ? `Change ${name}` : `Subscribe to ${name}`}
      closeOnClickOutside={false}
    >
      {edited && (
        <InZone template_id={edited.subscription ? null : edited.template.template_id}>
          {(timezone) => <SubscriptionForm edited={edited} timezone={timezone} {...rest} />}
        </InZone>
      )}
    </Drawer>
  )
}

interface OnceProps extends DrawerProps {
  template: ReportTemplate | null
}

export const OnceDrawer = ({ template, ...rest }: OnceProps) => (
  <Drawer
    opened={template !== null}
    onClose={rest.onClose}
    title={`Create report: ${template?.name ?? ''}`}
    closeOnClickOutside={false}
  >
    {template && (
      <InZone template_id={template.template_id}>
        {(timezone) => <OnceForm template={template} timezone={timezone} {...rest} />}
      </InZone>
    )}
  </Drawer>
)

interface InZoneProps {
  template_id: string | null
  children: (timezone: string) => ReactNode
}

/** Earnings use market days, so that the file agrees with the page. */
function InZone({ template_id, children }: InZoneProps) {
  const site = useSite()
  const is_money = template_id === 'earnings'
  const zone = useMarketZone(site, is_money)
  if (is_money && zone === undefined) return <Loading />
  return children(is_money && zone ? zone : site.timezone)
}

const Cancel = ({ onClose }: { onClose: () => void }) => (
  <Button variant="default" onClick={onClose}>
    Cancel
  </Button>
)

interface SubscriptionFormProps extends DrawerProps {
  edited: Edited
  timezone: string
}

function SubscriptionForm({ edited, timezone, onClose, onDone }: SubscriptionFormProps) {
  const { site_id } = useSite()
  const { email, mail_is_sent } = useUser()
  const { subscription, template } = edited
  const form = useForm<SubscriptionValues>({
    initialValues: subscription
      ? valuesOf(subscription)
      : newValues(edited.template, timezone, email),
    validate: rules,
  })
  const { template_id } = edited.subscription ?? edited.template
  const draft = useFormDraft(`${subscription ? subscription.sub_id : template_id}`, form)
  const save = useWrite({
    write: (values: SubscriptionValues, idempotency_key) =>
      withFields(form, () => {
        const body = { site_id, ...bodyOf(values), 'Idempotency-Key': idempotency_key }
        return subscription
          ? heliograph.reportSubscriptionChange({ ...body, sub_id: subscription.sub_id })
          : heliograph.reportSubscriptionCreate({ ...body, template_id })
      }),
    done: 'Saved',
    changes: ['reports'],
    draft,
    onDone,
  })
  return (
    <SubmitForm
      form={form}
      draft={draft}
      write={save}
      scope="reports:write"
      action={subscription ? 'Save' : 'Subscribe'}
      aside={<Cancel onClose={onClose} />}
    >
      {template && <Text size="sm">{template.description}</Text>}
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <When form={form} />
      <SimpleGrid cols={2}>
        {inputsOf(form).choice('period', 'Period', choices(periods))}
        <FormatField form={form} formats={template?.formats ?? [form.values.format]} />
      </SimpleGrid>
      <ContentFields form={form} template={template} />
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
    </SubmitForm>
  )
}

function When({ form }: WithForm<SubscriptionValues>) {
  const { frequency } = form.values
  const { text, choice } = inputsOf(form)
  const is_monthly = frequency === 'monthly' || frequency === 'quarterly'
  return (
    <SimpleGrid cols={2}>
      {choice('frequency', 'Frequency', choices(frequencies))}
      {frequency === 'weekly' && choice('day_of_week', 'Day', weekdays)}
      {is_monthly && choice('day_of_month', 'Day', monthDays)}
      {text('time_of_day', 'Time', { placeholder: '06:00' })}
      {text('timezone', 'Time zone')}
    </SimpleGrid>
  )
}

const week_days = 7

interface OnceFormProps extends DrawerProps {
  template: ReportTemplate
  timezone: string
}

function OnceForm({ template, timezone, onClose, onDone }: OnceFormProps) {
  const { site_id } = useSite()
  const yesterday = addDays(dayAt(Date.now(), timezone), -1)
  const form = useForm({
    initialValues: {
      start_date: addDays(yesterday, 1 - week_days),
      end_date: yesterday,
      format: template.formats[0] ?? 'pdf',
      logger_ids: [] as string[],
      parameters: {} as Record<string, unknown>,
    },
    validate: {
      start_date: (from, { end_date }) => {
        if (!isDate(from)) return 'Choose the first day.'
        return from > end_date ? 'The first day is after the last day.' : null
      },
      end_date: (to) => (isDate(to) && to <= yesterday ? null : 'Choose a day before today.'),
    },
  })
  const order = useWrite({
    write: ({ logger_ids, ...values }: typeof form.values, idempotency_key) => {
      const body = {
        site_id,
        template_id: template.template_id,
        timezone,
        ...values,
        logger_ids: logger_ids.length === 0 ? null : logger_ids.map(Number),
      }
      return withFields(form, () => askPlatform('POST', '/report-runs', body, idempotency_key))
    },
    done: 'Report is being created',
    changes: ['reports'],
    onDone,
  })
  return (
    <SubmitForm
      form={form}
      write={order}
      scope="reports:write"
      action="Create report"
      aside={<Cancel onClose={onClose} />}
    >
      <Text size="sm">{template.description}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <DateField label="From" max={yesterday} {...form.getInputProps('start_date')} />
        <DateField label="To (inclusive)" max={yesterday} {...form.getInputProps('end_date')} />
      </SimpleGrid>
      <Muted>{`Whole days in ${timezone}.`}</Muted>
      <FormatField form={form} formats={template.formats} />
      <ContentFields form={form} template={template} />
    </SubmitForm>
  )
}

interface ContentValues {
  format: string
  logger_ids: string[]
  parameters: Record<string, unknown>
}

interface WithForm<Values> {
  form: UseFormReturnType<Values>
}

const FormatField = <Values extends ContentValues>(
  props: WithForm<Values> & { formats: readonly string[] },
) => (
  <Select
    label="File"
    allowDeselect={false}
    data={props.formats.map((value) => ({ value, label: value.toUpperCase() }))}
    {...props.form.getInputProps('format')}
  />
)

interface ContentProps<Values> extends WithForm<Values> {
  template: ReportTemplate | undefined
}

/** Plants, and the parameters of the template by its schema. */
function ContentFields<Values extends ContentValues>({ form, template }: ContentProps<Values>) {
  const { plants } = useDevices()
  const { logger_ids, parameters } = form.values
  const properties = (template?.parameters_schema['properties'] ?? {}) as Record<string, Property>
  return (
    <>
      {/* Without a choice a report covers all plants. */}
      <MultiSelect
        label="Plants"
        placeholder={logger_ids.length > 0 ? '' : 'All plants'}
        clearable
        clearButtonProps={{ 'aria-label': 'All plants' }}
        data={plants}
        {...form.getInputProps('logger_ids')}
      />
      {Object.entries(properties).map(([name, property]) => (
        <Parameter
          key={name}
          name={name}
          property={property}
          value={parameters[name] ?? property.default}
          error={form.errors[`parameters.${name}`]}
          onChange={(value) =>
            form.setFieldValue('parameters', { ...parameters, [name]: value } as never)
          }
        />
      ))}
    </>
  )
}

interface Property {
  type?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  enum?: string[]
}

interface ParameterProps {
  name: string
  property: Property
  value: unknown
  error: ReactNode
  onChange: (value: unknown) => void
}

function Parameter({ name, property, value, error, onChange }: ParameterProps) {
  const { type, description, minimum, maximum } = property
  const named = { label: inWords(name), description, error }
  if (property.enum) {
    return (
      <Select
        {...named}
        allowDeselect={false}
        data={choices(property.enum)}
        value={String(value ?? '')}
        onChange={onChange}
      />
    )
  }
  if (type === 'boolean') {
    return (
      <Switch
        {...named}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  if (type === 'integer' || type === 'number') {
    return (
      <NumberField
        {...named}
        allowDecimal={type === 'number'}
        min={minimum}
        max={maximum}
        value={typeof value === 'number' ? value : null}
        onChange={(next) => onChange(next === '' ? undefined : next)}
      />
    )
  }
  return (
    <TextInput
      {...named}
      value={String(value ?? '')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Fields of a work order, shared by the forms for new and existing orders. */
import { Select, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useSite } from '../../../shell/site-shell.tsx'
import { DateField } from '../../../ui/date-field.tsx'
import { DeviceFields } from '../../../ui/device-fields.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import { choices } from '../../../ui/words.ts'
import type { OrderValues } from './fields.ts'
import { orderTypes, priorities } from './states.ts'

export type OrderForm = UseFormReturnType<OrderValues>

interface PartProps {
  site_id: string
  form: OrderForm
}

const two = { base: 1, sm: 2 }

export function WhatAndWhere({ site_id, form }: PartProps) {
  return (
    <>
      <TextInput label="Title" required {...form.getInputProps('title')} />
      <Textarea label="Description" autosize minRows={3} {...form.getInputProps('description')} />
      <SimpleGrid cols={two}>
        <Select
          label="Type"
          allowDeselect={false}
          data={choices(orderTypes)}
          {...form.getInputProps('type')}
        />
        <Select
          label="Priority"
          allowDeselect={false}
          data={priorities}
          {...form.getInputProps('priority')}
        />
        <DeviceFields site_id={site_id} form={form} />
      </SimpleGrid>
      <Switch
        label="Lockout/tagout required"
        {...form.getInputProps('loto_required', { type: 'checkbox' })}
      />
    </>
  )
}

export function WhoAndWhen({ form }: { form: OrderForm }) {
  const { timezone } = useSite()
  const clock = `Local time, ${timezone}`
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label="Assigned to" {...form.getInputProps('assigned_to')} />
        <TextInput label="Team" {...form.getInputProps('team')} />
        <TextInput label="Contractor" {...form.getInputProps('contractor')} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <DateField
          with_time
          label="Planned from"
          description={clock}
          {...form.getInputProps('scheduled_start_at')}
        />
        <DateField
          with_time
          label="Planned until"
          description="Suppresses related alerts"
          {...form.getInputProps('scheduled_end_at')}
        />
        <DateField
          with_time
          label="Contract due date"
          description="Optional"
          {...form.getInputProps('due_at')}
        />
      </SimpleGrid>
    </>
  )
}

export function WhatWasDone({ form }: { form: OrderForm }) {
  const { currency } = useSite()
  const number = (name: keyof OrderValues, label: string) => (
    <NumberField label={label} min={0} {...form.getInputProps(name)} />
  )
  return (
    <>
      <SimpleGrid cols={two}>
        <Textarea label="Root cause" autosize minRows={2} {...form.getInputProps('root_cause')} />
        <Textarea label="Resolution" autosize minRows={2} {...form.getInputProps('resolution')} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 2, sm: 3 }}>
        {number('labour_h', 'Hours worked, h')}
        {number('travel_km', 'Travel, km')}
        {number('cost_amount', `Cost, ${currency}`)}
        {number('downtime_min', 'Downtime, min')}
        {number('lost_energy_kwh', 'Energy lost, kWh')}
        <TextInput label="Permit-to-work number" {...form.getInputProps('safety_permit_no')} />
      </SimpleGrid>
    </>
  )
}

import { SimpleGrid } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useSite } from '../../../queries.ts'
import { choices } from '../../../ui/format.ts'
import { inputsOf } from '../../../ui/inputs.tsx'
import { DeviceFields } from '../device-fields.tsx'
import type { OrderValues } from './fields.ts'
import { orderTypes, priorities } from './states.ts'

export interface OrderFormProps {
  form: UseFormReturnType<OrderValues>
}

const two = { base: 1, sm: 2 }
const three = { base: 1, sm: 3 }

export function WhatAndWhere({ form }: OrderFormProps) {
  const { text, lines, choice, toggle } = inputsOf(form)
  return (
    <>
      {text('title', 'Title', { required: true })}
      {lines('description', 'Description', 3)}
      <SimpleGrid cols={two}>
        {choice('type', 'Type', choices(orderTypes))}
        {choice('priority', 'Priority', priorities)}
        <DeviceFields form={form} />
      </SimpleGrid>
      {toggle('loto_required', 'Lockout/tagout required')}
    </>
  )
}

export function WhoAndWhen({ form }: OrderFormProps) {
  const { timezone } = useSite()
  const { text, clock } = inputsOf(form)
  return (
    <>
      <SimpleGrid cols={three}>
        {text('assigned_to', 'Assigned to')}
        {text('team', 'Team')}
        {text('contractor', 'Contractor')}
      </SimpleGrid>
      <SimpleGrid cols={three}>
        {clock('scheduled_start_at', 'Planned from', `Local time, ${timezone}`)}
        {clock('scheduled_end_at', 'Planned until', 'Suppresses related alerts')}
        {clock('due_at', 'Contract due date', 'Optional')}
      </SimpleGrid>
    </>
  )
}

export function WhatWasDone({ form }: OrderFormProps) {
  const { currency } = useSite()
  const { text, lines, number } = inputsOf(form)
  return (
    <>
      <SimpleGrid cols={two}>
        {lines('root_cause', 'Root cause', 2)}
        {lines('resolution', 'Resolution', 2)}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 2, sm: 3 }}>
        {number('labour_h', 'Hours worked, h', 0)}
        {number('travel_km', 'Travel, km', 0)}
        {number('cost_amount', `Cost, ${currency}`, 0)}
        {number('downtime_min', 'Downtime, min', 0)}
        {number('lost_energy_kwh', 'Energy lost, kWh', 0)}
        {text('safety_permit_no', 'Permit-to-work number')}
      </SimpleGrid>
    </>
  )
}

import { SimpleGrid } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useSite } from '../../../queries.ts'
import { DateField } from '../../../ui/fields.tsx'
import { choices, inWords } from '../../../ui/format.ts'
import { inputsOf } from '../../../ui/inputs.tsx'
import { DeviceFields } from '../device-fields.tsx'
import type { DefectValues } from './fields.ts'
import { defectTypes, methods, severities } from './states.ts'

interface DefectFormProps {
  form: UseFormReturnType<DefectValues>
}

const two = { base: 1, sm: 2 }

const names: Record<string, string> = {
  iv_curve: 'I-V curve',
  el: 'Electroluminescence',
  pid: 'Potential-induced degradation',
  bess: 'Battery',
}

export const nameOf = (code: string) => names[code] ?? inWords(code)

const named = (codes: readonly string[]) => codes.map((value) => ({ value, label: nameOf(value) }))

const clearable = (without: string) => ({
  allowDeselect: true,
  clearable: true,
  clearButtonProps: { 'aria-label': without },
})

export function WhatIsBroken({ form }: DefectFormProps) {
  const { text, lines, choice, toggle } = inputsOf(form)
  return (
    <>
      {text('title', 'Title', { required: true })}
      <SimpleGrid cols={two}>
        {choice('severity', 'Severity', choices(severities))}
        {choice('type', 'Type', named(defectTypes), { searchable: true, ...clearable('No type') })}
        <DeviceFields form={form} />
        {text('module_position', 'Module', {
          placeholder: 'For example row 4, third from the left',
        })}
      </SimpleGrid>
      {lines('description', 'Description', 3)}
      {toggle('safety_relevant', 'Safety-relevant: endangers people or property')}
    </>
  )
}

export function HowItWasFound({ form }: DefectFormProps) {
  const { timezone, currency } = useSite()
  const { text, number, choice, toggle } = inputsOf(form)
  return (
    <>
      <SimpleGrid cols={two}>
        {choice('detection_method', 'Found by', named(methods), clearable('Unknown'))}
        <DateField
          with_time
          label={`Found at (${timezone})`}
          description="Defaults to now"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('detected_at')}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        {number('temperature_delta_k', 'Temperature difference, K')}
        {number('affected_module_count', 'Affected modules')}
        {number('affected_power_kw', 'Power loss, kW')}
        {number('estimated_loss_kwh_year', 'Energy loss per year, kWh')}
        {number('estimated_loss_amount_year', `Revenue loss per year, ${currency}`)}
        {text('assigned_to', 'Assigned to')}
      </SimpleGrid>
      <SimpleGrid cols={two}>
        {toggle('warranty_claim', 'Warranty claim')}
        {text('warranty_reference', 'Claim reference')}
      </SimpleGrid>
    </>
  )
}

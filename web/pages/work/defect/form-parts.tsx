import { Select, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useSite } from '../../../shell/site-shell.tsx'
import { DateField } from '../../../ui/date-field.tsx'
import { DeviceFields } from '../../../ui/device-fields.tsx'
import { NumberField } from '../../../ui/number-field.tsx'
import { choices, inWords } from '../../../ui/words.ts'
import type { DefectValues } from './fields.ts'
import { defectTypes, methods, severities } from './states.ts'

type DefectForm = UseFormReturnType<DefectValues>

interface PartProps {
  site_id: string
  form: DefectForm
}

const two = { base: 1, sm: 2 }

const methodNames: Record<string, string> = { iv_curve: 'I-V curve', el: 'Electroluminescence' }
const typeNames: Record<string, string> = { pid: 'Potential-induced degradation', bess: 'Battery' }

const named = (codes: readonly string[], names: Record<string, string>) =>
  codes.map((value) => ({ value, label: names[value] ?? inWords(value) }))

export const methodName = (method: string | null) =>
  method === null ? null : (methodNames[method] ?? inWords(method))
export const typeName = (type: string | null) =>
  type === null ? null : (typeNames[type] ?? inWords(type))

export function WhatIsBroken({ site_id, form }: PartProps) {
  return (
    <>
      <TextInput label="Title" required {...form.getInputProps('title')} />
      <SimpleGrid cols={two}>
        <Select
          label="Severity"
          allowDeselect={false}
          data={choices(severities)}
          {...form.getInputProps('severity')}
        />
        <Select
          label="Type"
          clearable
          searchable
          clearButtonProps={{ 'aria-label': 'No type' }}
          data={named(defectTypes, typeNames)}
          {...form.getInputProps('type')}
        />
        <DeviceFields site_id={site_id} form={form} />
        <TextInput
          label="Module"
          placeholder="For example row 4, third from the left"
          {...form.getInputProps('module_position')}
        />
      </SimpleGrid>
      <Textarea label="Description" autosize minRows={3} {...form.getInputProps('description')} />
      <Switch
        label="Safety-relevant: endangers people or property"
        {...form.getInputProps('safety_relevant', { type: 'checkbox' })}
      />
    </>
  )
}

export function HowItWasFound({ form }: { form: DefectForm }) {
  const { timezone, currency } = useSite()
  const number = (name: keyof DefectValues, label: string) => (
    <NumberField label={label} {...form.getInputProps(name)} />
  )
  return (
    <>
      <SimpleGrid cols={two}>
        <Select
          label="Found by"
          clearable
          clearButtonProps={{ 'aria-label': 'Unknown' }}
          data={named(methods, methodNames)}
          {...form.getInputProps('detection_method')}
        />
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
        <TextInput label="Assigned to" {...form.getInputProps('assigned_to')} />
      </SimpleGrid>
      <SimpleGrid cols={two}>
        <Switch
          label="Warranty claim"
          {...form.getInputProps('warranty_claim', { type: 'checkbox' })}
        />
        <TextInput label="Claim reference" {...form.getInputProps('warranty_reference')} />
      </SimpleGrid>
    </>
  )
}

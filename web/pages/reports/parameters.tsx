/** Fields for the parameters of a template, by its schema. */

import type { ReportTemplate } from '@heliograph/sdk'
import { Select, Switch, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { NumberField } from '../../ui/number-field.tsx'
import { inWords } from '../../ui/words.ts'

interface Property {
  type?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  enum?: string[]
}

interface ParametersProps {
  template: ReportTemplate | undefined
  given: Readonly<Record<string, unknown>>
  /** Errors of a form with a field `parameters`. */
  errors: Readonly<Record<string, ReactNode>>
  onChange: (parameters: Record<string, unknown>) => void
}

export function Parameters({ template, ...rest }: ParametersProps) {
  const properties = (template?.parameters_schema['properties'] ?? {}) as Record<string, Property>
  return Object.entries(properties).map(([name, property]) => (
    <Parameter key={name} {...{ name, property, ...rest }} />
  ))
}

interface ParameterProps extends Omit<ParametersProps, 'template'> {
  name: string
  property: Property
}

function Parameter({ name, property, given: all, errors, onChange }: ParameterProps) {
  const given = all[name] ?? property.default
  const set = (value: unknown) => onChange({ ...all, [name]: value })
  const error = errors[`parameters.${name}`]
  const named = { label: inWords(name), description: property.description, error }
  if (property.enum) {
    return (
      <Select
        {...named}
        allowDeselect={false}
        data={property.enum.map((value) => ({ value, label: inWords(value) }))}
        value={String(given ?? '')}
        onChange={set}
      />
    )
  }
  if (property.type === 'boolean') {
    return (
      <Switch
        {...named}
        checked={given === true}
        onChange={(event) => set(event.currentTarget.checked)}
      />
    )
  }
  if (property.type === 'integer' || property.type === 'number') {
    return (
      <NumberField
        {...named}
        allowDecimal={property.type === 'number'}
        {...(property.minimum !== undefined && { min: property.minimum })}
        {...(property.maximum !== undefined && { max: property.maximum })}
        value={typeof given === 'number' ? given : null}
        onChange={(value) => set(value === '' ? undefined : value)}
      />
    )
  }
  return (
    <TextInput
      {...named}
      value={String(given ?? '')}
      onChange={(event) => set(event.currentTarget.value)}
    />
  )
}

import {
  type ComboboxItem,
  Select,
  type SelectProps,
  Switch,
  Textarea,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { DateField, NumberField } from './fields.tsx'

/** The usual inputs of a form, by the field that they edit. */
export function inputsOf<Values extends object>(form: UseFormReturnType<Values>) {
  type Name = keyof Values & string
  return {
    text: (name: Name, label: string, more: TextInputProps = {}) => (
      <TextInput label={label} {...more} {...form.getInputProps(name)} />
    ),
    lines: (name: Name, label: string, minRows: number) => (
      <Textarea label={label} autosize minRows={minRows} {...form.getInputProps(name)} />
    ),
    number: (name: Name, label: string, min?: number) => (
      <NumberField label={label} min={min} {...form.getInputProps(name)} />
    ),
    clock: (name: Name, label: string, description: string) => (
      <DateField with_time label={label} description={description} {...form.getInputProps(name)} />
    ),
    choice: (name: Name, label: string, data: ComboboxItem[], more: SelectProps = {}) => (
      <Select
        label={label}
        allowDeselect={false}
        data={data}
        {...more}
        {...form.getInputProps(name)}
      />
    ),
    toggle: (name: Name, label: string) => (
      <Switch label={label} {...form.getInputProps(name, { type: 'checkbox' })} />
    ),
  }
}

import { NumberInput, Select } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDevices } from '../../ui/devices.tsx'

interface DeviceValues {
  logger_id: string | null
  inverter_id: string | null
  string_index: number | string
}

interface DeviceFieldsProps<Values> {
  form: UseFormReturnType<Values>
}

/** Fields for plant, inverter and string. A new plant or inverter clears the fields below it. */
export function DeviceFields<Values extends DeviceValues>({ form }: DeviceFieldsProps<Values>) {
  const devices = useDevices()
  const { logger_id, inverter_id } = form.values
  const set = (change: Partial<DeviceValues>) => form.setValues(change as Partial<Values>)
  return (
    <>
      <Select
        label="Plant"
        placeholder="Whole site"
        clearable
        clearButtonProps={{ 'aria-label': 'No plant' }}
        data={devices.plants}
        {...form.getInputProps('logger_id')}
        onChange={(chosen) => set({ logger_id: chosen, inverter_id: null, string_index: '' })}
      />
      <Select
        label="Inverter"
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'No inverter' }}
        data={devices.inverters(logger_id === null ? null : Number(logger_id))}
        {...form.getInputProps('inverter_id')}
        onChange={(chosen) => set({ inverter_id: chosen, string_index: '' })}
      />
      {inverter_id !== null && (
        <NumberInput
          label="String of the inverter, from 0"
          min={0}
          allowDecimal={false}
          {...form.getInputProps('string_index')}
        />
      )}
    </>
  )
}

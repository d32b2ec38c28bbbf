import { NumberInput, type NumberInputProps } from '@mantine/core'
import { type ClipboardEvent, useState } from 'react'
import { numberIn, pastedNumber } from './number-in.ts'

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'defaultValue' | 'onChange'> {
  value?: number | string | null
  onChange?: (value: number | '') => void
}

/**
 * Gives numbers alone, and keeps `1.` and `0.0` as they are typed; a comma is a point. What is
 * pasted and no number is left out: the library would take 125 for `12,5`.
 */
export function NumberField({ value, onChange, ...rest }: NumberFieldProps) {
  const [typed, setTyped] = useState<number | string>('')
  const given = value ?? ''
  const set = (next: number | string) => {
    setTyped(next)
    onChange?.(numberIn(next))
  }
  const paste = (event: ClipboardEvent) => {
    event.preventDefault()
    const pasted = pastedNumber(event.clipboardData.getData('text'))
    if (pasted !== null) set(pasted)
  }
  const is_positive = rest.min !== undefined && Number(rest.min) >= 0
  return (
    <NumberInput
      // The keys for decimals of some phones have no minus.
      inputMode={is_positive ? 'decimal' : 'text'}
      hideControls
      clampBehavior="none"
      allowedDecimalSeparators={['.', ',']}
      {...rest}
      onPaste={paste}
      value={numberIn(typed) === given ? typed : given}
      onChange={(next) => set(typeof next === 'bigint' ? Number(next) : next)}
    />
  )
}

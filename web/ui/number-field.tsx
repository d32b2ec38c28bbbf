import { NumberInput, type NumberInputProps } from '@mantine/core'
import { type ClipboardEvent, useState } from 'react'
import { numberIn, pastedNumber } from './number-in.ts'

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'defaultValue' | 'onChange'> {
  value?: number | string | null
  onChange?: (value: number | '') => void
}

/**
 * A field that reports numbers only, and keeps `1.` and `0.0` as typed. A comma counts as a decimal
 * point. Pasted text is parsed here: the library would read `12,5` as 125.
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
      // The decimal keyboard of some phones has no minus.
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

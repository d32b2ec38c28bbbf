/**
 * A field for a date, or a date with a time, in the format of all pages. Native fields would use
 * the language of the browser; the native calendar opens by the button.
 */
import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { dateOfText, dateTimeOfText, textOfDate } from './date-text.ts'

interface DateFieldProps
  extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange' | 'type' | 'min' | 'max'> {
  /** `2026-11-23`, with a time `2026-11-23T06:00`; empty: none. */
  value?: string
  onChange?: (value: string) => void
  with_time?: true
  min?: string
  max?: string
}

const example = { date: '23 Nov 2026', time: '23 Nov 2026, 06:00' } as const
const pattern = { date: 'D Mon YYYY', time: 'D Mon YYYY, HH:MM' } as const

export function DateField({
  value = '',
  onChange = () => {},
  with_time,
  min,
  max,
  error,
  onBlur,
  ...rest
}: DateFieldProps) {
  const [text, setText] = useState(textOfDate(value))
  const [taken, setTaken] = useState(value)
  const calendar = useRef<HTMLInputElement>(null)
  const is_typed = useRef(false)
  const parse = with_time ? dateTimeOfText : dateOfText
  useEffect(() => {
    // Typed text stays unchanged until the field loses focus.
    if (!is_typed.current) setText(textOfDate(value))
    setTaken(value)
  }, [value])
  /** Invalid text becomes the value, so that a form is not sent with the previous date. */
  const take = (typed: string) => {
    const next = parse(typed) ?? typed.trim()
    setTaken(next)
    if (next !== value) onChange(next)
  }
  const is_outside = (min !== undefined && taken < min) || (max !== undefined && taken > max)
  const bounds = [min && `from ${textOfDate(min)}`, max && `until ${textOfDate(max)}`]
  const kind = with_time ? 'time' : 'date'
  const wrong =
    taken === ''
      ? null
      : parse(taken) === null
        ? `Enter a date such as ${example[kind]}.`
        : is_outside && `Enter a date ${bounds.filter(Boolean).join(' ')}.`
  return (
    <TextInput
      {...rest}
      placeholder={pattern[kind]}
      value={text}
      error={wrong || error}
      onChange={({ currentTarget: { value: typed } }) => {
        is_typed.current = true
        setText(typed)
        // At once: an error that disappears on blur would move the button under a click.
        if (parse(typed) !== null) take(typed)
      }}
      onBlur={(event) => {
        const typed = event.currentTarget.value
        is_typed.current = false
        setText(textOfDate(parse(typed) ?? typed))
        take(typed)
        onBlur?.(event)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take(event.currentTarget.value)
      }}
      rightSection={
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            tabIndex={-1}
            aria-label="Calendar"
            onClick={() => calendar.current?.showPicker()}
          >
            <IconCalendar size={16} />
          </ActionIcon>
          <input
            ref={calendar}
            className="behind"
            type={with_time ? 'datetime-local' : 'date'}
            tabIndex={-1}
            aria-hidden="true"
            value={value}
            {...(min !== undefined && { min })}
            {...(max !== undefined && { max })}
            onChange={({ currentTarget }) =>
              currentTarget.value !== '' && onChange(currentTarget.value.slice(0, 16))
            }
          />
        </>
      }
    />
  )
}

import {
  ActionIcon,
  MultiSelect,
  NumberInput,
  type NumberInputProps,
  PasswordInput,
  type PasswordInputProps,
  Radio,
  Stack,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { type ClipboardEvent, useEffect, useRef, useState } from 'react'
import { useSites } from '../queries.ts'
import { dateOfText, dateTimeOfText, textOfDate } from './date-text.ts'
import { numberIn, pastedNumber } from './number-in.ts'
import { show_password } from './passwords.ts'

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

/**
 * A field for a date, or a date with a time, in the format of all pages. Native fields would use
 * the language of the browser; the native calendar opens by the button.
 */
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
            min={min}
            max={max}
            onChange={({ currentTarget }) =>
              currentTarget.value !== '' && onChange(currentTarget.value.slice(0, 16))
            }
          />
        </>
      }
    />
  )
}

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

interface SiteChoiceProps {
  /** Null for all sites, including later ones. */
  value?: string[] | null
  onChange?: (value: string[] | null) => void
  error?: string
}

export function SiteChoice({ value = null, onChange, error }: SiteChoiceProps) {
  const sites = useSites().data?.data ?? []
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Sites"
        value={value === null ? 'all' : 'some'}
        onChange={(choice) => onChange?.(choice === 'all' ? null : [])}
      >
        <Stack gap={6} mt={4}>
          <Radio value="all" label="All sites, including later ones" />
          <Radio value="some" label="Selected sites" />
        </Stack>
      </Radio.Group>
      {value !== null && (
        <MultiSelect
          aria-label="Selected sites"
          placeholder={value.length === 0 ? 'Choose sites' : undefined}
          data={sites.map(({ site_id, name }) => ({ value: site_id, label: name }))}
          value={value}
          onChange={onChange}
          error={error}
          searchable
        />
      )}
    </Stack>
  )
}

export const checkSites = (site_ids: string[] | null) =>
  site_ids?.length === 0 ? 'Choose at least one site, or all sites.' : null

export function SiteNames({ site_ids }: { site_ids: string[] | null }) {
  const { data } = useSites()
  if (site_ids === null) return 'All sites'
  const name = (id: string) => data?.data.find(({ site_id }) => site_id === id)?.name ?? id
  return site_ids.map(name).join(', ')
}

interface NewPasswordProps {
  label?: string
  description?: string
  first: PasswordInputProps
  again: PasswordInputProps
}

/** Two fields for a new password; their rules are `checkNewPassword` and `checkAgain`. */
export function NewPasswordFields(props: NewPasswordProps) {
  const { label = 'New password', description, first, again } = props
  const look = { autoComplete: 'new-password', visibilityToggleButtonProps: show_password }
  return (
    <>
      <PasswordInput {...look} label={label} description={description} {...first} />
      <PasswordInput {...look} label={`Repeat ${label.toLowerCase()}`} {...again} />
    </>
  )
}

import { HeliographError, type Violation } from '@heliograph/sdk'
import {
  Alert,
  Button,
  type ButtonProps,
  type DrawerProps,
  type ElementProps,
  Group,
  List,
  Drawer as MantineDrawer,
  Modal as MantineModal,
  type ModalProps,
  Stack,
  type StackProps,
  Text,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useMay, useSite } from '../queries.ts'
import type { Draft } from './draft.ts'
import { formatNumber, formatTime, inWords } from './format.ts'
import { SiteButton, Time } from './page.tsx'
import { plainly } from './states.tsx'
import type { Difference } from './use-write.ts'

/** Names the close button, and keeps the header from being a second banner of the page. */
const labelled = {
  attributes: { header: { role: 'presentation' } },
  closeButtonProps: { 'aria-label': 'Close' },
}

export const Modal = (props: Omit<ModalProps, 'opened'> & { opened?: boolean }) => (
  <MantineModal opened {...labelled} {...props} />
)

export const Drawer = (props: DrawerProps) => (
  <MantineDrawer position="right" size="lg" {...labelled} {...props} />
)

/** A dialog that closes only by its button, with text that is shown once. */
export const OnceModal = ({ children, ...rest }: Omit<ModalProps, 'opened'>) => (
  <Modal {...rest} withCloseButton={false} closeOnClickOutside={false} closeOnEscape={false}>
    <Stack>
      {children}
      <Group justify="flex-end">
        <Button onClick={rest.onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)

interface WriteButtonProps extends ButtonProps, ElementProps<'button', keyof ButtonProps> {
  /** The button is hidden without this scope. */
  scope: string
  /** Opens a page of the site instead. */
  to?: string
}

const why_not = 'Commissioning safe mode: changes are disabled until commissioning is complete.'

/** A button for a change at the site, disabled in commissioning safe mode. */
export function WriteButton({ scope, to, disabled, ...rest }: WriteButtonProps) {
  const may = useMay()
  const { commissioning_safe_mode: is_stopped } = useSite()
  if (!may(scope)) return null
  if (is_stopped) return <Button {...rest} disabled title={why_not} />
  if (to === undefined) return <Button {...rest} disabled={disabled ?? false} />
  const { children, variant, size } = rest
  return (
    <SiteButton to={to} variant={variant} size={size}>
      {children}
    </SiteButton>
  )
}

interface DialogProps extends Omit<ModalProps, 'opened' | 'onSubmit'> {
  opened?: boolean
  action: ReactNode
  write: { is_pending: boolean; error: unknown }
  onSubmit?: (event: FormEvent<HTMLFormElement>) => void
  onAct?: () => void
  /** The button is hidden without this scope, and disabled in commissioning safe mode. */
  scope?: string
  color?: string
  disabled?: boolean
  /** Where Enter must do nothing by mistake, the cancel button has the focus. */
  focus_cancel?: true
  draft?: Draft
  words?: Readonly<Record<string, string>>
  /** Shown in place of the error of the write. */
  problem?: ReactNode
}

export function Dialog({
  action,
  write,
  onSubmit,
  onAct,
  scope,
  color,
  disabled = false,
  focus_cancel,
  draft,
  words,
  problem = <Problem error={write.error} words={words} />,
  children,
  ...modal
}: DialogProps) {
  const button = {
    type: onSubmit ? ('submit' as const) : ('button' as const),
    loading: write.is_pending,
    onClick: onAct,
    color,
    disabled,
    children: action,
  }
  const content = (
    <Stack>
      {draft && <DraftNotice {...draft} />}
      {children}
      {problem}
      <Group justify="flex-end">
        <Button variant="default" onClick={modal.onClose} data-autofocus={focus_cancel}>
          Cancel
        </Button>
        {scope ? <WriteButton {...button} scope={scope} /> : <Button {...button} />}
      </Group>
    </Stack>
  )
  return (
    <Modal {...modal}>
      {onSubmit ? (
        <form onSubmit={onSubmit} noValidate>
          {content}
        </form>
      ) : (
        content
      )}
    </Modal>
  )
}

interface ConfirmProps extends Omit<DialogProps, 'onSubmit'> {
  name: string
  onAct: () => void
}

/** Confirms an action that cannot be undone: the name must be typed. */
export function ConfirmByName({ name, onAct, children, ...dialog }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const is_right = typed.trim() === name
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (is_right) onAct()
  }
  return (
    <Dialog {...dialog} onSubmit={submit} color="red.9" disabled={!is_right}>
      {children}
      <TextInput
        label={`Type “${name}” to confirm`}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
    </Dialog>
  )
}

export function DraftNotice({ typed_at, discard }: Draft) {
  if (typed_at === null) return null
  return (
    <Alert variant="default" role="status" p="xs">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <span>
          Draft of <Time at={typed_at} /> restored.
        </span>
        <Button variant="subtle" size="compact-sm" miw="max-content" onClick={discard}>
          Discard
        </Button>
      </Group>
    </Alert>
  )
}

interface SubmitFormProps<Values> extends StackProps {
  form: UseFormReturnType<Values>
  draft?: Draft
  write: ProblemProps & { run: (values: Values) => void; is_pending: boolean }
  /** The button is hidden without this scope, and disabled in commissioning safe mode. */
  scope?: string
  action: string
  disabled?: boolean
  variant?: 'default'
  words?: ProblemProps['words']
  /** The way out, beside the button. */
  aside?: ReactNode
}

/** A form with the error of its last attempt. */
export function SubmitForm<Values extends object>(props: SubmitFormProps<Values>) {
  const { form, draft, write, scope, action, disabled, variant, words, aside, children, ...look } =
    props
  const { is_pending: loading, error, differences } = write
  const button = { type: 'submit', loading, disabled, variant, children: action } as const
  return (
    <form onSubmit={form.onSubmit(write.run, leadTo(form))} noValidate>
      <Stack {...look}>
        {draft && <DraftNotice {...draft} />}
        {children}
        <Problem error={error} words={words} differences={differences} />
        <Group>
          {scope ? <WriteButton {...button} scope={scope} /> : <Button {...button} />}
          {aside}
        </Group>
      </Stack>
    </form>
  )
}

interface Fields {
  setFieldError(field: never, message: string): void
  getInputNode(field: never): HTMLElement | null
}

/** Focuses the first field with an error. */
export const leadTo = (form: Fields) => (errors: object) =>
  Object.keys(errors)
    .map((field) => form.getInputNode(field as never))
    .find((node) => node !== null)
    ?.focus()

/**
 * Shows errors of the server beside their fields, and rethrows. `by_code` names the field of error
 * codes that have none.
 */
export async function withFields<Output>(
  form: Fields,
  work: () => Promise<Output>,
  by_code: Readonly<Record<string, Pick<Violation, 'field' | 'message'>>> = {},
): Promise<Output> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HeliographError) {
      const own = by_code[error.code]
      const found = own ? [own] : error.violations
      for (const { field, message } of found) form.setFieldError(field as never, inWords(message))
      leadTo(form)(Object.fromEntries(found.map(({ field }) => [field, true])))
    }
    throw error
  }
}

const scrollIntoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' })

interface ProblemProps {
  error: unknown
  words?: Readonly<Record<string, string>>
  /** Fields that somebody else changed meanwhile. */
  differences?: readonly Difference[] | null
}

export function Problem({ error, words = {}, differences }: ProblemProps) {
  if (differences) return <Differences differences={differences} />
  if (!error) return null
  const wrong = error instanceof HeliographError ? error.violations : []
  const own = error instanceof HeliographError ? words[error.code] : undefined
  // Errors of fields focus their field instead.
  const is_general = wrong.length === 0 && own === undefined
  return (
    <Alert color="red" role="alert" {...(is_general && { ref: scrollIntoView })}>
      {own ?? (wrong.length === 0 ? plainly(error) : <Wrong violations={wrong} />)}
    </Alert>
  )
}

/** Lists all violations: some concern fields that the form does not show. */
const Wrong = ({ violations }: { violations: readonly Violation[] }) => (
  <>
    Nothing was saved:
    <List size="sm">
      {violations.map(({ field, message }) => (
        <List.Item key={`${field} ${message}`}>
          {inWords(field ? `${field} ${message}` : message)}
        </List.Item>
      ))}
    </List>
  </>
)

const instant = /^\d{4}-\d\d-\d\dT.*Z$/

function inText(value: unknown, timezone: string): string {
  if (typeof value === 'string' && instant.test(value)) return formatTime(value, timezone, 'full')
  if (value === null || value === undefined || value === '') return 'empty'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return formatNumber(value, Number.isInteger(value) ? 0 : 2)
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `${value.length} entries`
  return String(value)
}

export function Differences({ differences }: { differences: readonly Difference[] }) {
  const { timezone } = useSite()
  return (
    <Alert color="orange" title="Changed by somebody else" role="alert">
      <Text size="sm">Nothing was overwritten. Your input is still here.</Text>
      <List size="sm">
        {differences.map(({ field, before, now }) => (
          <List.Item key={field}>
            {inWords(field)}: {inText(before, timezone)} → {inText(now, timezone)}
          </List.Item>
        ))}
      </List>
      <Text size="sm">Try again to apply your change.</Text>
    </Alert>
  )
}

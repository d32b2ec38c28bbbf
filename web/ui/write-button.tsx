import { Button, type ButtonProps, type ElementProps } from '@mantine/core'
import { Link } from 'wouter'
import { useMay } from '../queries.ts'
import { useSite } from '../shell/site-shell.tsx'

interface WriteButtonProps extends ButtonProps, ElementProps<'button', keyof ButtonProps> {
  /** The button is hidden without this scope. */
  scope: string
  /** Opens a page instead. */
  href?: string
}

const why_not = 'Commissioning safe mode: changes are disabled until commissioning is complete.'

/** A button for a change at the site, disabled in commissioning safe mode. */
export function WriteButton({ scope, href, disabled, ...rest }: WriteButtonProps) {
  const may = useMay()
  const { commissioning_safe_mode: is_stopped } = useSite()
  if (!may(scope)) return null
  if (is_stopped) return <Button {...rest} disabled title={why_not} />
  if (href === undefined) return <Button {...rest} disabled={disabled ?? false} />
  const { children, variant, size } = rest
  return (
    <Button component={Link} href={href} variant={variant} size={size}>
      {children}
    </Button>
  )
}

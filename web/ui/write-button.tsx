import { Button, type ButtonProps, type ElementProps } from '@mantine/core'
import { Link } from 'wouter'
import { useMay } from '../queries.ts'
import { useSite } from '../shell/site-shell.tsx'

interface WriteButtonProps extends ButtonProps, ElementProps<'button', keyof ButtonProps> {
  /** Who may not write this does not see it. */
  scope: string
  /** A form of its own. */
  href?: string
}

const why_not =
  'Commissioning safe mode: the site takes no changes until commissioning is complete.'

/** A button that changes something at the site. */
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

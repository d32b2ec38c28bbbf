/**
 * Device cookies: failed sign-ins from a browser that has signed in to the account before are
 * counted separately. The cookie grants no access. See OWASP, Slow Down Online Guessing Attacks:
 * https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */
import { hash, randomBytes } from 'node:crypto'
import type { GenericEndpointContext } from 'better-auth'
import { addressKey } from './sign-in-lock.ts'

/** The maximum cookie lifetime of browsers. */
const cookie_s = 400 * 86_400

const cookieOf = ({ context }: GenericEndpointContext, path: string) =>
  context.createAuthCookie('known_device', { maxAge: cookie_s, path })

/** The cookie value, which binds a browser to an account. */
const bindingOf = (device: string, email: string) =>
  `${device}.${hash('sha256', addressKey(email), 'hex')}`

/** The device id of a browser that is known to the account; otherwise ''. */
export async function knownDevice(ctx: GenericEndpointContext, email: string): Promise<string> {
  const { name } = cookieOf(ctx, '/')
  const value = await ctx.getSignedCookie(name, ctx.context.secret)
  const device = value ? value.split('.', 1)[0]! : ''
  return value === bindingOf(device, email) ? device : ''
}

/** Sets the device cookie of the account, limited to `path`. */
export async function rememberDevice(
  ctx: GenericEndpointContext,
  { email, path }: { email: string; path: string },
): Promise<void> {
  const { name, attributes } = cookieOf(ctx, path)
  const device = (await knownDevice(ctx, email)) || randomBytes(16).toString('hex')
  await ctx.setSignedCookie(name, bindingOf(device, email), ctx.context.secret, attributes)
}

/**
 * The cookie of a browser that has signed in to an account: its tries are counted apart from those
 * of strangers. It opens nothing. "Device cookies" in OWASP's Slow Down Online Guessing Attacks:
 * https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */
import { hash, randomBytes } from 'node:crypto'
import type { GenericEndpointContext } from 'better-auth'
import { addressKey } from './sign-in-lock.ts'

/** As long as browsers keep any cookie. */
const cookie_s = 400 * 86_400

const cookieOf = ({ context }: GenericEndpointContext, path: string) =>
  context.createAuthCookie('known_device', { maxAge: cookie_s, path })

/** Signed with the name of a browser and of the account that it is known to. */
const bindingOf = (device: string, email: string) =>
  `${device}.${hash('sha256', addressKey(email), 'hex')}`

/** The browser that asks, where it is known to the account; else ''. */
export async function knownDevice(ctx: GenericEndpointContext, email: string): Promise<string> {
  const { name } = cookieOf(ctx, '/')
  const value = await ctx.getSignedCookie(name, ctx.context.secret)
  const device = value ? value.split('.', 1)[0]! : ''
  return value === bindingOf(device, email) ? device : ''
}

/** Makes the browser that asks known to the account, below the path where it is looked for. */
export async function rememberDevice(
  ctx: GenericEndpointContext,
  { email, path }: { email: string; path: string },
): Promise<void> {
  const { name, attributes } = cookieOf(ctx, path)
  const device = (await knownDevice(ctx, email)) || randomBytes(16).toString('hex')
  await ctx.setSignedCookie(name, bindingOf(device, email), ctx.context.secret, attributes)
}

/**
 * The addresses to which webhooks may be sent: those of the public internet, and networks that the
 * operator allows, to which requests may go without TLS. Each connection goes to the very address
 * that was checked: a name that resolves differently a moment later leads nowhere else.
 */
import type { LookupAddress } from 'node:dns'
import ipaddr from 'ipaddr.js'

/** An address, or a network such as `10.20.0.0/16`. */
export type Network = string

/** Addresses of the public internet at which clouds serve the credentials of a machine. */
const metadata = new Set(['168.63.129.16'])
/** All that is assigned to the public internet. RFC 4291, section 2.4. */
const global_unicast = ipaddr.parseCIDR('2000::/3')

export function isWithin(address: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return networks.some((network) => {
    const range = ipaddr.parseCIDR(network.includes('/') ? network : wholeAddress(network))
    return range[0].kind() === parsed.kind() && parsed.match(range)
  })
}

const wholeAddress = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`

export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  // An IPv4 address that is written as IPv6 counts as what it is.
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || metadata.has(parsed.toString())) return false
  return parsed.kind() === 'ipv4' || parsed.match(global_unicast)
}

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** A refusal before a connection is made. */
export class AddressRefused extends Error {}

/**
 * The address to connect to. A name of which one address is refused is refused altogether, as it is
 * no name of a public service.
 */
export async function addressOf(
  url: URL,
  { resolve, networks }: { resolve: Resolve; networks: readonly Network[] },
): Promise<LookupAddress> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const literal = ipaddr.isValid(host)
  const found = literal
    ? [{ address: host, family: host.includes(':') ? 6 : 4 }]
    : await resolve(host)
  const is_https = url.protocol === 'https:'
  const isAllowed = ({ address }: LookupAddress) =>
    isWithin(address, networks) || (is_https && isPublic(address))
  const [first] = found
  if (first && found.every(isAllowed)) return first
  const what = is_https ? 'the address is' : 'without https, the address is'
  throw new AddressRefused(`${what} not of a network that WEBHOOK_NETWORKS allows`)
}

/** Why a URL cannot be of a webhook; null for one that can. */
export function urlFault(text: string): string | null {
  const url = URL.parse(text)
  if (url === null) return 'must be an https address'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https address'
  if (url.username !== '' || url.password !== '') return 'must not contain credentials'
  return url.hash === '' ? null : 'must not contain a fragment'
}

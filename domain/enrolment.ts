/**
 * Enrolment of a gateway: a one-time code of the platform is exchanged for the token of the edge.
 * Both ends of the exchange obey this.
 */
import { type Static, Type } from 'typebox'
import { edgeTokenPattern } from './link.ts'
import { Closed, Nullable } from './schema.ts'
import { siteIdPattern } from './site.ts'

export const exchangePath = '/platform/enrolments/exchange'
export const lookPath = '/platform/enrolments/look'

/** Crockford's base 32, without the letters that look like a digit, and without U. */
export const code_alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
export const code_characters = 16

/** The code as it was made, for a code as a person types it; null when it cannot be one. */
export function enrolmentCodeOf(typed: string): string | null {
  const code = typed
    .toUpperCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  const is_code = code.length === code_characters && [...code].every(isOfAlphabet)
  return is_code ? code : null
}

const isOfAlphabet = (character: string) => code_alphabet.includes(character)

/** In groups of four, for people. */
export const codeText = (code: string): string => code.match(/.{4}/g)!.join('-')

/** `waiting`: a person must confirm on the platform that the gateway takes over the site. */
const gatewayStates = ['enrolled', 'waiting', 'refused'] as const

/** Why a code is refused. `unknown` is also the answer for a code with a typing error. */
const refusalReasons = ['unknown', 'used', 'expired', 'revoked', 'locked'] as const

export type ExchangedCode = Static<typeof ExchangedCode>
/** Answer to a code. Token and site are null when it is refused, and `reason` is null otherwise. */
export const ExchangedCode = Closed({
  state: Type.Enum([...gatewayStates], { examples: ['enrolled'] }),
  reason: Nullable(Type.Enum([...refusalReasons])),
  site_id: Nullable(Type.String({ pattern: siteIdPattern, examples: ['north-field'] })),
  site_name: Nullable(Type.String({ examples: ['North field'] })),
  token: Nullable(
    Type.String({
      pattern: edgeTokenPattern.source,
      examples: [`edge_0123456789ab_${'0'.repeat(64)}`],
    }),
  ),
})

export type GatewayStatus = Static<typeof GatewayStatus>
/** What became of an exchange that waits for a person, and whether the agent is connected. */
export const GatewayStatus = Closed({
  state: Type.Enum([...gatewayStates], { examples: ['enrolled'] }),
  is_connected: Type.Boolean(),
})

import { type Static, Type } from 'typebox'
import { modules, roles, scopes } from '../http/endpoint.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'

const ClientName = field.Text('Name of the client.', 'Sun Owners')
const PersonName = Type.String({ examples: ['Ada'] })
const Address = Type.String({ examples: ['ada@example.com'] })

export const SiteId = field.Text('A site of the client.', {
  minLength: 1,
  maxLength: 64,
  examples: ['demo'],
})
export const UserId = field.Text('A user of the client.', {
  pattern: '^user_[0-9a-f]{12}$',
  examples: ['user_0123456789ab'],
})
export const KeyId = field.Text('An API key.', {
  pattern: '^[0-9a-f]{12}$',
  examples: ['0123456789ab'],
})
export const InvitationId = field.Text('An invitation.', {
  pattern: '^[0-9a-f]{12}$',
  examples: ['0123456789ab'],
})
export const RoleName = field.OneOf(
  roles,
  '`viewer` reads. `operator` also writes and sends commands. `administrator` also manages keys ' +
    'and users.',
  'operator',
)
export const SiteIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: 1000,
    description: 'Sites of the client; null for all present and future sites.',
  }),
)
export const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true })
export const Name = field.Text('One line, without leading or trailing blanks.', {
  minLength: 1,
  maxLength: 100,
  pattern: '^\\S(?:.*\\S)?$',
})
export const Email = Type.String({ format: 'email', maxLength: 254 })

export const SessionUser = Named('PlatformSession', {
  user_id: UserId,
  name: PersonName,
  email: Address,
  role: RoleName,
  two_factor_enabled: Type.Boolean(),
  client: ClientName,
  modules: Type.Array(Type.Enum([...modules]), { description: 'The plan of the client.' }),
  scopes: Type.Array(Type.Enum([...scopes]), {
    description: 'Scopes that both the role and the plan allow.',
  }),
  mail_is_sent: field.Flag('Whether this server sends mail.'),
})

export type User = Static<typeof User>
export const User = Named('PlatformUser', {
  user_id: UserId,
  name: PersonName,
  email: Address,
  role: RoleName,
  site_ids: SiteIds,
  two_factor_enabled: Type.Boolean(),
  is_disabled: field.Flag('Whether the account is locked out.'),
  created_at: field.At('When the account was created.'),
  signed_in_at: Nullable(field.At('Start of the newest open session.')),
})

export type Invitation = Static<typeof Invitation>
export const Invitation = Named('PlatformInvitation', {
  invitation_id: InvitationId,
  email: Nullable(Address),
  role: RoleName,
  site_ids: SiteIds,
  state: Type.Enum(['open', 'accepted', 'expired', 'revoked']),
  created_at: field.At('When the invitation was created.'),
  created_by: Type.String({ examples: ['Grace'] }),
  expires_at: field.At('When the invitation expires.'),
})

export const NewInvitation = Named('PlatformNewInvitation', {
  ...Invitation.properties,
  link_path: field.Text(
    'Path of the one-time link on this server; returned only once.',
    '/invitation#0123456789ab…',
  ),
  is_mailed: field.Flag('Whether the link was mailed to the address.'),
})

export const OpenInvitation = Named('PlatformOpenInvitation', {
  client: ClientName,
  email: field.TextOrNull('Address of the invitation.', 'ada@example.com'),
  role: RoleName,
  expires_at: field.At('When the invitation expires.'),
})

export const NewAccount = Named('PlatformAccount', { user_id: UserId, email: Address })

export const ConfirmedRecipient = Named('PlatformRecipient', { email: Address, client: ClientName })

export type Key = Static<typeof Key>
export const Key = Named('PlatformKey', {
  key_id: KeyId,
  key_prefix: field.Text('The public first half of the key.', 'svc_live_0123456789ab'),
  name: Type.String({ examples: ['Energy trader'] }),
  state: field.OneOf(
    ['active', 'expired', 'revoked', 'rotating'],
    '`rotating`: the previous secret is accepted until `previous_until`.',
  ),
  scopes: Type.Array(Type.Enum([...scopes])),
  site_ids: Nullable(Type.Array(Type.String())),
  created_at: field.At('When the key was created.'),
  created_by: PersonName,
  last_used_at: Nullable(field.At('When the key was last used, to the minute.')),
  rotated_at: Nullable(field.At('When the secret was last rotated.')),
  previous_until: Nullable(field.At('Until when the previous secret is accepted.')),
  expires_at: Nullable(field.At('When the key expires; null for never.')),
  revoked_at: Nullable(field.At('When the key was revoked.')),
})

export const ShownKey = Named('PlatformShownKey', {
  ...Key.properties,
  key: field.Text('The complete key; returned only once.', 'svc_live_0123456789ab_…'),
})

export const NewSite = Named('PlatformNewSite', {
  site_id: SiteId,
  name: field.Text('Name of the site.', 'North field'),
  commissioning_safe_mode: Type.Boolean({ examples: [true] }),
})

export const EnrolmentId = field.Text('An enrolment: the first characters of its code.', {
  pattern: '^[0-9A-Z]{6}$',
  examples: ['7KQ03M'],
})

export type Enrolment = Static<typeof Enrolment>
export const Enrolment = Named('PlatformEnrolment', {
  site_id: SiteId,
  enrolment_id: EnrolmentId,
  state: field.OneOf(
    ['open', 'waiting', 'enrolled', 'expired', 'revoked', 'locked'],
    '`open`: the code was not used yet. `waiting`: a gateway has used it, and an administrator must ' +
      'confirm that it takes over the site. `locked`: too many wrong codes.',
  ),
  created_at: field.At('When the code was created.'),
  created_by: PersonName,
  expires_at: field.At('When the code, or the confirmation of the take-over, expires.'),
  used_at: Nullable(field.At('When a gateway used the code.')),
  gateway: field.TextOrNull('Host name of that gateway.', 'gateway-1'),
  address: field.TextOrNull('Network address of that gateway.', '203.0.113.7'),
  agent_version: field.TextOrNull('Version of the edge agent on that gateway.', '0.1.0'),
  edge_id: field.TextOrNull('Edge of the gateway once it is enrolled.', '0123456789ab'),
  enrolled_at: Nullable(field.At('When the gateway became the edge of the site.')),
  confirmed_by: field.TextOrNull('Who confirmed the take-over; null if none was needed.', 'Ada'),
})

export const NewEnrolment = Named('PlatformNewEnrolment', {
  ...Enrolment.properties,
  code: field.Text('The one-time code; returned only once.', '7KQ0-3M2P-XV5R-8TBC'),
  server_url: field.TextOrNull(
    'The `PUBLIC_URL` of this server; null when it has none.',
    'https://heliograph.example.com',
  ),
})

export const PlatformEdge = Named('PlatformEdge', {
  site_id: SiteId,
  edge_id: field.Text('An edge of the site.', '0123456789ab'),
  name: field.Text('Name of the edge, by default the host name of its gateway.', 'gateway-1'),
  is_connected: field.Flag('Whether the edge reported its status in the last 30 s.', true),
  agent_version: field.TextOrNull('Version of the edge agent; null before it connected.', '0.1.0'),
  server_version: field.Text('Version of this server, which the edge should have too.', '0.1.0'),
  is_outdated: field.Flag('Whether the version of the edge is older than that of the server.'),
  created_at: field.At('When the edge was enrolled.'),
  last_seen_at: Nullable(field.At('When the edge was last seen; null for never.')),
  revoked_at: Nullable(field.At('When the token of the edge was revoked.')),
})

export type AuditEntry = Static<typeof AuditEntry>
export const AuditEntry = Named('PlatformAuditEntry', {
  audit_id: Type.String({ examples: ['42'] }),
  site_id: field.TextOrNull('Site of the write; null for a write to the client.', 'pv-south'),
  at: field.At('When the write was made.'),
  by: field.Text(
    'Id of the key or user. For requests without a session: the user whose account was named. ' +
      '`operator` for a command on the server, `gateway` for the exchange of an enrolment code.',
    'user_0123456789ab',
  ),
  by_name: field.Text('Name at the time of the write.', 'Ada'),
  method: Type.String({ examples: ['POST'] }),
  path: Type.String({ examples: ['/curtailment/immediate'] }),
  body: field.TextOrNull('JSON of the request, truncated when long.', {
    examples: ['{"scope":"site","limit_mode":"percent","limit_value":50}'],
  }),
  status: field.IntOrNull('Status of the answer; null while pending.', 201),
  address: field.TextOrNull('Network address of the caller.', '203.0.113.7'),
  request_id: field.TextOrNull(
    'Id of the request; null for a command.',
    '0b0e7c9e-2c6b-4f6e-9f43-0c6f1d7b0a55',
  ),
})

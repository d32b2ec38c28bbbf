import { Type } from 'typebox'
import { modules, roles, scopes } from '../http/endpoint.ts'
import { Nullable } from '../http/params.ts'

const closed = { additionalProperties: false } as const
const At = (description: string) => Type.String({ format: 'date-time', description })

export const SiteId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'A site of the client.',
})
export const UserId = Type.String({ pattern: '^user_[0-9a-f]{12}$', description: 'A person.' })
export const KeyId = Type.String({ pattern: '^[0-9a-f]{12}$', description: 'An API key.' })
export const InvitationId = Type.String({
  pattern: '^[0-9a-f]{12}$',
  description: 'An invitation.',
})
export const RoleName = Type.Enum([...roles], {
  description:
    '`viewer` reads, `operator` also writes and commands, `administrator` also makes keys and ' +
    'looks after people.',
})
export const SiteIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: 1000,
    description: 'Sites of the client; null: all, later ones too.',
  }),
)
export const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true })
export const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^\\S(?:.*\\S)?$',
  description: 'One line, without blanks around it.',
})
export const Email = Type.String({ format: 'email', maxLength: 254 })

export const SessionUser = Type.Object(
  {
    user_id: UserId,
    name: Type.String(),
    email: Type.String(),
    role: RoleName,
    two_factor_enabled: Type.Boolean(),
    client: Type.String({ description: 'The name of the client.' }),
    modules: Type.Array(Type.Enum([...modules]), { description: "The client's plan." }),
    scopes: Type.Array(Type.Enum([...scopes]), {
      description: 'What the role and the plan allow.',
    }),
    mail_is_sent: Type.Boolean({ description: 'Whether this server sends mails.' }),
  },
  { ...closed, $id: 'PlatformSession' },
)

export const User = Type.Object(
  {
    user_id: UserId,
    name: Type.String(),
    email: Type.String(),
    role: RoleName,
    site_ids: SiteIds,
    two_factor_enabled: Type.Boolean(),
    is_disabled: Type.Boolean({ description: 'Signed out, and not let in.' }),
    created_at: At('When the account was made.'),
    signed_in_at: Nullable(At('Of the sessions that are not over, when the newest began.')),
  },
  { ...closed, $id: 'PlatformUser' },
)

export const Invitation = Type.Object(
  {
    invitation_id: InvitationId,
    email: Nullable(Type.String()),
    role: RoleName,
    site_ids: SiteIds,
    state: Type.Enum(['open', 'accepted', 'expired', 'revoked']),
    created_at: At('When it was made.'),
    created_by: Type.String(),
    expires_at: At('Until when it can be accepted.'),
  },
  { ...closed, $id: 'PlatformInvitation' },
)

export const NewInvitation = Type.Object(
  {
    ...Invitation.properties,
    link_path: Type.String({
      description: 'Below the address of this server; shown once, to be handed over.',
    }),
    is_mailed: Type.Boolean({ description: 'Whether it was mailed to the address, too.' }),
  },
  { ...closed, $id: 'PlatformNewInvitation' },
)

export const OpenInvitation = Type.Object(
  {
    client: Type.String(),
    email: Nullable(Type.String({ description: 'The address that it is for.' })),
    role: RoleName,
    expires_at: At('Until when it can be accepted.'),
  },
  { ...closed, $id: 'PlatformOpenInvitation' },
)

export const Key = Type.Object(
  {
    key_id: KeyId,
    key_prefix: Type.String({
      description: 'How the key begins.',
      examples: ['svc_live_0123456789ab'],
    }),
    name: Type.String(),
    state: Type.Enum(['active', 'expired', 'revoked', 'rotating']),
    scopes: Type.Array(Type.Enum([...scopes])),
    site_ids: Nullable(Type.Array(Type.String())),
    created_at: At('When it was made.'),
    created_by: Type.String(),
    last_used_at: Nullable(At('To the minute.')),
    rotated_at: Nullable(At('When its secret was changed last.')),
    previous_until: Nullable(At('Until when the secret before that is accepted.')),
    expires_at: Nullable(At('null: never.')),
    revoked_at: Nullable(At('When it was ended.')),
  },
  { ...closed, $id: 'PlatformKey' },
)

export const ShownKey = Type.Object(
  { ...Key.properties, key: Type.String({ description: 'The whole key, shown this once.' }) },
  { ...closed, $id: 'PlatformShownKey' },
)

export const AuditEntry = Type.Object(
  {
    audit_id: Type.String(),
    site_id: Nullable(Type.String({ description: 'null: of the client.' })),
    at: At('When.'),
    by: Type.String({
      description:
        'The id of a key or of a person (whose account was named, where anybody may ask); ' +
        '`operator`: of the server, by a command.',
    }),
    by_name: Type.String({ description: 'As it was called then.' }),
    method: Type.String(),
    path: Type.String(),
    body: Nullable(Type.String({ description: 'JSON as it came, cut where it is long.' })),
    status: Nullable(Type.Integer({ description: 'Of the answer; null while one is waited for.' })),
    address: Nullable(Type.String({ description: 'The network address that asked.' })),
    request_id: Nullable(Type.String({ description: 'null: of a command.' })),
  },
  { ...closed, $id: 'PlatformAuditEntry' },
)

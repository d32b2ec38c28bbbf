/** Who is signed in, the people of a client, and how they come to be. */
import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { endpoint, type Request, type Role } from '../http/endpoint.ts'
import { List } from '../http/envelope.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { scopeModules } from '../http/scope-modules.ts'
import { isMailAddress } from '../mail/address.ts'
import { confirmByLink } from '../mail/recipients.ts'
import type { Database, Transaction } from '../storage/database.ts'
import {
  acceptedExample,
  confirmedExample,
  invitationExample,
  newInvitationExample,
  openInvitationExample,
  sessionExample,
  userExample,
} from './examples.ts'
import {
  acceptInvitation,
  createInvitation,
  findInvitation,
  type Invitation as InvitationRow,
  invitationState,
  listInvitations,
  revokeInvitation,
} from './invitations.ts'
import { mailInvitation } from './mails.ts'
import { hashPassword, password_characters_max, password_characters_min } from './passwords.ts'
import {
  Email,
  Invitation,
  InvitationId,
  Name,
  NewInvitation,
  OpenInvitation,
  RoleName,
  SessionUser,
  SiteIds,
  User,
  UserId,
} from './schemas.ts'
import { noteSignIn } from './sign-in-audit.ts'
import {
  changeUser,
  clientName,
  findUser,
  listUsers,
  removeUser,
  type User as UserRow,
} from './users.ts'

export interface PlatformNeeds {
  clock: Clock
  db: Database
  /** Whether mails are sent, and where browsers reach this server; null: not told. */
  mail: { is_sent: boolean; public_url: string | null }
}

const tag = { tag: 'Platform', scope: null, module: null } as const
const forAdministrators = { ...tag, role: 'administrator' } as const
type Asked = Pick<Request<unknown, unknown, unknown>, 'caller'>

export const getSession = endpoint({
  ...tag,
  method: 'GET',
  path: '/platform/session',
  operation_id: 'platform_session_get',
  role: 'viewer',
  summary: 'Who is signed in',
  returns: SessionUser,
  example: { answer: sessionExample },
  async handle({ caller }, { db, mail }: PlatformNeeds) {
    const user = (await findUser(db, { client_id: caller.client_id, user_id: caller.key_id }))!
    const { user_id, name, email, role, two_factor_enabled } = user
    return {
      user_id,
      name,
      email,
      role,
      two_factor_enabled,
      client: await clientName(db, caller),
      modules: [...caller.modules],
      scopes: [...caller.scopes].filter((scope) => caller.modules.has(scopeModules[scope])),
      mail_is_sent: mail.is_sent,
    }
  },
})

const userOf = ({ created_at, signed_in_at, ...user }: UserRow) => ({
  ...user,
  created_at: created_at.toISOString(),
  signed_in_at: signed_in_at?.toISOString() ?? null,
})

export const getUsers = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/users',
  operation_id: 'platform_users_list',
  summary: 'The people of the client',
  returns: List(User),
  example: { answer: { data: [userExample], meta: { count: 1 } } },
  async handle({ caller }, { db }: PlatformNeeds) {
    const data = (await listUsers(db, caller.client_id)).map(userOf)
    return { data, meta: { count: data.length } }
  },
})

const lastAdministrator = () =>
  new ApiError('conflict_state', { current_state: 'last_administrator' })

async function requireUser(db: Database, { caller }: Asked, user_id: string) {
  const user = await findUser(db, { client_id: caller.client_id, user_id })
  if (user === null) throw new ApiError('not_found', { user_id })
  return { ...user, client_id: caller.client_id }
}

/** Who makes keys and looks after people does so for all sites of the client. */
function requireWhole(role: Role, site_ids: readonly string[] | null): void {
  if (role !== 'administrator' || site_ids === null) return
  throw invalid({
    location: 'body',
    field: 'site_ids',
    code: 'not_allowed_value',
    message: 'must be null for an administrator, who looks after all sites of the client',
  })
}

/** Refuses sites that are none of the client, by name. */
async function requireSites(tx: Transaction, { caller }: Asked, site_ids: string[] | null) {
  if (site_ids === null) return
  const known = await tx.query<{ site_id: string }>(
    'select site_id from sites where client_id = $1 and site_id = any ($2)',
    [caller.client_id, site_ids],
  )
  const unknown = site_ids.find((id) => !known.some(({ site_id }) => site_id === id))
  if (unknown === undefined) return
  throw invalid({
    location: 'body',
    field: 'site_ids',
    code: 'unknown_site',
    message: `${JSON.stringify(unknown)} is no site of the client`,
  })
}

export const changeUserEndpoint = endpoint({
  ...forAdministrators,
  method: 'PATCH',
  path: '/platform/users/{user_id}',
  operation_id: 'platform_user_change',
  summary: 'Change what a person may do',
  description:
    'What is left out stays. Who is disabled is signed out everywhere. The last administrator of ' +
    'a client stays one: 409.',
  params: { user_id: UserId },
  body: Type.Object(
    {
      name: Type.Optional(Name),
      role: Type.Optional(RoleName),
      site_ids: Type.Optional(SiteIds),
      is_disabled: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  returns: User,
  example: { body: { role: 'operator' }, answer: userExample },
  async handle(request, { db, clock }: PlatformNeeds) {
    const { user_id } = request.params
    const user = await requireUser(db, request, user_id)
    const { role = user.role, site_ids = user.site_ids } = request.body
    requireWhole(role, site_ids)
    await requireSites(request.tx, request, request.body.site_ids ?? null)
    const is_done = await changeUser(request.tx, user, request.body, clock.now())
    if (!is_done) throw lastAdministrator()
    return userOf((await findUser(request.tx as never, user))!)
  },
})

export const deleteUser = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/users/{user_id}',
  operation_id: 'platform_user_delete',
  summary: 'Remove a person',
  description: 'Signed out everywhere; what was done stays under the name.',
  params: { user_id: UserId },
  status: 204,
  returns: Type.Null(),
  example: { answer: null },
  async handle(request, { db }: PlatformNeeds) {
    const user = await requireUser(db, request, request.params.user_id)
    if (!(await removeUser(request.tx, user))) throw lastAdministrator()
    return null
  },
})

const invitationOf = (row: InvitationRow, now: Date) => ({
  invitation_id: row.invitation_id,
  email: row.email,
  role: row.role,
  site_ids: row.site_ids,
  state: invitationState(row, now),
  created_at: row.created_at.toISOString(),
  created_by: row.created_by,
  expires_at: row.expires_at.toISOString(),
})

export const getInvitations = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/invitations',
  operation_id: 'platform_invitations_list',
  summary: 'The invitations of the client',
  returns: List(Invitation),
  example: { answer: { data: [invitationExample], meta: { count: 1 } } },
  async handle({ caller }, { db, clock }: PlatformNeeds) {
    const now = clock.now()
    const rows = await listInvitations(db, caller.client_id)
    return { data: rows.map((row) => invitationOf(row, now)), meta: { count: rows.length } }
  },
})

export const invite = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/invitations',
  operation_id: 'platform_invitation_create',
  summary: 'Invite a person',
  description:
    'Makes a one-time link, good for seven days, and mails it where this server sends mails and ' +
    'knows its public address. The link is shown this once: no Idempotency-Key keeps it.',
  body: Type.Object(
    { email: Email, role: RoleName, site_ids: Type.Optional(SiteIds) },
    { additionalProperties: false },
  ),
  status: 201,
  shown_once: true,
  returns: NewInvitation,
  example: {
    body: { email: 'ada@example.com', role: 'operator' },
    answer: newInvitationExample,
  },
  async handle(request, { clock, mail }: PlatformNeeds) {
    const { tx, caller, body } = request
    const { role, site_ids = null } = body
    const email = body.email.toLowerCase()
    if (!isMailAddress(email)) throw badEmail('is no mail address')
    requireWhole(role, site_ids)
    await requireSites(tx, request, site_ids)
    const taken = await tx.query('select 1 from users where email = $1 and client_id = $2', [
      email,
      caller.client_id,
    ])
    if (taken.length > 0) throw badEmail('has an account already')
    const now = clock.now()
    const order = { client_id: caller.client_id, role, site_ids, email }
    const made = await createInvitation(tx, { ...order, created_by: caller.key_name }, now)
    const link_path = `/invitation#${made.token}`
    const is_mailed = mail.is_sent && mail.public_url !== null
    if (is_mailed) await mailInvitation(tx, { ...made, email, link_path }, mail.public_url!)
    return { ...invitationOf(made, now), link_path, is_mailed }
  },
})

const badEmail = (message: string) =>
  invalid({ location: 'body', field: 'email', code: 'invalid_value', message })

export const revokeInvitationEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/invitations/{invitation_id}',
  operation_id: 'platform_invitation_revoke',
  summary: 'Take an invitation back',
  params: { invitation_id: InvitationId },
  returns: Invitation,
  example: { answer: { ...invitationExample, state: 'revoked' } },
  async handle({ tx, caller, params }, { clock }: PlatformNeeds) {
    const now = clock.now()
    const of = { client_id: caller.client_id, invitation_id: params.invitation_id }
    const row = await revokeInvitation(tx, of, now)
    if (row === null) throw new ApiError('not_found', { invitation_id: params.invitation_id })
    return invitationOf(row, now)
  },
})

const Token = Type.String({ maxLength: 200, description: 'What stands behind # in the link.' })

/** One that was used, has ended or never was: nobody learns which. */
const noInvitation = () => new ApiError('not_found', { field: 'token' })

export const lookAtInvitation = endpoint({
  ...tag,
  method: 'POST',
  path: '/platform/invitations/look',
  operation_id: 'platform_invitation_look',
  role: 'anyone',
  summary: 'What an invitation is for',
  description: 'The token goes in the body, so that no log of addresses has it.',
  body: Type.Object({ token: Token }, { additionalProperties: false }),
  shown_once: true,
  returns: OpenInvitation,
  example: { body: { token: '0123456789ab…' }, answer: openInvitationExample },
  async handle({ tx, body }, { clock }: PlatformNeeds) {
    const found = await findInvitation(tx, body.token, clock.now())
    if (found === null) throw noInvitation()
    const { client, email, role, expires_at } = found
    return { client, email, role, expires_at: expires_at.toISOString() }
  },
})

export const acceptInvitationEndpoint = endpoint({
  ...tag,
  method: 'POST',
  path: '/platform/invitations/accept',
  operation_id: 'platform_invitation_accept',
  role: 'anyone',
  summary: 'Make an account by an invitation',
  description: 'Then sign in with it. `email` is for the first link alone, which names nobody.',
  body: Type.Object(
    {
      token: Token,
      name: Name,
      email: Type.Optional(Email),
      password: Type.String({
        minLength: password_characters_min,
        maxLength: password_characters_max,
      }),
    },
    { additionalProperties: false },
  ),
  status: 201,
  shown_once: true,
  returns: Type.Object(
    { user_id: UserId, email: Type.String() },
    { additionalProperties: false, $id: 'PlatformAccount' },
  ),
  example: {
    body: { token: '0123456789ab…', name: 'Ada', password: 'a long sentence of mine' },
    answer: acceptedExample,
  },
  async handle({ tx, body, caller, request_id }, { clock }: PlatformNeeds) {
    const now = clock.now()
    const found = await findInvitation(tx, body.token, now)
    if (found === null) throw noInvitation()
    const email = found.email ?? body.email?.toLowerCase()
    if (email === undefined || !isMailAddress(email)) throw badEmail('is needed')
    const password_hash = await hashPassword(body.password)
    const account = { email, name: body.name, password_hash }
    const user_id = await acceptInvitation(tx, found, account, now)
    if (user_id === null) throw badEmail('has an account already')
    await noteSignIn(tx, {
      who: user_id,
      at: now,
      path: '/platform/invitations/accept',
      status: 201,
      address: caller.key_name,
      request_id,
      details: { email, role: found.role },
    })
    return { user_id, email }
  },
})

export const confirmRecipientEndpoint = endpoint({
  ...tag,
  method: 'POST',
  path: '/platform/recipients/confirm',
  operation_id: 'platform_recipient_confirm',
  role: 'anyone',
  summary: 'Agree to be mailed reports',
  description: 'By the link that was mailed to the address. It is good once, for seven days.',
  body: Type.Object({ token: Token }, { additionalProperties: false }),
  shown_once: true,
  returns: Type.Object(
    { email: Type.String(), client: Type.String() },
    { additionalProperties: false, $id: 'PlatformRecipient' },
  ),
  example: { body: { token: '0123456789ab…' }, answer: confirmedExample },
  async handle({ tx, body }, { clock }: PlatformNeeds) {
    const confirmed = await confirmByLink(tx, body.token, clock.now())
    if (confirmed === null) throw noInvitation()
    return confirmed
  },
})

/** The session, the users of a client and their invitations. */

import { Type } from 'typebox'
import { endpoint, type Request, type Role } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError, badField } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed } from '../http/params.ts'
import { scopeModules } from '../http/scope-modules.ts'
import { isMailAddress } from '../mail/address.ts'
import { confirmByLink } from '../mail/recipients.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { served } from '../storage/records.ts'
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
import { forAdministrators, type PlatformNeeds, platformOperation } from './platform-operation.ts'
import {
  ConfirmedRecipient,
  Email,
  Invitation,
  InvitationId,
  Name,
  NewAccount,
  NewInvitation,
  OpenInvitation,
  RoleName,
  SessionUser,
  SiteIds,
  User,
  UserId,
} from './schemas.ts'
import { auditSignIn } from './sign-in-audit.ts'
import { changeUser, clientName, findUser, listUsers, removeUser, type UserRow } from './users.ts'

type Asked = Pick<Request<unknown, unknown, unknown>, 'caller'>

export const getSession = endpoint({
  ...platformOperation,
  method: 'GET',
  path: '/platform/session',
  operation_id: 'platform_session_get',
  role: 'viewer',
  summary: 'Get the signed-in user',
  returns: SessionUser,
  async handle({ caller }, { db, mail }: PlatformNeeds) {
    const user = (await findUser(db, { client_id: caller.client_id, user_id: caller.key_id }))!
    return served(SessionUser, {
      ...user,
      client: await clientName(db, caller),
      modules: [...caller.modules],
      scopes: [...caller.scopes].filter((scope) => caller.modules.has(scopeModules[scope])),
      mail_is_sent: mail.is_sent,
    })
  },
})

const userOf = (row: UserRow) => served(User, row)

export const getUsers = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/users',
  operation_id: 'platform_users_list',
  summary: 'List the users of the client',
  returns: List(User),
  async handle({ caller }, { db }: PlatformNeeds) {
    return list((await listUsers(db, caller.client_id)).map(userOf))
  },
})

const lastAdministrator = () =>
  new ApiError('conflict_state', { current_state: 'last_administrator' })

async function requireUser(db: Database, { caller }: Asked, user_id: string) {
  const user = await findUser(db, { client_id: caller.client_id, user_id })
  if (user === null) throw new ApiError('not_found', { user_id })
  return { ...user, client_id: caller.client_id }
}

/** Keys and users belong to all sites of the client: so do the administrators who manage them. */
function requireWhole(role: Role, site_ids: readonly string[] | null): void {
  if (role !== 'administrator' || site_ids === null) return
  const message = 'must be null for an administrator, who manages all sites of the client'
  throw badField('site_ids', 'not_allowed_value', message)
}

/** Refuses the first site that does not belong to the client. */
async function requireSites(tx: Transaction, { caller }: Asked, site_ids: string[] | null) {
  if (site_ids === null) return
  const known = await tx.query<{ site_id: string }>(
    'select site_id from sites where client_id = $1 and site_id = any ($2)',
    [caller.client_id, site_ids],
  )
  const unknown = site_ids.find((id) => !known.some(({ site_id }) => site_id === id))
  if (unknown === undefined) return
  const message = `${JSON.stringify(unknown)} is not a site of the client`
  throw badField('site_ids', 'unknown_site', message)
}

export const changeUserEndpoint = endpoint({
  ...forAdministrators,
  method: 'PATCH',
  path: '/platform/users/{user_id}',
  operation_id: 'platform_user_change',
  summary: 'Change a user',
  description:
    'Changes only the given fields. Disabling or enabling a user ends all sessions of the user. ' +
    'Rejected with 409 when the client would have no administrator left.',
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
  example: { body: { role: 'operator' } },
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
  summary: 'Delete a user',
  description:
    'Deletes the account and ends its sessions. Past writes keep the name. Rejected with 409 for the ' +
    'last administrator.',
  params: { user_id: UserId },
  status: 204,
  returns: Type.Null(),
  async handle(request, { db }: PlatformNeeds) {
    const user = await requireUser(db, request, request.params.user_id)
    if (!(await removeUser(request.tx, user))) throw lastAdministrator()
    return null
  },
})

const invitationOf = (row: InvitationRow, now: Date) =>
  served(Invitation, {
    ...row,
    state: invitationState(row, now),
  })

export const getInvitations = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/invitations',
  operation_id: 'platform_invitations_list',
  summary: 'List the invitations of the client',
  returns: List(Invitation),
  async handle({ caller }, { db, clock }: PlatformNeeds) {
    const now = clock.now()
    const rows = await listInvitations(db, caller.client_id)
    return list(rows.map((row) => invitationOf(row, now)))
  },
})

export const invite = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/invitations',
  operation_id: 'platform_invitation_create',
  summary: 'Invite a user',
  description:
    'Returns a one-time link that is valid for seven days. The link is mailed too when this server ' +
    'sends mail and has a `PUBLIC_URL`. The link is in this answer only and is not replayed for an ' +
    'Idempotency-Key.',
  body: Closed({ email: Email, role: RoleName, site_ids: Type.Optional(SiteIds) }),
  status: 201,
  shown_once: true,
  returns: NewInvitation,
  example: {
    body: { email: 'ada@example.com', role: 'operator' },
  },
  async handle(request, { clock, mail }: PlatformNeeds) {
    const { tx, caller, body } = request
    const { role, site_ids = null } = body
    const email = body.email.toLowerCase()
    if (!isMailAddress(email)) throw badEmail('is not a mail address')
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

const badEmail = (message: string) => badField('email', 'invalid_value', message)

export const revokeInvitationEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/invitations/{invitation_id}',
  operation_id: 'platform_invitation_revoke',
  summary: 'Revoke an invitation',
  params: { invitation_id: InvitationId },
  returns: Invitation,
  async handle({ tx, caller, params }, { clock }: PlatformNeeds) {
    const now = clock.now()
    const of = { client_id: caller.client_id, invitation_id: params.invitation_id }
    const row = await revokeInvitation(tx, of, now)
    if (row === null) throw new ApiError('not_found', { invitation_id: params.invitation_id })
    return invitationOf(row, now)
  },
})

const Token = field.Text('The part of the link after `#`.', { maxLength: 200 })

/** The same answer for used, expired and unknown tokens, so that callers cannot tell them apart. */
const noInvitation = () => new ApiError('not_found', { field: 'token' })

export const lookAtInvitation = endpoint({
  ...platformOperation,
  method: 'POST',
  path: '/platform/invitations/look',
  operation_id: 'platform_invitation_look',
  role: 'anyone',
  summary: 'Look up an invitation',
  description:
    'Returns the open invitation of a token. The body carries the token to keep it out of access logs.',
  body: Closed({ token: Token }),
  shown_once: true,
  returns: OpenInvitation,
  example: { body: { token: '0123456789ab…' } },
  async handle({ tx, body }, { clock }: PlatformNeeds) {
    const found = await findInvitation(tx, body.token, clock.now())
    if (found === null) throw noInvitation()
    const { client, email, role, expires_at } = found
    return { client, email, role, expires_at: expires_at.toISOString() }
  },
})

export const acceptInvitationEndpoint = endpoint({
  ...platformOperation,
  method: 'POST',
  path: '/platform/invitations/accept',
  operation_id: 'platform_invitation_accept',
  role: 'anyone',
  summary: 'Accept an invitation',
  description:
    'Creates the account; sign in with it afterwards. `email` is needed only for the first link of a ' +
    'server, which has no address.',
  body: Closed({
    token: Token,
    name: Name,
    email: Type.Optional(Email),
    password: Type.String({
      minLength: password_characters_min,
      maxLength: password_characters_max,
    }),
  }),
  status: 201,
  shown_once: true,
  returns: NewAccount,
  example: {
    body: { token: '0123456789ab…', name: 'Ada', password: 'a long sentence of mine' },
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
    await auditSignIn(tx, {
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
  ...platformOperation,
  method: 'POST',
  path: '/platform/recipients/confirm',
  operation_id: 'platform_recipient_confirm',
  role: 'anyone',
  summary: 'Confirm a recipient of reports',
  description:
    'Confirms the address that the link was mailed to. The link works once and expires after seven ' +
    'days.',
  body: Closed({ token: Token }),
  shown_once: true,
  returns: ConfirmedRecipient,
  example: {
    body: { token: '0123456789ab…' },
  },
  async handle({ tx, body }, { clock }: PlatformNeeds) {
    const confirmed = await confirmByLink(tx, body.token, clock.now())
    if (confirmed === null) throw noInvitation()
    return confirmed
  },
})

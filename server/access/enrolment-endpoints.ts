/** The enrolment of gateways: codes of administrators, their exchange, and the edges of a site. */
import { randomBytes } from 'node:crypto'
import { ExchangedCode, exchangePath, GatewayStatus, lookPath } from '@heliograph/domain/enrolment'
import { edgeTokenPattern } from '@heliograph/domain/link'
import { compareVersions } from '@heliograph/domain/version'
import { endpoint, type Request } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'
import { served } from '../storage/records.ts'
import { adminOf } from './admin.ts'
import { type Edge, isConnected, listEdges } from './edges.ts'
import {
  createEnrolment,
  type EnrolmentRow,
  enrolGateway,
  exchangeCode,
  findEnrolment,
  gatewayStatus,
  listEnrolments,
  revokeEnrolment,
  stateOf,
} from './enrolments.ts'
import {
  checkSite,
  forAdministrators,
  type PlatformNeeds,
  platformOperation,
} from './platform-operation.ts'
import { Enrolment, EnrolmentId, Name, NewEnrolment, PlatformEdge, SiteId } from './schemas.ts'
import { auditGateway } from './sign-in-audit.ts'

const shown = (row: EnrolmentRow, now: Date) =>
  served(Enrolment, { ...row, state: stateOf(row, now) })

export const listPlatformEdges = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path: '/platform/edges',
  operation_id: 'platform_edges_list',
  summary: 'List the edges of a site',
  description: 'Returns the edges of the site, revoked ones too, in the order of their enrolment.',
  query: { site_id: SiteId },
  returns: List(PlatformEdge),
  async handle({ caller, query: { site_id } }, { db, clock, installation }: PlatformNeeds) {
    await checkSite(db, caller, site_id)
    const now = clock.now()
    const { version: server_version } = installation
    const edges = await listEdges({ db, clock, randomBytes }, { site_id })
    return list(edges.map((edge) => edgeOf(edge, { now, server_version })))
  },
})

function edgeOf(edge: Edge, { now, server_version }: { now: Date; server_version: string }) {
  const { revoked_at, agent_version } = edge
  const is_active = revoked_at === null
  return served(PlatformEdge, {
    ...edge,
    server_version,
    is_connected: is_active && isConnected(edge, now),
    is_outdated:
      is_active && agent_version !== null && compareVersions(agent_version, server_version) < 0,
  })
}

export const listPlatformEnrolments = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/enrolments',
  operation_id: 'platform_enrolments_list',
  summary: 'List the enrolments of a site',
  description: 'Returns the 100 newest enrolments of the site, newest first. Codes are not shown.',
  query: { site_id: SiteId },
  returns: List(Enrolment),
  async handle({ caller, query: { site_id } }, { db, clock }: PlatformNeeds) {
    await checkSite(db, caller, site_id)
    const now = clock.now()
    return list((await listEnrolments(db, site_id)).map((row) => shown(row, now)))
  },
})

export const createEnrolmentEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/enrolments',
  operation_id: 'platform_enrolment_create',
  summary: 'Create an enrolment code',
  description:
    'Returns a one-time code for `heliograph-edge setup` on the gateway of the site. It is valid for ' +
    'an hour and for five tries, and ends earlier codes of the site that no gateway was enrolled ' +
    'with. The code is in this answer only and is not replayed for an Idempotency-Key.',
  body: Closed({ site_id: SiteId }),
  status: 201,
  shown_once: true,
  returns: NewEnrolment,
  example: { body: { site_id: 'demo' } },
  async handle({ tx, caller, body: { site_id } }, needs: PlatformNeeds) {
    await checkSite(tx, caller, site_id)
    const order = { site_id, created_by: caller.key_name }
    const { row, code } = await createEnrolment(adminOf(tx, needs), order)
    return { ...shown(row, needs.clock.now()), code, server_url: needs.mail.public_url }
  },
})

type Asked = Pick<Request<{ enrolment_id: string }, unknown, unknown>, 'caller' | 'params'>

async function requireEnrolment(tx: Transaction, { caller, params }: Asked): Promise<EnrolmentRow> {
  const { enrolment_id } = params
  const row = await findEnrolment(tx, { client_id: caller.client_id, enrolment_id })
  if (row === null) throw new ApiError('not_found', { enrolment_id })
  return row
}

export const confirmEnrolment = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/enrolments/{enrolment_id}/confirm',
  operation_id: 'platform_enrolment_confirm',
  summary: 'Confirm that a gateway takes over its site',
  description:
    'Enrols the waiting gateway and revokes the tokens of all other edges of the site, whose ' +
    'connections end within a second. A revoked edge that is still running goes on controlling the ' +
    'devices: switch it off first. Rejected with 409 unless the enrolment is `waiting`.',
  params: { enrolment_id: EnrolmentId },
  returns: Enrolment,
  async handle(request, needs: PlatformNeeds) {
    const { tx, caller } = request
    const row = await requireEnrolment(tx, request)
    const now = needs.clock.now()
    const current_state = stateOf(row, now)
    if (current_state !== 'waiting') {
      throw new ApiError('conflict_state', { current_state, allowed_states: ['waiting'] })
    }
    return shown(await enrolGateway(adminOf(tx, needs), row, caller.key_name), now)
  },
})

export const revokeEnrolmentEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/enrolments/{enrolment_id}',
  operation_id: 'platform_enrolment_revoke',
  summary: 'Revoke an enrolment code or refuse a waiting gateway',
  description: 'Has no effect on an enrolment that is complete.',
  params: { enrolment_id: EnrolmentId },
  returns: Enrolment,
  async handle(request, needs: PlatformNeeds) {
    const row = await requireEnrolment(request.tx, request)
    return shown(await revokeEnrolment(adminOf(request.tx, needs), row), needs.clock.now())
  },
})

export const exchangeEnrolment = endpoint({
  ...platformOperation,
  method: 'POST',
  path: exchangePath,
  operation_id: 'platform_enrolment_exchange',
  role: 'anyone',
  summary: 'Exchange an enrolment code for the token of an edge',
  description:
    'For `heliograph-edge setup`. A refused code is answered with `state` `refused` and its ' +
    '`reason`. The token of a gateway that is `waiting` is not accepted until an administrator ' +
    'confirms the take-over.',
  body: Closed({
    code: field.Text('The code, in any case, with or without hyphens.', {
      minLength: 1,
      maxLength: 40,
      examples: ['7KQ0-3M2P-XV5R-8TBC'],
    }),
    gateway: Name,
    agent_version: field.Text('Version of the edge agent.', {
      minLength: 1,
      maxLength: 60,
      examples: ['0.1.0'],
    }),
  }),
  shown_once: true,
  returns: ExchangedCode,
  example: {
    body: { code: '7KQ0-3M2P-XV5R-8TBC', gateway: 'gateway-1', agent_version: '0.1.0' },
  },
  async handle({ tx, body, caller, request_id }, needs: PlatformNeeds) {
    const { code, gateway: name, agent_version } = body
    const gateway = { name, agent_version, address: caller.key_name }
    const { answer, of } = await exchangeCode(adminOf(tx, needs), code, gateway)
    if (of !== null) {
      await auditGateway(tx, {
        client_id: of.client_id,
        at: needs.clock.now(),
        path: exchangePath,
        gateway: name,
        address: caller.key_name,
        request_id,
        details: { site_id: of.site_id, enrolment_id: of.enrolment_id, state: answer.state },
      })
    }
    return answer
  },
})

export const lookAtGateway = endpoint({
  ...platformOperation,
  method: 'POST',
  path: lookPath,
  operation_id: 'platform_enrolment_look',
  role: 'anyone',
  summary: 'Look up the enrolment of a gateway',
  description:
    'Returns what became of the gateway with this token. The body carries the token to keep it out ' +
    'of access logs. `refused` also for an unknown token.',
  body: Closed({
    token: field.Text('The token that the exchange returned.', {
      pattern: edgeTokenPattern.source,
      examples: [`edge_0123456789ab_${'0'.repeat(64)}`],
    }),
  }),
  shown_once: true,
  returns: GatewayStatus,
  example: { body: { token: `edge_0123456789ab_${'0'.repeat(64)}` } },
  handle: ({ tx, body: { token } }, { clock }: PlatformNeeds) =>
    gatewayStatus(tx, token, clock.now()),
})

import { Type } from 'typebox'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { pageOf } from '../http/cursor.ts'
import { endpoint, type Request, type WriteParts } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { exampleOf } from '../http/example.ts'
import * as field from '../http/fields.ts'
import { id_max, Named, Timestamp } from '../http/params.ts'
import { readListedAlerts, readNewestAlerts } from './listed.ts'
import { publishAlerts } from './published.ts'
import { AlertRecord, alertRecord } from './record.ts'
import { alertStatuses, unresolvedStatuses } from './rule.ts'
import { addTransitions, changeAlerts, lockAlert } from './store.ts'
import { acknowledge, resolve } from './transitions.ts'

export const page_size = 500

const tag = { tag: 'Alerts', module: 'basic_scada' } as const
const writes = { ...tag, method: 'POST', scope: 'alerts:write' } as const

const AlertId = field.Int('An alert of the site.', { minimum: 1, maximum: id_max })

const alertExample = exampleOf(AlertRecord, {
  detected_at: '2026-06-21T08:25:00.000Z',
  ended_at: null,
  acknowledged_at: null,
  resolved_at: null,
  rule_id: 'string_zero_current',
})

const acknowledgedExample: AlertRecord = {
  ...alertExample,
  status: 'acknowledged',
  acknowledged_at: '2026-06-21T10:00:00.000Z',
  acknowledged_by: 'control room',
  ack_note: 'Technician on the way.',
  work_order_id: 42,
}

const resolvedExample: AlertRecord = {
  ...acknowledgedExample,
  status: 'resolved',
  resolved_at: '2026-06-21T10:00:00.000Z',
  resolved_by: 'control room',
  resolution: 'manual',
  resolution_note: 'The fuse was replaced.',
}

export const listAlerts = endpoint({
  ...tag,
  method: 'GET',
  scope: 'alerts:read',
  path: '/alerts',
  operation_id: 'alerts_list',
  summary: 'List alerts by status',
  description:
    'Returns the newest first, by `started_at` and then `alert_id`, in pages of ' +
    `${page_size}. \`meta.count\` counts all pages. Includes suppressed alerts, for which no mail ` +
    'is sent: see `suppressed_reason`.',
  query: {
    status: Type.Optional(
      Type.Array(Type.Enum([...alertStatuses]), {
        minItems: 1,
        description:
          'Only alerts of this status; may be repeated. Defaults to `active` and `acknowledged`.',
        examples: [['active']],
      }),
    ),
  },
  cursor: { started_at: Timestamp, alert_id: AlertId },
  returns: CursorList(AlertRecord),
  example: { answer: cursorList({ rows: [alertExample], next_cursor: null }) },
  async handle({ site: { site_id }, caller, query, after }, { db, clock }: Context) {
    const { status: statuses = unresolvedStatuses } = query
    const found = await readNewestAlerts(db, { site_id, statuses, after, limit: page_size + 1 })
    const shown = { now: clock.now(), has_money: mayRead(caller, 'earnings:read') }
    const records = found.alerts.map((alert) => alertRecord(alert, shown))
    const placeOf = ({ started_at, alert_id }: AlertRecord) => ({ started_at, alert_id })
    return cursorList(pageOf(records, page_size, placeOf), found.count)
  },
})

const AlertNote = Named('AlertNote', {
  note: Type.Optional(
    field.Text('A remark for colleagues.', { maxLength: 2000, examples: ['Technician informed.'] }),
  ),
})

type Deciding = Request<{ alert_id: number }, unknown, { note?: string }> & WriteParts

async function decide(request: Deciding, decision: typeof acknowledge, { clock }: Context) {
  const { site, caller, params, body, tx } = request
  const { site_id } = site
  const alert = await lockAlert(tx, site_id, params.alert_id)
  if (!alert) throw new ApiError('not_found', params)
  const now = clock.now()
  const note = body.note ?? null
  const after = decision(alert, { by: caller.key_name, note, now })
  const { alert_id, status: from_status } = alert
  if (after === null) {
    const state = { current_state: from_status, allowed_from: unresolvedStatuses }
    throw new ApiError('conflict_state', { alert_id, ...state })
  }
  if (after.status !== from_status) {
    await changeAlerts(tx, site_id, [after], now)
    const transition = { alert_id, from_status, to_status: after.status, note }
    await addTransitions(tx, site_id, [transition], { changed_by: caller.key_name, at: now })
    const kind = after.status === 'resolved' ? 'resolved' : 'acknowledged'
    await publishAlerts(tx, { site_id, now }, [{ kind, alert }])
  }
  const shown = { now, has_money: mayRead(caller, 'earnings:read') }
  const [decided] = await readListedAlerts(tx, site_id, [alert_id])
  return alertRecord(decided!, shown)
}

export const acknowledgeAlert = endpoint({
  ...writes,
  path: '/alerts/{alert_id}/acknowledge',
  operation_id: 'alerts_acknowledge',
  summary: 'Acknowledge an alert',
  description:
    'Returns the alert as `acknowledged`. An acknowledged alert stays unchanged. Rejected with 409 ' +
    'when the alert is resolved; see `details.allowed_from`.',
  params: { alert_id: AlertId },
  body: AlertNote,
  returns: AlertRecord,
  example: { body: { note: 'Technician on the way.' }, answer: acknowledgedExample },
  handle: (request, context: Context) => decide(request, acknowledge, context),
})

export const resolveAlert = endpoint({
  ...writes,
  path: '/alerts/{alert_id}/resolve',
  operation_id: 'alerts_resolve',
  summary: 'Resolve an alert manually',
  description:
    'Returns the alert as `resolved`. A condition that still holds is raised again only after it ' +
    'has been gone, or once it outlasts the reopen window of the site. Rejected with 409 when the ' +
    'alert is resolved already; see `details.allowed_from`.',
  params: { alert_id: AlertId },
  body: AlertNote,
  returns: AlertRecord,
  example: { body: { note: 'The fuse was replaced.' }, answer: resolvedExample },
  handle: (request, context: Context) => decide(request, resolve, context),
})

/**
 * The operations of the specification (chapter 4), written down by hand from its text, so that the
 * table of endpoints can be held against something that was not made from it. What the text leaves
 * open stands here as open. Every operation but a read accepts the Idempotency-Key (4.17).
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The 17 scopes of chapter 5 and their kinds. */
export const scopeKinds = {
  'plant:read': 'read',
  'diagnostics:read': 'read',
  'energy:read': 'read',
  'weather:read': 'read',
  'markets:read': 'read',
  'earnings:read': 'read',
  'predictions:read': 'read',
  'alerts:read': 'read',
  'alerts:write': 'write',
  'om:read': 'read',
  'om:write': 'write',
  'reports:read': 'read',
  'reports:write': 'write',
  'curtailment:read': 'read',
  'curtailment:write': 'control',
  'bess:read': 'read',
  'bess:write': 'control',
} as const

export type Scope = keyof typeof scopeKinds
export type Kind = (typeof scopeKinds)[Scope]
export type Module = 'basic_scada' | 'bess' | 'om' | 'ai_predictions' | 'earnings'
export type Format = 'ts' | 'date' | 'integer' | 'boolean' | 'string'

export interface QueryParameter {
  format: Format
  required: boolean
  /** A larger number counts as this one and is not refused (4.18). */
  cap?: number
  repeatable?: true
  /** Lowest and highest number accepted. */
  range?: readonly [number, number]
}

/**
 * `none`: takes no body. `open`: the text says nothing. `fields`: these, and whether each must be
 * sent. `some`: these among others, and the text does not say which must be sent.
 */
export type Body =
  | { is: 'none' }
  | { is: 'open' }
  | { is: 'fields'; required: readonly string[]; optional: readonly string[] }
  | { is: 'some'; fields: readonly string[] }

export interface Operation {
  chapter: string
  method: Method
  /** Below /v1/sites/{site_id}; '/v1/sites' alone stands above every site. */
  path: string
  /** null where any valid key will do. */
  scope: Scope | null
  module: Module | null
  kind: Kind
  params: readonly string[]
  query: Readonly<Record<string, QueryParameter>>
  body: Body
  status: 200 | 201 | 202 | 204
}

type Line = Pick<Operation, 'method' | 'path' | 'query' | 'body' | 'status'> & { scope?: Scope }
type More = Partial<Pick<Line, 'query' | 'body' | 'status' | 'scope'>>

/** The operations of a chapter that share a scope and a module; a line may name its own scope. */
function chapter(
  name: string,
  shared: { scope: Scope | null; module: Module | null },
  lines: readonly Line[],
): Operation[] {
  return lines.map((line) => {
    const operation = { chapter: name, ...shared, ...line }
    const { method, scope, path } = operation
    const kind = method === 'GET' || scope === null ? 'read' : scopeKinds[scope]
    return { ...operation, kind, params: paramsOf(path) }
  })
}

/** The names between braces in a path. */
export function paramsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function get(path: string, query: Operation['query'] = {}, more: More = {}): Line {
  return { method: 'GET', path, query, body: { is: 'none' }, status: 200, ...more }
}

function write(method: Method, path: string, more: More = {}): Line {
  return { method, path, query: {}, body: { is: 'open' }, status: 200, ...more }
}

const post = (path: string, more?: More) => write('POST', path, more)
const put = (path: string, more?: More) => write('PUT', path, more)

const ts: QueryParameter = { format: 'ts', required: false }
const date: QueryParameter = { format: 'date', required: false }
const integer: QueryParameter = { format: 'integer', required: false }
const boolean: QueryParameter = { format: 'boolean', required: false }
const string: QueryParameter = { format: 'string', required: false }

const needed = (parameter: QueryParameter): QueryParameter => ({ ...parameter, required: true })
const within = (lowest: number, highest: number): QueryParameter => ({
  ...integer,
  range: [lowest, highest],
})
const upTo = (cap: number) => ({ limit: { ...integer, cap } })

const window = { start: ts, end: ts }
const days = { start: date, end: date }
const history = { ...window, ...upTo(10_000) }
const page = { offset: integer, ...upTo(200) }
const logger_id = integer
const target_date = date

const limits = ['scope', 'limit_mode', 'limit_value']
const windowBody: Body = {
  is: 'fields',
  required: [...limits, 'start_at', 'end_at'],
  optional: ['logger_id'],
}
const immediateBody: Body = {
  is: 'fields',
  required: limits,
  optional: ['logger_id', 'duration_minutes'],
}
const noBody: Body = { is: 'none' }
const some = (...fields: string[]): Body => ({ is: 'some', fields })

/**
 * Of the writes, the text gives a status to the two curtailments alone (201). That what is created
 * answers 201, a started run 202 and a deletion without answer 204 is this project's decision.
 */
const created = 201

const plant = { scope: 'plant:read', module: 'basic_scada' } as const
const diagnostics = { scope: 'diagnostics:read', module: 'basic_scada' } as const
const curtailmentReads = { scope: 'curtailment:read', module: 'basic_scada' } as const
const curtailmentWrites = { scope: 'curtailment:write', module: 'basic_scada' } as const
const bessReads = { scope: 'bess:read', module: 'bess' } as const
const bessWrites = { scope: 'bess:write', module: 'bess' } as const
const omReads = { scope: 'om:read', module: 'om' } as const
const omWrites = { scope: 'om:write', module: 'om' } as const
const reportReads = { scope: 'reports:read', module: 'basic_scada' } as const
const reportWrites = { scope: 'reports:write', module: 'basic_scada' } as const

export const operations: readonly Operation[] = [
  ...chapter('4.1', { scope: null, module: null }, [get('/v1/sites')]),
  ...chapter('4.2', plant, [
    get('/overview'),
    get('/plant/status'),
    get('/plant/summary', { date }),
    get('/locations'),
    get('/locations/{location_id}'),
    get('/gaps', { logger_id, ...window, ...upTo(500) }),
    get('/gaps/logger/{logger_id}', { ...window, ...upTo(500) }),
  ]),
  ...chapter('4.3', plant, [
    get('/loggers'),
    get('/loggers/{logger_id}/history', history),
    get('/loggers/{logger_id}/hourly-energy', { since: ts }, { scope: 'energy:read' }),
  ]),
  ...chapter('4.4', plant, [
    get('/inverters', { logger_id }),
    get('/inverters/{inverter_id}'),
    get('/inverters/{inverter_id}/history', history),
    get('/inverters/alarms/table'),
    get('/inverters/alarms/decode', {
      alarm_1: integer,
      alarm_2: integer,
      alarm_3: integer,
      alarm_4: integer,
      alarm_5: integer,
    }),
  ]),
  ...chapter('4.5', plant, [
    get('/strings/inverter/{inverter_id}'),
    get('/strings/inverter/{inverter_id}/current'),
    get('/strings/inverter/{inverter_id}/history', { ...history, string_index: integer }),
    get('/strings/inverter/{inverter_id}/hourly', window),
  ]),
  ...chapter('4.6', plant, [
    get('/sensors'),
    get('/sensors/{node_id}/current'),
    get('/sensors/{node_id}/history', history),
  ]),
  ...chapter('4.7', { scope: 'weather:read', module: 'basic_scada' }, [
    get('/weather'),
    get('/weather/logger/{logger_id}'),
    get('/weather/logger/{logger_id}/history', { ...window, ...upTo(2000) }),
  ]),
  ...chapter('4.8', diagnostics, [
    get('/efficiency/loggers', window),
    get('/efficiency/inverters', { ...window, logger_id }),
    get('/efficiency/strings', { ...window, inverter_ids: string, orientation: string }),
    get('/efficiency/health-matrix', window),
    get('/efficiency/loss-analysis', window),
    get('/strings/inverter/{inverter_id}/compare', window),
  ]),
  ...chapter('4.9', diagnostics, [
    get('/iv/modules'),
    get('/iv/modules/search', { q: needed(string), ...upTo(50) }),
    get('/iv/modules/{params_id}'),
    get('/iv/strings/{inverter_id}/{string_index}/expected', { ...window, ...upTo(5000) }),
  ]),
  ...chapter('4.10', { scope: 'energy:read', module: 'basic_scada' }, [
    get('/energy/hourly', { ...window, logger_ids: string }),
  ]),
  ...chapter('4.11', curtailmentReads, [
    get('/curtailment'),
    get('/curtailment/history', { days: within(1, 365) }),
    get('/curtailment/suggest', {
      logger_id: needed(logger_id),
      date: needed(date),
      start_hour: needed(within(0, 23)),
      end_hour: needed(within(1, 24)),
    }),
    get('/commands/relay-history', { node_id: string, ...upTo(500) }),
  ]),
  ...chapter('4.11', curtailmentWrites, [
    post('/curtailment/window', { body: windowBody, status: created }),
    post('/curtailment/immediate', { body: immediateBody, status: created }),
    write('DELETE', '/curtailment/group/{group_id}', { body: noBody }),
  ]),
  ...chapter('4.12', { scope: 'markets:read', module: 'basic_scada' }, [
    get('/markets'),
    get('/markets/{market_code}/prices', { target_date }),
    get('/markets/compare', { target_date }),
  ]),
  ...chapter('4.13', { scope: 'earnings:read', module: 'earnings' }, [
    get('/earnings/summary', { ...days, logger_id }),
    get('/earnings/hourly', { ...days, logger_id }),
    get('/earnings/market-assignments', { logger_id }),
    get('/earnings/cross-border-prices', { base: string, sold: string, ...days }),
  ]),
  ...chapter('4.14', { scope: 'predictions:read', module: 'ai_predictions' }, [
    get('/predictions/forecast', { date, refresh: boolean }),
    get('/predictions/forecast/logger/{logger_id}', { date }),
    get('/predictions/production', { ...window, logger_id }),
    get('/predictions/prices', window),
    get('/predictions/model-status'),
  ]),
  ...chapter('4.15', bessReads, [
    get('/bess'),
    get('/bess/fleet/summary'),
    get('/bess/{bess_id}'),
    get('/bess/{bess_id}/current'),
    get('/bess/{bess_id}/history', history),
    get('/bess/{bess_id}/dashboard'),
    get('/bess/{bess_id}/deviations', { target_date }),
    get('/bess/{bess_id}/clusters'),
    get('/bess/{bess_id}/clusters/{cluster_idx}'),
    get('/bess/{bess_id}/pcs/current'),
    get('/bess/{bess_id}/pcs/history', history),
    get('/bess/{bess_id}/pcs/faults'),
    get('/bess/{bess_id}/alarms/states', { only_set: boolean, severity: string }),
    get('/bess/{bess_id}/alarms/history', { code: string, ...upTo(10_000) }),
    get('/bess/{bess_id}/alarms/counts'),
    get('/bess/{bess_id}/dispatch-log', history),
    get('/bess/{bess_id}/control-log', { tier: string, ...upTo(10_000) }),
    get('/bess/{bess_id}/envelope'),
    get('/bess/{bess_id}/protection'),
    get('/bess/{bess_id}/setup'),
    get('/bess/{bess_id}/schedules', { target_date }),
    get('/bess/schedules/{schedule_id}'),
  ]),
  ...chapter('4.15', bessWrites, [
    post('/bess/{bess_id}/optimize', { status: created }),
    post('/bess/optimize-all', { status: created }),
    post('/bess/schedules/{schedule_id}/approve'),
    post('/bess/schedules/{schedule_id}/reject'),
    post('/bess/schedules/approve-all', { query: { target_date } }),
    put('/bess/schedules/{schedule_id}/hours/{hour}', { body: some() }),
  ]),
  ...chapter('4.16', { scope: 'alerts:read', module: 'basic_scada' }, [
    get('/alerts', { status: { ...string, repeatable: true } }),
  ]),
  ...chapter('4.16', { scope: 'alerts:write', module: 'basic_scada' }, [
    post('/alerts/{alert_id}/acknowledge'),
    post('/alerts/{alert_id}/resolve'),
  ]),
  ...chapter('4.16', omReads, [
    get('/work-orders', {
      status: string,
      location_id: integer,
      logger_id,
      assigned_to: string,
      ...window,
      ...page,
    }),
    get('/work-orders/{wo_id}'),
    get('/om/categories'),
    get('/om/notifications', { unread_only: boolean, ...page }),
    get('/om/notifications/unread-count'),
    get('/defects', {
      status: string,
      severity: string,
      location_id: integer,
      logger_id,
      ...page,
    }),
    get('/defects/{defect_id}'),
  ]),
  ...chapter('4.16', omWrites, [
    post('/work-orders', { body: some('title', 'description', 'priority'), status: created }),
    put('/work-orders/{wo_id}'),
    put('/work-orders/{wo_id}/items/{item_id}'),
    post('/work-orders/{wo_id}/approve'),
    put('/om/notifications/{notification_id}/read'),
    post('/defects', { body: some('title', 'severity'), status: created }),
    put('/defects/{defect_id}'),
  ]),
  ...chapter('4.16', reportReads, [
    get('/reports/overview'),
    get('/reports/catalog'),
    get('/reports/runs', upTo(100)),
    get('/reports/subscriptions'),
  ]),
  ...chapter('4.16', reportWrites, [
    post('/reports/subscriptions', { status: created }),
    write('PATCH', '/reports/subscriptions/{sub_id}'),
    write('DELETE', '/reports/subscriptions/{sub_id}', { status: 204 }),
    post('/reports/subscriptions/{sub_id}/run', { status: 202 }),
  ]),
]

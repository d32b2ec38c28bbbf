import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { linkPath } from '@heliograph/domain/link'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { firstRecord } from '../storage/first-record.ts'
import { runForReader } from '../storage/reader.ts'
import { answerWriters } from './answer.ts'
import { answerClientError } from './client-error.ts'
import type { Endpoint } from './endpoint.ts'
import { ApiError, isForOperator, toApiError, unavailable } from './errors.ts'
import {
  createEventStreams,
  type EventStreams,
  eventStreamHeaders,
  prefersStream,
} from './event-stream.ts'
import { type Answer, errorAnswer, type Runner, replayed, runRead, runWrite } from './execute.ts'
import { chooseFormat, createExporter, type Exporter } from './export.ts'
import type { ExportFormat } from './export-rows.ts'
import { type Admission, type Gate, openGate } from './gate.ts'
import { createHeavyReads, type HeavyReads } from './heavy-reads.ts'
import { type Claim, fingerprint, idempotencyKey, recall } from './idempotency.ts'
import { body_bytes_max, parseJson, stranger_body_bytes_max } from './json-body.ts'
import { addKeyedPath } from './keyed-path.ts'
import { allowHeader, methodsAt, methodsByPath } from './methods.ts'
import { pathOf, patternOf } from './paths.ts'
import {
  limited,
  policyHeader,
  type RateLimits,
  rateLimits,
  type Standing,
  standingHeader,
} from './rate-limit.ts'
import { readerSignal } from './reader.ts'
import { readiness } from './readiness.ts'
import { joinReplicas } from './replicas.ts'
import { isWrite, refuseInSafeMode } from './safe-mode.ts'
import { securityHeaders, strictTransport } from './security-headers.ts'
import { cachedDocument, isForPage, send, sendDocument } from './send.ts'
import type { Document, ServeInput, ServeOptions } from './serve-options.ts'
import { addSubtree } from './subtree.ts'
import { type Fields, type Validate, validators } from './validate.ts'
import type { AskedTimes, Bounds } from './windows.ts'
import { auditedRequest, auditRefusal } from './write-audit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | null
    claim: Claim | null
    body_bytes: number
  }
}

interface Context extends ServeInput<never> {
  options: ServeOptions
  rates: RateLimits
  gate: Gate
  exporter: Exporter
  heavy: HeavyReads
  streams: EventStreams
  /** Contains the app when it is closing. */
  closing: Set<FastifyInstance>
  methods: ReadonlyMap<string, ReadonlySet<string>>
  validator: (endpoint: Endpoint<never>) => Validate
  runner: (endpoint: Endpoint<never>) => Runner<never>
}

const request_id_accepted = /^[A-Za-z0-9._-]{1,64}$/
/** Admits each valid key. */
const anyKey = { scope: null, module: null } as Endpoint<never>
const probes = [{ path: '/healthz' }, { path: '/readyz' }]
const request_timeout_ms = 60_000

/** The server, ready for `listen` or `inject`. `close` stops its background work too. */
export async function serve<Needs>(input: ServeInput<Needs>): Promise<FastifyInstance> {
  const { options = {}, needs } = input
  const rates = rateLimits()
  const gate = await openGate({ ...input, rates })
  const writer = answerWriters(options.check_answers ?? 'strict')
  const context: Context = {
    ...(input as unknown as ServeInput<never>),
    options,
    rates,
    gate,
    exporter: createExporter({ ...input, needs: needs as never, reading: options.reading }),
    heavy: createHeavyReads(input.timers),
    streams: createEventStreams(input),
    closing: new Set(),
    methods: methodsByPath([
      ...input.endpoints.map((each) => ({ method: each.method, path: pathOf(each as never) })),
      ...[...(options.documents ?? []), ...probes].map(({ path }) => ({ method: 'GET', path })),
      ...(options.keyed_path ? [{ method: 'POST', path: options.keyed_path.path }] : []),
    ]),
    validator: validators(input.endpoints),
    runner: (endpoint) => ({
      ...input,
      endpoint,
      needs: needs as never,
      write: writer(endpoint, endpoint.operation_id),
    }),
  }
  const app = createApp(context)
  const others = await joinReplicas({ ...input, replica_id: input.newId(), rates })
  app.addHook('onClose', async () => {
    await Promise.all([others.stop(), gate.stop()])
  })
  for (const endpoint of context.endpoints) addEndpoint(app, context, endpoint)
  for (const document of options.documents ?? []) addDocument(app, document)
  for (const subtree of options.subtrees ?? []) {
    addSubtree(app, subtree, (request, reply) => gate.admitStranger(arrivalOf(request, reply)))
  }
  if (options.keyed_path) {
    addKeyedPath(app, options.keyed_path, async (request, reply) => {
      await gate.admit(anyKey, admittedBy(context, anyKey, request, reply))
    })
  }
  await addProbes(app, context)
  refuseOtherMethods(app, context.methods)
  await app.ready()
  return app
}

function createApp(context: Context): FastifyInstance {
  const { options, newId } = context
  const serverOptions: FastifyServerOptions = {
    genReqId: (request) => requestId(request, newId),
    requestIdHeader: false,
    bodyLimit: body_bytes_max,
    trustProxy: options.trusted_proxies?.length ? [...options.trusted_proxies] : false,
    // Requests during shutdown are answered, with `connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: request_timeout_ms,
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, newId),
    frameworkErrors: (error, request, reply) => {
      addCommonHeaders(request, reply)
      void sendError(context, error, request as FastifyRequest, reply as FastifyReply)
    },
  }
  const node = { requireHostHeader: false, shouldUpgradeCallback: asksForLink }
  const transport = options.tls ? { https: { ...options.tls, ...node } } : { http: node }
  const app = Fastify({ ...serverOptions, ...transport } as FastifyServerOptions)
  app.decorateRequest('admission', null)
  app.decorateRequest('claim', null)
  app.decorateRequest('body_bytes', 0)
  app.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(request, reply)
    // Before body checks, so that an unknown path is 404 whatever its body.
    const is_missing = request.is404 && !(options.page && isForPage(request))
    done(is_missing ? notFound(context, request) : undefined)
  })
  app.addHook('preClose', async () => {
    context.closing.add(app)
    context.streams.endAll()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Keeps clients from sending their next request on a connection that will be closed.
    if (context.closing.has(app)) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    observe(context, request, reply)
    // Connections that were busy when the shutdown began are idle now.
    if (context.closing.has(app)) setImmediate(() => app.server.closeIdleConnections())
    done()
  })
  app.setErrorHandler((error, request, reply) => sendError(context, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const { page } = options
    if (page && isForPage(request)) return sendDocument(request, reply, page())
    throw notFound(context, request)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, parseBody)
  // Serve requests with an unknown `Expect` header instead of a bare 417.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  return app
}

/** The X-Request-Id of the caller where it is well formed, else a new id. */
function requestId({ headers }: { headers: IncomingHttpHeaders }, newId: () => string): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && request_id_accepted.test(given) ? given : newId()
}

/** All other upgrade requests are served as plain requests. RFC 9110 §7.8. */
const asksForLink = ({ url }: IncomingMessage) => url?.split('?', 1)[0] === linkPath

async function parseBody(request: FastifyRequest, body: Buffer): Promise<unknown> {
  request.body_bytes = body.length
  return body.length === 0 ? undefined : parseJson(body)
}

function addCommonHeaders(
  request: { id: string; protocol: string },
  reply: FastifyReply | Headers,
) {
  reply.headers(securityHeaders)
  reply.header('x-request-id', request.id)
  if (request.protocol === 'https') reply.header('strict-transport-security', strictTransport)
}

interface Headers {
  header(name: string, value: string): unknown
  headers(values: Record<string, string>): unknown
}

function addEndpoint(app: FastifyInstance, context: Context, endpoint: Endpoint<never>): void {
  const run = isWrite(endpoint.method)
    ? writeHandler(context, endpoint)
    : readHandler(context, endpoint)
  const runFile = endpoint.exports && fileHandler(context, endpoint)
  const runStream = endpoint.stream && streamHandler(context, endpoint)
  app.route({
    method: endpoint.method,
    url: patternOf(pathOf(endpoint)),
    config: { operation_id: endpoint.operation_id } as object,
    ...(endpoint.role === 'anyone' && { bodyLimit: stranger_body_bytes_max }),
    onRequest: (request, reply, done) => {
      try {
        const arrival = admittedBy(context, endpoint, request, reply)
        const admitted = context.gate.admit(endpoint, arrival)
        if (admitted instanceof Promise) admitted.then(() => done(), done)
        else done()
      } catch (error) {
        done(error as Error)
      }
    },
    ...(isWrite(endpoint.method) && { preValidation: beforeWrite(context, endpoint) }),
    handler: async (request, reply) => {
      const format = runFile ? chooseFormat(request.headers.accept) : null
      if (runFile && format) return runFile(request, reply, format)
      if (runStream && prefersStream(request.headers.accept)) return runStream(request, reply)
      const answer = await run(request, reply)
      noteFaults(context, request, answer)
      return send(request, reply, endpoint.cache, answer)
    },
  })
}

function admittedBy(
  { options: { sessions } }: Context,
  endpoint: Endpoint<never>,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { headers } = request
  const { authorization } = headers
  const may_sign_in = endpoint.role !== undefined || authorization === undefined
  const has_session = may_sign_in && (endpoint.role || sessions?.isPresent(headers))
  return {
    authorization,
    session: sessions && has_session ? () => sessions.authenticate(headers) : null,
    ...arrivalOf(request, reply),
    site_id: (request.params as { site_id?: string }).site_id ?? null,
    onKnown: (known: Admission) => {
      request.admission = known
    },
  }
}

const arrivalOf = (request: FastifyRequest, reply: FastifyReply) => ({
  address: () => request.ip.slice(0, 64),
  onStanding: (standing: Standing) => addRate(reply, [standing]),
})

function addRate(reply: FastifyReply, standings: readonly Standing[]): void {
  reply.header('ratelimit-policy', standings.map(policyHeader).join(', '))
  reply.header('ratelimit', standings.map(standingHeader).join(', '))
}

/** Replays are answered before the write rate, safe mode and validation. */
function beforeWrite({ db, clock, rates, newId }: Context, endpoint: Endpoint<never>) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { principal, site } = request.admission!
    const now = clock.now()
    const general = rates.standing(principal, 'general', now.getTime())
    addRate(reply, [general, rates.standing(principal, 'write', now.getTime())])
    const idempotency_key = idempotencyKey(request.headers['idempotency-key'])
    if (idempotency_key !== null && !endpoint.shown_once) {
      const { method, url, body } = request
      request.claim = {
        key_id: principal.caller.key_id,
        idempotency_key,
        fingerprint: fingerprint({ method, url, body }),
        owner: newId(),
      }
      const recorded = await recall(db, request.claim, now)
      if (recorded) return send(request, reply, endpoint.cache, replayed(recorded))
    }
    const standing = await rates.take(principal, 'write', now.getTime())
    addRate(reply, [general, standing])
    if (!standing.granted) throw limited(standing)
    if (site) refuseInSafeMode(site)
    return undefined
  }
}

function readHandler(context: Context, endpoint: Endpoint<never>) {
  const valid = validRequest(context, endpoint)
  const runner = context.runner(endpoint)
  const { reading } = context.options
  return (request: FastifyRequest, reply: FastifyReply) => {
    const gone = readerSignal(reply.raw)
    return runForReader(gone, async () => {
      const asked = await valid(request)
      if (!endpoint.heavy) return runRead(runner, asked)
      return context.heavy.answer(asked.caller, { response: reply.raw, gone }, () =>
        reading ? reading.read(endpoint.operation_id, asked, gone) : runRead(runner, asked),
      )
    })
  }
}

function writeHandler(context: Context, endpoint: Endpoint<never>) {
  const valid = validRequest(context, endpoint)
  const runner = context.runner(endpoint)
  return async (request: FastifyRequest) => {
    const if_match = (endpoint.if_match && request.headers['if-match']) ?? null
    const { claim } = request
    const records = { claim, asked: auditedRequest(request) }
    return runWrite(runner, { ...(await valid(request)), if_match }, records)
  }
}

function fileHandler(context: Context, endpoint: Endpoint<never>) {
  const valid = validRequest(context, endpoint)
  return async (request: FastifyRequest, reply: FastifyReply, format: ExportFormat) => {
    const asked = { ...(await valid(request)), has_limit: 'limit' in (request.query as Fields) }
    const order = { asked, format, response: reply.raw }
    const file = await runForReader(readerSignal(reply.raw), () =>
      context.exporter.open(endpoint, order),
    )
    return reply.headers(file.headers).send(file.bytes)
  }
}

function streamHandler(context: Context, endpoint: Endpoint<never>) {
  const { gate, log, needs, streams } = context
  const valid = validRequest(context, endpoint)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = await valid(request)
    const last_event_id = (request.headers['last-event-id'] as string | undefined) ?? null
    const begin = await endpoint.stream!({ ...asked, last_event_id } as never, needs)
    if (request.method === 'HEAD') return reply.headers(eventStreamHeaders).send()
    const arrival = admittedBy(context, endpoint, request, reply)
    const { stream, bytes } = streams.open({
      caller: asked.caller,
      response: reply.raw,
      admit: () => gate.readmit(endpoint, arrival),
    })
    begin(stream).catch((error) => {
      log.error({ err: error, request_id: request.id }, 'a stream broke off')
      stream.end('internal_error')
    })
    return reply.headers(eventStreamHeaders).send(bytes)
  }
}

function validRequest({ validator, clock, db }: Context, endpoint: Endpoint<never>) {
  const validate = validator(endpoint)
  const rule = endpoint.window
  return async (request: FastifyRequest) => {
    const { principal, site } = request.admission!
    const { params, query, body, body_bytes } = request as FastifyRequest & {
      params: Fields
      query: Fields
    }
    const valid = validate({ params, query, body, body_bytes })
    const { start, end, since, ...others } = valid.query as Omit<AskedTimes, 'timezone'> & Fields
    const window = await rule?.resolve(
      { start, end, since, timezone: others['timezone'] as string | undefined },
      { now: clock.now(), firstRecord: () => firstRecord(db, site!.site_id) },
    )
    return {
      // Only `/v1/sites` and the platform have no site, and they do not use it.
      site: site!,
      caller: principal.caller,
      request_id: request.id,
      params: valid.params,
      query: others,
      window: window as Bounds | undefined,
      after: valid.after,
      body: valid.body,
      read_only: valid.read_only,
    }
  }
}

async function sendError(
  context: Context,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const known = toApiError(error, { is_write: !/^(GET|HEAD)$/.test(request.method) })
  if (isForOperator(known, error)) {
    const operation = operationOf(request)
    context.log.error({ err: error, request_id: request.id, operation }, 'failed')
  }
  const answer = errorAnswer(known, request.id)
  noteFaults(context, request, answer)
  const asked = auditedRequest(request)
  const { code, details } = known
  if (asked) await auditRefusal(context, asked, { code, details, ...answer })
  return send(request, reply, 'live', answer)
}

function noteFaults({ options, log }: Context, request: FastifyRequest, { faults }: Answer): void {
  if (!faults) return
  const operation = operationOf(request)
  options.metrics?.countFaults(operation, faults)
  log.warn({ operation, request_id: request.id, ...faults }, 'a value breaks the schema')
}

const operationOf = (request: FastifyRequest) =>
  (request.routeOptions?.config as { operation_id?: string } | undefined)?.operation_id ?? 'none'

function observe({ options, log }: Context, request: FastifyRequest, reply: FastifyReply): void {
  const is_file = reply.hasHeader('content-disposition')
  // The time of a stream says nothing about the server.
  if (reply.getHeader('content-type') === eventStreamHeaders['content-type']) return
  const operation = `${operationOf(request)}${is_file ? '_export' : ''}`
  const elapsed_ms = reply.elapsedTime
  options.metrics?.observe(operation, reply.statusCode, elapsed_ms)
  if (elapsed_ms > (options.slow_ms ?? 2000) && !is_file) {
    log.warn({ operation, request_id: request.id, elapsed_ms: Math.round(elapsed_ms) }, 'slow')
  }
}

function addDocument(app: FastifyInstance, document: Document): void {
  const kept = cachedDocument(document)
  app.get(document.path, (request, reply) => sendDocument(request, reply, kept))
}

/** Answers 405 for other methods of a path, also where a path with a parameter would match. */
function refuseOtherMethods(app: FastifyInstance, methods: Context['methods']): void {
  for (const [path, known] of methods) {
    const refuse = () => {
      throw notAllowed(known)
    }
    const others = app.supportedMethods.filter((method) => !known.has(method))
    app.route({
      method: others,
      url: patternOf(path),
      onRequest: async () => refuse(),
      handler: refuse,
    })
  }
}

const notAllowed = (known: ReadonlySet<string>) =>
  new ApiError('method_not_allowed', null, { allow: allowHeader(known) })

/** Methods unknown to the router land here, also on existing paths. */
function notFound({ methods }: Context, request: FastifyRequest): ApiError {
  const known = methodsAt(methods, request.url)
  return known && !known.has(request.method) ? notAllowed(known) : new ApiError('not_found')
}

async function addProbes(app: FastifyInstance, { db, timers, closing }: Context): Promise<void> {
  const isReady = await readiness({ db, timers })
  const say = (status: string): Answer => ({
    status: 200,
    headers: {},
    text: `{"status":"${status}"}`,
  })
  app.get('/healthz', (request, reply) => send(request, reply, 'live', say('alive')))
  app.get('/readyz', async (request, reply) => {
    if (closing.has(app) || !(await isReady())) throw unavailable()
    return send(request, reply, 'live', say('ready'))
  })
}

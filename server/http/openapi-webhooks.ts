/** The types of events in the OpenAPI document, as its `webhooks`. OpenAPI 3.1, section 4.8.1. */
import type { TSchema } from 'typebox'
import { exampleOf } from './example.ts'
import { type Json, pascal, type Schemas } from './openapi-schemas.ts'
import { Closed, Timestamp } from './params.ts'

export interface DocumentedEvent {
  /** `alert.raised` */
  type: string
  summary: string
  /** The event, with the record of the type. */
  schema: TSchema
}

export function webhooks(events: readonly DocumentedEvent[], schemas: Schemas): Json {
  return Object.fromEntries(events.map((event) => [event.type, { post: request(event, schemas) }]))
}

function request({ type, summary, schema }: DocumentedEvent, schemas: Schemas): Json {
  const name = `event_${type.replace('.', '_')}`
  const body = Closed({ type: exactly(type), timestamp: Timestamp, data: schema })
  const example = exampleOf(body)
  const written = schemas.refer(body, pascal(name), 'answer')
  schemas.illustrate(written, example)
  return {
    operationId: name,
    tags: ['Events'],
    summary,
    description: `${summary}. \`data\` is the event as it is listed and streamed.`,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: written, example } } },
    responses: { default: { description: 'Any status 2XX confirms the delivery.' } },
  }
}

const exactly = (type: string) => ({ type: 'string', const: type, examples: [type] }) as TSchema

/**
 * What an inventory frame may hold: `site.yaml` as this version knows it, and what a newer edge
 * adds to it. How a device is read is the edge's business alone: names of drivers and of protocols
 * are free text here, and fields that this version does not know are kept unread.
 */
import { Site } from './site.ts'

/** Properties that only the edge goes by, whatever their schema in `site.yaml`. */
const edge_only: Readonly<Record<string, object>> = {
  driver: { type: 'string', minLength: 1, maxLength: 80 },
  point: { type: 'string', minLength: 1, maxLength: 120 },
  positive_current: {},
  positive_power: {},
  limit: {},
  control: {},
  poll: {},
  mqtt: {},
}

const connection = {
  type: 'object',
  required: ['connection_id', 'protocol'],
  properties: {
    connection_id: { type: 'string', minLength: 1, maxLength: 120 },
    protocol: { type: 'string', minLength: 1, maxLength: 80 },
  },
}

type Schema = Record<string, unknown>

/** As plain JSON Schema. */
export const AnnouncedSite: Schema = opened(JSON.parse(JSON.stringify(Site)))

function opened(schema: Schema): Schema {
  const { additionalProperties: _, properties, items, ...rest } = schema
  return {
    ...rest,
    ...(properties !== undefined && { properties: openedProperties(properties as Schema) }),
    ...(items !== undefined && { items: opened(items as Schema) }),
  }
}

function openedProperties(properties: Schema): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      if (name === 'connections') return [name, { ...(schema as Schema), items: connection }]
      return [name, edge_only[name] ?? opened(schema as Schema)]
    }),
  )
}

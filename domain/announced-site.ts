/**
 * The content of an inventory frame: `site.yaml` of this version, plus additions of a newer edge.
 * Names of drivers and protocols are free text here, as only the edge reads devices. Unknown fields
 * are ignored. An unknown value of an enumeration drops its field or its device, never the
 * inventory.
 */
import { isNewerWord } from './link.ts'
import { Site } from './site.ts'
import { fieldOf, type SitePath } from './site-check.ts'

/** Properties that only the edge uses; their schema in `site.yaml` is not checked here. */
const edge_only: Readonly<Record<string, object>> = {
  driver: { type: 'string', minLength: 1, maxLength: 80 },
  point: { type: 'string', minLength: 1, maxLength: 120 },
  positive_current: {},
  positive_power: {},
  limit: {},
  control: {},
  poll: {},
  mqtt: {},
  iec104: {},
  relay_inputs: {},
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

/** The schema as plain JSON Schema. */
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

/** Lists whose entries are not referenced in the inventory, by id or position. */
const device_lists: ReadonlySet<unknown> = new Set(['stations', 'meters', 'nodes', 'batteries'])

const left_out = Symbol('left out')

/**
 * Translates an announced site for this version. An unknown value of an enumeration becomes `other`
 * where that exists; otherwise its optional field, or the device of its required field, is left
 * out. `unknown` lists each such field with its value and the result.
 */
export function inKnownWords(announced: unknown): { known: unknown; unknown: string[] } {
  const unknown: string[] = []
  const known = knownOf(AnnouncedSite, announced, [])
  // Anything that cannot be left out is rejected by the schema, which names the fault.
  return known === left_out ? { known: announced, unknown: [] } : { known, unknown }

  function knownOf(schema: Schema, value: unknown, path: SitePath): unknown {
    const { enum: words, items, properties } = schema
    if (Array.isArray(words)) return knownWord(words, value, path)
    if (items && Array.isArray(value)) return knownItems(items as Schema, value, path)
    if (properties && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return knownFields(schema, value as Schema, path)
    }
    return value
  }

  function knownWord(words: readonly unknown[], value: unknown, path: SitePath): unknown {
    if (words.includes(value) || !isNewerWord(value)) return value
    const has_other = words.includes('other')
    unknown.push(`${fieldOf(path)} '${value}' (${has_other ? 'taken for other' : 'left out'})`)
    return has_other ? 'other' : left_out
  }

  function knownItems(items: Schema, list: readonly unknown[], path: SitePath): unknown {
    const all = list.map((item, index) => knownOf(items, item, [...path, index]))
    if (!all.includes(left_out)) return all
    return device_lists.has(path.at(-1)) ? all.filter((item) => item !== left_out) : left_out
  }

  function knownFields(schema: Schema, fields: Schema, path: SitePath): unknown {
    const required = (schema['required'] ?? []) as string[]
    const all = { ...fields }
    for (const [name, property] of Object.entries(schema['properties'] as Schema)) {
      if (!Object.hasOwn(fields, name)) continue
      const value = knownOf(property as Schema, fields[name], [...path, name])
      if (value !== left_out) all[name] = value
      else if (required.includes(name)) return left_out
      else delete all[name]
    }
    return all
  }
}

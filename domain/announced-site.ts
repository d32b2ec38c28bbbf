/**
 * What an inventory frame may hold: `site.yaml` as this version knows it, and what a newer edge
 * adds to it. How a device is read is the edge's business alone: names of drivers and of protocols
 * are free text here, and fields that this version does not know are kept unread. An unknown value
 * of a closed list costs its field, or its device, and never the inventory.
 */
import { isNewerWord } from './link.ts'
import { Site } from './site.ts'
import { fieldOf, type SitePath } from './site-check.ts'

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

/** Lists whose entries nothing else in the inventory refers to, by id or by position. */
const device_lists: ReadonlySet<unknown> = new Set(['stations', 'meters', 'nodes', 'batteries'])

const left_out = Symbol('left out')

/**
 * An announced site in the words of this version. A value that no closed list of `site.yaml` has
 * becomes `other` where the list has that, an optional field without it is left out, and so is the
 * device whose field is required. `unknown` names each such field, its value and what became of it.
 */
export function inKnownWords(announced: unknown): { known: unknown; unknown: string[] } {
  const unknown: string[] = []
  const known = knownOf(AnnouncedSite, announced, [])
  // What nothing can be left out of is refused by its schema, which names the fault.
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

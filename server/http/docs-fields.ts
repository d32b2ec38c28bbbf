/** Tables of fields: name, type with unit, meaning. */
import { escaped, jsonHtml, nameHtml, phrase } from './docs-html.ts'
import { type Json, typesOf } from './openapi-schemas.ts'

type Components = Readonly<Record<string, Json>>

/**
 * The table of the fields of an object. For an envelope it shows the fields of the items. Required
 * fields are marked in requests; in answers all fields are present.
 */
export function fieldsTable(
  schema: Json,
  components: Components,
  part: 'answer' | 'request',
): string {
  const named = resolve(schema, components)
  const alternatives = (named['anyOf'] ?? named['allOf']) as Json[] | undefined
  if (alternatives) {
    return alternatives.map((one) => fieldsTable(one, components, part)).join('\n<p>or</p>\n')
  }
  const properties = named['properties'] as Record<string, Json> | undefined
  if (!properties) return `<p>${typeOf(named)}</p>`
  const items = properties['data']?.['items'] as Json | undefined
  if (items && properties['meta']) {
    return `<p><code>data[]</code> ${typeOf(items)}, with <code>meta</code>
${typeOf(properties['meta'])}</p>
${fieldsTable(items, components, part)}`
  }
  const required = new Set((named['required'] as string[]) ?? [])
  const rows = Object.entries(properties).map(([name, field]) => {
    const must = part === 'request' && required.has(name) ? ' <em>required</em>' : ''
    return `<tr><td><code>${nameHtml(name)}</code>${must}</td><td>${typeOf(field)}</td>
<td>${meaning(field)}</td></tr>`
  })
  return `<table class="fields"><tbody>${rows.join('\n')}</tbody></table>`
}

function meaning(field: Json): string {
  const description = field['description'] ? `${phrase(String(field['description']))} ` : ''
  const values = (field['enum'] as unknown[] | undefined)?.filter((value) => value !== null)
  if (values) {
    const said = values.filter((value) => !description.includes(`<code>${value}</code>`))
    return description + said.map((value) => `<code>${escaped(String(value))}</code>`).join(' ')
  }
  const [example] = (field['examples'] as unknown[] | undefined) ?? []
  const is_telling = example !== undefined && example !== null && typeof example !== 'object'
  return is_telling
    ? `${description}<span class="example">${jsonHtml(example)}</span>`
    : description
}

/** A type in words, with links to records and the units of numbers. */
export function typeOf(schema: Json): string {
  if (schema['$ref']) return recordLink(schema)
  if (schema['anyOf']) return (schema['anyOf'] as Json[]).map(typeOf).join(' or ')
  const types = typesOf(schema).map((type) =>
    type === 'array' ? `list of ${typeOf((schema['items'] as Json) ?? {})}` : type,
  )
  const unit = schema['x-unit'] ? ` <b class="unit">${escaped(String(schema['x-unit']))}</b>` : ''
  const format = schema['format'] ? ` <small>${escaped(String(schema['format']))}</small>` : ''
  const words = types.length > 0 ? types.join(' or ') : (schema['const'] ?? 'any value')
  return `${words}${unit}${format}`
}

const prefix = '#/components/schemas/'

export function recordLink(schema: Json): string {
  const name = String(schema['$ref'] ?? '').replace(prefix, '')
  // Envelopes and bodies are shown at their operation.
  if (name === '' || /(Body|List|Series)$/.test(name)) return `<span class="record">${name}</span>`
  return `<a class="record" href="#record-${name}">${name}</a>`
}

const resolve = (schema: Json, components: Components): Json =>
  schema['$ref'] ? (components[String(schema['$ref']).replace(prefix, '')] ?? {}) : schema

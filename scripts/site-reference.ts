/** Generates docs/site-file.md: every field of `site.yaml`, from its schema and its comments. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as battery from '@heliograph/domain/battery'
import * as iec104 from '@heliograph/domain/iec104'
import * as node from '@heliograph/domain/node'
import * as panel from '@heliograph/domain/panel-model'
import * as relays from '@heliograph/domain/relay-inputs'
import * as site from '@heliograph/domain/site'
import ts from 'typescript'
import { siteFieldMeanings } from './site-field-meanings.ts'

interface Schema {
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minItems?: number
  maxItems?: number
}

const folder = join(import.meta.dirname, '../domain')
const files = ['site.ts', 'battery.ts', 'node.ts', 'panel-model.ts', 'iec104.ts', 'relay-inputs.ts']
/** The largest id: a bound that is no help to a reader. */
const id_max = 2_147_483_647

const named = new Map(
  [site, battery, node, panel, iec104, relays].flatMap((module) =>
    Object.entries(module).flatMap(([name, value]): [string, string][] =>
      isObjects(value) ? [[JSON.stringify(value), name]] : [],
    ),
  ),
)

function isObjects(value: unknown): value is Schema {
  const schema = value as Schema | null
  if (typeof schema !== 'object' || schema === null) return false
  return schema.properties !== undefined || schema.anyOf?.every(isObjects) === true
}

const nameOf = (schema: Schema) => named.get(JSON.stringify(schema)) ?? null

/** Comments by `Inverter` and `Inverter.limit`. */
function commentsOf(file: string): [string, string][] {
  const text = readFileSync(join(folder, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: [string, string][] = []
  const note = (key: string, at: ts.Node) => {
    const [range] = (ts.getLeadingCommentRanges(text, at.pos) ?? []).slice(-1)
    const comment = range && text.slice(range.pos, range.end)
    if (!comment?.startsWith('/**')) return
    const words = comment.replace(/^\/\*\*|\*\/$/g, '').replace(/^\s*\* ?/gm, '')
    found.push([key, words.replace(/\s+/g, ' ').trim()])
  }
  const fields = (name: string) =>
    function visit(at: ts.Node): void {
      if (ts.isPropertyAssignment(at)) note(`${name}.${at.name.getText(source)}`, at)
      ts.forEachChild(at, visit)
    }
  for (const statement of source.statements) {
    if (ts.isTypeAliasDeclaration(statement)) note(statement.name.text, statement)
    if (!ts.isVariableStatement(statement)) continue
    const { name, initializer } = statement.declarationList.declarations[0]!
    if (initializer) fields(name.getText(source))(initializer)
  }
  return found
}

function numberText({ type, ...schema }: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const least = exclusiveMinimum === undefined ? (minimum ?? null) : `above ${exclusiveMinimum}`
  const most = exclusiveMaximum === undefined ? (maximum ?? null) : `below ${exclusiveMaximum}`
  const from = typeof least === 'number' ? `from ${least}` : least
  const to = typeof most === 'number' ? (most >= id_max ? null : `to ${most}`) : most
  const word = type === 'integer' ? 'whole number' : 'number'
  return [word, from, to].filter(Boolean).join(' ')
}

const code = (value: unknown) => `\`${String(value).replaceAll('|', '\\|')}\``
const linkTo = (name: string) => `[${name}](#${name.toLowerCase()})`

function valueText(schema: Schema): string {
  const name = nameOf(schema)
  if (name) return linkTo(name)
  if (schema.items) return `list of ${valueText(schema.items)}`
  if (schema.enum) return schema.enum.map(code).join(', ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.properties) return 'see below'
  if (schema.anyOf) return schema.anyOf.map(valueText).join(' or ')
  if (schema.type === 'string') return textText(schema)
  return schema.type === 'boolean' ? '`true`, `false`' : numberText(schema)
}

function textText({ pattern, format }: Schema): string {
  if (format === 'date') return 'day, `YYYY-MM-DD`'
  return pattern ? `text of the form ${code(pattern)}` : 'text'
}

type Comments = ReadonlyMap<string, string>

function rowsOf(schema: Schema, owner: string, comments: Comments, prefix = ''): string[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([field, value]) => {
    const usual = owner === 'PollIntervals' ? usualOf(field) : ''
    const comment = comments.get(`${owner}.${field}`) ?? siteFieldMeanings[field]
    const meaning = [comment, usual].filter(Boolean).join(' ')
    if (meaning === '') throw new Error(`site-field-meanings.ts lacks ${owner}.${field}`)
    const needed = required.includes(field) ? 'yes' : 'no'
    const cells = [code(prefix + field), valueText(value), needed, meaning.replaceAll('|', '\\|')]
    const row = `| ${cells.join(' | ')} |`
    const is_inline = value.properties !== undefined && nameOf(value) === null
    return is_inline ? [row, ...rowsOf(value, owner, comments, `${prefix}${field}.`)] : [row]
  })
}

function usualOf(field: string): string {
  const seconds = (site.defaultPollIntervals as Record<string, number>)[field]
  return seconds === undefined ? '' : `Defaults to ${seconds}.`
}

const table = (rows: readonly string[]) =>
  ['| field | value | required | meaning |', '|---|---|---|---|', ...rows].join('\n')

function sectionOf(schema: Schema, comments: Comments): string {
  const name = nameOf(schema)!
  const variants = schema.anyOf ?? [schema]
  const tables = variants.map((variant) => {
    const { protocol } = variant.properties ?? {}
    const head = schema.anyOf && protocol ? `With \`protocol\` ${valueText(protocol)}:\n\n` : ''
    return head + table(rowsOf(variant, name, comments))
  })
  return [`## ${name}`, comments.get(name), ...tables].filter(Boolean).join('\n\n')
}

/** Named objects, in the order in which the site refers to them. */
function reached(from: Schema, into: Map<string, Schema> = new Map()): Map<string, Schema> {
  const name = nameOf(from)
  if (name) {
    if (into.has(name)) return into
    into.set(name, from)
  }
  const parts = [...Object.values(from.properties ?? {}), ...(from.anyOf ?? [])]
  for (const part of from.items ? [from.items, ...parts] : parts) reached(part, into)
  return into
}

export function siteReference(): string {
  const comments = new Map(files.flatMap(commentsOf))
  const sections = [...reached(site.Site as unknown as Schema).values()].map((one) =>
    sectionOf(one, comments),
  )
  const head = `# Site file

Every field of \`site.yaml\`, the inventory of a site. This page is generated by \`npm run generate\`
from the schema by which the edge and the simulator check the file. A field that is not on this page
is refused. The grid permit is no part of the file.

[The demo's file](../simulator/demo/site.yaml) is a complete example. [Devices](devices.md) lists
the drivers, [a battery's first day](guides/battery-first-day.md) explains the fields
of a battery, [install an edge](guides/install-edge.md#change-siteyaml-later) later changes.`
  return `${[head, ...sections].join('\n\n')}\n`
}

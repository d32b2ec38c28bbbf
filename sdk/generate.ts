/**
 * Writes the generated part of the SDK: a method and the types of every operation of openapi.json.
 * `npm start`, `npm test` and the command line do it when the files are missing.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  anyOf?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  [keyword: string]: unknown
}

interface Operation {
  operationId: string
  parameters: { name?: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, unknown> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const generated = join(import.meta.dirname, 'generated')
const document_file = join(import.meta.dirname, '../openapi.json')

/** @throws where packages for development are missing, which hold the generator */
export async function generateSdk({ when_missing = false } = {}): Promise<void> {
  if (when_missing && existsSync(generated)) return
  const sources = await sdkSources(readFileSync(document_file, 'utf8'))
  rmSync(generated, { recursive: true, force: true })
  for (const [path, text] of sources) {
    const file = join(generated, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** Every file by its path below `sdk/generated`, the same bytes for the same document. */
async function sdkSources(openApiText: string): Promise<[path: string, text: string][]> {
  const { createClient } = await import('@hey-api/openapi-ts')
  const document = JSON.parse(openApiText) as Document
  const facts = factsText(document)
  flatten(document)
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-sdk-'))
  try {
    await createClient({
      input: document as never,
      logs: { level: 'silent', file: false },
      output: { path: folder, importFileExtension: '.ts', clean: true },
      plugins: [
        '@hey-api/typescript',
        {
          name: '@hey-api/sdk',
          operations: {
            strategy: 'single',
            containerName: 'Operations',
            methodName: { case: 'camelCase' },
          },
          paramsStructure: 'flat',
          responseStyle: 'data',
          auth: false,
        },
        { name: '@hey-api/client-fetch', throwOnError: true },
      ],
    })
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => path.replaceAll('\\', '/'))
      .sort()
    if (paths.length < 3) throw new Error('the generator of the SDK wrote nothing')
    return [
      ['facts.gen.ts', facts],
      ...paths.map((path): [string, string] => [path, mended(path, folder)]),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * The document as the generator is to see it: bodies without a name of their own, so that their
 * fields stand among the parameters, and instants that are sent as a type of their own.
 */
function flatten({ paths, components: { schemas } }: Document): void {
  schemas['Timestamp'] = {
    type: 'string',
    description: 'An instant: text in RFC 3339 with an offset, or a Date.',
  }
  const timestamp = { $ref: '#/components/schemas/Timestamp' }
  for (const operation of operationsOf(paths)) {
    for (const parameter of operation.parameters) {
      if (parameter.schema?.format === 'date-time') parameter.schema = timestamp
    }
    const body = bodyOf(operation)
    if (!body) continue
    const schema = named(schemas, body.schema)
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      // What is taken whatever it holds is offered as what means something.
      if (isAnything(field) && Number.isInteger(field.examples?.[0])) field.type = 'integer'
      if (field.format !== 'date-time') continue
      const { type, format, ...rest } = field
      const nullable = Array.isArray(type) && { anyOf: [timestamp, { type: 'null' }] }
      schema.properties![name] = { ...rest, ...(nullable || timestamp) }
    }
    body.schema = schema
  }
}

/** What the hand-written part has to know of the document beside the methods. */
function factsText({ paths, components: { schemas } }: Document): string {
  const operations = operationsOf(paths)
  const instants = operations.flatMap((operation) => [
    ...operation.parameters.map(({ name = '', schema }) => [name, schema] as const),
    ...Object.entries(named(schemas, bodyOf(operation)?.schema ?? {}).properties ?? {}),
  ])
  const names = instants.flatMap(([name, of]) => (of?.format === 'date-time' ? [name] : []))
  const exports = operations.flatMap(({ operationId, responses }) => {
    const { content = {} } = responses['200'] ?? {}
    const has_forms = 'application/json' in content && 'text/csv' in content
    return has_forms ? [methodName(operationId)] : []
  })
  const list = (texts: string[], line: (text: string) => string) =>
    [...new Set(texts)].sort().map(line).join('\n')
  return `/** Parameters and fields of bodies that are an instant. */
export const timestampNames: readonly string[] = [
${list(names, (name) => `  '${name}',`)}
]

/** Operations that answer as CSV and as newline-delimited JSON, too. */
export type ExportOperation =
${list(exports, (name) => `  | '${name}'`)}
`
}

const isAnything = ({ type, $ref, anyOf }: Schema) => !type && !$ref && !anyOf

const methodName = (operationId: string) =>
  operationId.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const operationsOf = (paths: Document['paths']) =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']

const named = (schemas: Record<string, Schema>, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : schemas[schema.$ref.replace(/^.*\//, '')]!

/** As the generator wrote it, but for two things that it cannot be told. */
function mended(path: string, folder: string): string {
  const text = readFileSync(join(folder, path), 'utf8')
  if (path === 'types.gen.ts')
    return once(text, 'Timestamp = string;', 'Timestamp = string | Date;')
  // Its client does not hold to exactOptionalPropertyTypes; its types are the same without checks.
  return /^(client|core)\//.test(path) ? `// @ts-nocheck\n${text}` : text
}

function once(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`not once in the generated SDK: ${from}`)
  return text.replace(from, to)
}

/** Read operations of the API, from the API document. */
import { readFileSync } from 'node:fs'
import { AdminError } from '@heliograph/server/access/admin'

export interface ReadOperation {
  /** Such as `inverters-history`, without the verb `get` or `list`. */
  name: string
  /** Name of the method of the SDK. */
  method: string
  summary: string
  parameters: { name: string; required: boolean; description: string }[]
  /** The operation can be exported as a file. */
  is_exported: boolean
}

interface Documented {
  operationId: string
  summary: string
  parameters?: { name: string; in?: string; required?: boolean; description?: string }[]
  responses: Record<string, { content?: Record<string, unknown> }>
}

const camel = (text: string) =>
  text.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** All read operations, sorted by name. */
export function readOperations(): ReadOperation[] {
  const file = new URL('../openapi.json', import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Record<string, { get?: Documented }>
  }
  const reads = Object.values(paths).flatMap(({ get }) => get ?? [])
  const short = reads.map(({ operationId }) => operationId.replace(/_(get|list)$/, ''))
  const is_taken = (name: string) => short.indexOf(name) !== short.lastIndexOf(name)
  return reads
    .map((read, nth) => {
      // A list and its item differ only by the verb.
      const keeps_verb = is_taken(short[nth]!) && read.operationId.endsWith('_get')
      return operationOf(read, keeps_verb ? read.operationId : short[nth]!)
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function operationOf(
  { operationId, summary, parameters = [], responses }: Documented,
  name: string,
): ReadOperation {
  return {
    name: name.replaceAll('_', '-'),
    method: camel(operationId),
    summary,
    parameters: parameters
      // The site has its own option. Its parameter is a reference, without `in`.
      .filter(({ in: where }) => where === 'path' || where === 'query')
      .map(({ name, required = false, description = '' }) => ({ name, required, description })),
    is_exported: Object.keys(responses['200']?.content ?? {}).includes('text/csv'),
  }
}

/** Throws for an unknown name, and suggests similar ones. */
export function findOperation(name: string): ReadOperation {
  const all = readOperations()
  const found = all.find((one) => one.name === name)
  if (found) return found
  const like = all.filter((one) => one.name.includes(name.split('-')[0]!)).map((one) => one.name)
  const hint = like.length > 0 ? ` (similar: ${like.join(', ')})` : ''
  throw new AdminError('invalid', `no operation is named ${JSON.stringify(name)}${hint}`)
}

/** Parses `name=value` as parameters of an operation; throws for unknown ones. */
export function parametersOf(
  { name, parameters }: ReadOperation,
  words: readonly string[],
): Record<string, string> {
  const given = words.map((word): [string, string] => {
    const [, key = '', value = ''] = /^(\w+)=(.*)$/s.exec(word) ?? []
    if (!parameters.some((one) => one.name === key)) {
      const known = parameters.map((one) => one.name).join(', ') || 'none'
      throw new AdminError(
        'invalid',
        `${JSON.stringify(word)} is not a parameter of ${name}: ${known}`,
      )
    }
    return [key, value]
  })
  const found = Object.fromEntries(given)
  const missing = parameters.filter((one) => one.required && !(one.name in found))
  if (missing.length > 0) {
    const names = missing.map((one) => `${one.name}=…`).join(' ')
    throw new AdminError('invalid', `${name} needs ${names}`)
  }
  return found
}

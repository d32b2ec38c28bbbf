/** Reads a YAML file by a schema and reports all its problems with their places. */

import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml'
import { encodingFault } from './file-encoding.ts'
import { plainFaults } from './schema-fault.ts'
import { fieldOf, type SitePath, type SiteProblem } from './site-check.ts'

export interface FileProblem {
  /** From 1. */
  line: number
  /** From 1. */
  column: number
  /** `loggers[0].inverters[2].unit_id`; empty for the file as a whole. */
  field: string
  message: string
}

export type ReadFile<Of> = { value: Of } | { problems: FileProblem[] }

interface FileForm<Of> {
  schema: TSchema
  /**
   * Checks of a value that has every list and object of the schema, or of one without any fault
   * (`is_strict`).
   */
  check(value: Of): SiteProblem[]
  is_strict?: boolean
  /** The text may have faults of encoding: it was accepted before. */
  any_encoding?: boolean
}

/**
 * Parses and checks the text of a file. All problems are reported at once, by line. Problems of
 * YAML hide the others, and a list or an object that is missing or of the wrong type hides those
 * of `check`.
 */
export function parseYamlFile<Of>(
  text: string,
  { schema, check, is_strict = false, any_encoding = false }: FileForm<Of>,
): ReadFile<Of> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(Math.min(offset, Math.max(text.length - 1, 0)))
    return { line, column: col }
  }
  const encoding = any_encoding ? null : encodingFault(text)
  if (encoding) {
    const { offset, message } = encoding
    return { problems: [{ ...place(offset), field: '', message }] }
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ code, message, pos }) => ({
      ...place(pos[0]),
      field: fieldOf(pathAt(document, pos[0])),
      message: yamlFaults[code] ?? `not YAML: ${message}`,
    }))
    return { problems: byLine(problems) }
  }
  const aliases = aliasFaults(document)
  if (aliases.length > 0) {
    return { problems: aliases.map(({ offset, ...fault }) => ({ ...place(offset), ...fault })) }
  }
  let value: unknown
  try {
    // Aliases are common for equal inverters, and the operator's own file is trusted.
    value = document.toJS({ maxAliasCount: -1 })
  } catch (error) {
    return { problems: [{ line: 1, column: 1, field: '', message: (error as Error).message }] }
  }
  const { faults, whole } = checkSchema(schema, value)
  const is_checked = is_strict ? faults.length === 0 : whole
  const found = [...faults, ...(is_checked ? check(value as Of) : [])]
  if (found.length === 0) return { value: value as Of }
  const problems = found.map(({ path, message }) => ({
    ...place(offsetOf(document, path)),
    field: fieldOf(path),
    message,
  }))
  return { problems: byLine(problems) }
}

/** One line of text for each problem, in the form of compilers. */
export function describeProblems(file: string, problems: readonly FileProblem[]): string[] {
  return problems.map(({ line, column, field, message }) => {
    return `${file}:${line}:${column}: ${field === '' ? '' : `${field}: `}${message}`
  })
}

const yamlFaults: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this field is given twice',
  MULTIPLE_DOCS: 'a second document begins here: a file holds one',
}

/** Aliases without an anchor, and aliases within their own anchor. */
function aliasFaults(document: Document) {
  const faults: { offset: number; field: string; message: string }[] = []
  visit(document, {
    Alias(_, alias, parents) {
      const meant = alias.resolve(document)
      if (meant && !parents.includes(meant)) return
      const wrong = meant ? 'stands within what it repeats' : 'repeats what is not there'
      const offset = startOf(alias) ?? 0
      const field = fieldOf(pathAt(document, offset))
      faults.push({ offset, field, message: `*${alias.source} ${wrong}` })
    },
  })
  return faults
}

function checkSchema(schema: TSchema, value: unknown) {
  const { maxErrors } = Settings.Get()
  try {
    Settings.Set({ maxErrors: 10_000 })
    return plainFaults(Value.Errors(schema, value), value)
  } finally {
    Settings.Set({ maxErrors })
  }
}

function byLine(problems: FileProblem[]): FileProblem[] {
  return problems.sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Offset of a field, or of as much of its path as exists. */
function offsetOf(document: Document, path: SitePath): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    const collection = isAlias(node) ? node.resolve(document) : node
    if (!isCollection(collection)) break
    if (isMap(collection)) {
      const pair = collection.items.find(({ key }) => isScalar(key) && key.value === step)
      if (!pair) break
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else {
      node = collection.items[Number(step)]
      offset = startOf(node) ?? offset
    }
  }
  return offset
}

function startOf(node: unknown): number | null {
  return isNode(node) ? ((node as Node).range?.[0] ?? null) : null
}

/** The path of the innermost field at the offset. */
function pathAt(document: Document, offset: number): SitePath {
  let path: SitePath = []
  visit(document, (key, node, parents) => {
    const range = isPair(node) ? pairRange(node) : isNode(node) ? node.range : null
    if (range && (offset < range[0] || offset > range[1])) return visit.SKIP
    if (isPair(node) && range) path = [...pathOf(parents), String(node.key)]
    else if (typeof key === 'number' && isNode(node) && !isPair(parents.at(-1))) {
      path = [...pathOf(parents), key]
    }
    return undefined
  })
  return path
}

function pairRange({ key, value }: { key: unknown; value: unknown }): [number, number] | null {
  const start = startOf(key)
  if (start === null) return null
  const end = isNode(value) ? value.range?.[1] : isNode(key) ? key.range?.[1] : undefined
  return [start, end ?? start]
}

function pathOf(parents: readonly unknown[]): SitePath {
  return parents.flatMap((parent, depth): (string | number)[] => {
    if (isPair(parent)) return [String(parent.key)]
    const holder = parents[depth - 1]
    if (!isCollection(holder) || isMap(holder)) return []
    return [holder.items.indexOf(parent as never)]
  })
}

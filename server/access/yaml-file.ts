/** YAML or JSON files of the operator, whose content a schema describes. */
import { readFile } from 'node:fs/promises'
import { plainFaults } from '@heliograph/domain/schema-fault'
import { fieldOf, type SiteProblem } from '@heliograph/domain/site-check'
import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { parseDocument } from 'yaml'
import { AdminError } from './admin.ts'

interface FileFault {
  /** `rules.soc_low.raise_delay_s`; empty for the whole file. */
  field: string
  message: string
}

type Parsed<Content> = { content: Content } | { faults: FileFault[] }

/**
 * Parses a file and reports all of its faults at once.
 * @param check checks beyond the schema, made only on content that fits the schema
 * @param empty the content of an empty file
 */
export function parseYaml<Content>(
  text: string,
  { schema, check, empty }: { schema: TSchema; check(of: Content): SiteProblem[]; empty?: object },
): Parsed<Content> {
  const document = parseDocument(text, { prettyErrors: true })
  if (document.errors.length > 0) {
    return { faults: document.errors.map(({ message }) => ({ field: '', message })) }
  }
  let value: unknown
  try {
    value = document.toJS() ?? empty ?? null
  } catch (error) {
    return { faults: [{ field: '', message: (error as Error).message }] }
  }
  const problems = [...tagProblems(value), ...formProblems(schema, value)]
  const content = value as Content
  if (problems.length === 0) problems.push(...check(content))
  if (problems.length === 0) return { content }
  return { faults: problems.map(({ path, message }) => ({ field: fieldOf(path), message })) }
}

/** @throws AdminError invalid for a file that cannot be read, is too large or has faults */
export async function readYamlFile<Content>(
  file: string,
  { mib_max, parse }: { mib_max: number; parse(text: string): Parsed<Content> },
): Promise<Content> {
  const bytes = await readFile(file).catch((cause: Error) => {
    throw new AdminError('invalid', `${file} cannot be read: ${cause.message}`, { cause })
  })
  if (bytes.length > mib_max * 1024 ** 2) {
    throw new AdminError('invalid', `${file} is over ${mib_max} MiB`)
  }
  const parsed = parse(bytes.toString('utf8'))
  if ('content' in parsed) return parsed.content
  const faults = parsed.faults.map(({ field, message }) => `  ${field && `${field}: `}${message}`)
  throw new AdminError('invalid', [`${file} is not valid:`, ...faults].join('\n'))
}

/** YAML tags make JavaScript sets and maps, whose content no schema would check. */
function tagProblems(value: unknown): SiteProblem[] {
  const seen = new Set<unknown>()
  const within = (part: unknown, path: SiteProblem['path']): SiteProblem[] => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return []
    seen.add(part)
    if (Array.isArray(part)) return part.flatMap((each, nth) => within(each, [...path, nth]))
    if (Object.getPrototypeOf(part) !== Object.prototype) {
      return [{ path, message: 'must be plain, without a tag such as !!set or !!omap' }]
    }
    return Object.entries(part).flatMap(([name, each]) => within(each, [...path, name]))
  }
  return within(value, [])
}

function formProblems(schema: TSchema, value: unknown): SiteProblem[] {
  const { maxErrors } = Settings.Get()
  try {
    Settings.Set({ maxErrors: 10_000 })
    return plainFaults(Value.Errors(schema, value), value).faults
  } finally {
    Settings.Set({ maxErrors })
  }
}

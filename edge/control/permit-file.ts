/**
 * Reads `permit.yaml`. What is wrong with it is told with its place and field, and never with a
 * figure: problems become events and log lines, which leave the edge.
 */
import { createHash } from 'node:crypto'
import { encodingFault } from '@heliograph/domain/file-encoding'
import type { Site } from '@heliograph/domain/site'
import { wattsWithin } from '@heliograph/domain/watts'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { LineCounter, parseDocument } from 'yaml'
import type { Permit } from './permit-terms.ts'

const closed = { additionalProperties: false } as const
const PowerKw = Type.Number({ minimum: 0, maximum: 1e7 })

/** What the grid operator permits at most, of each plant and of the site's common connection. */
export type PermitFile = Static<typeof PermitFile>
export const PermitFile = Type.Object(
  {
    version: Type.Literal(1),
    site_id: Type.String(),
    /** Control keeps so much below each permit. */
    guard_pct: Type.Optional(Type.Number({ minimum: 0, maximum: 20 })),
    site_permit_kw: Type.Optional(PowerKw),
    plants: Type.Array(
      Type.Object({ logger_id: Type.Integer({ minimum: 1 }), permit_kw: PowerKw }, closed),
    ),
    checksum: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  },
  closed,
)

/** What the file is held against: it names the site, and no plant that this does not have. */
export interface PermitSite {
  site_id: string
  /** What each plant can deliver by its ratings, kW. null: not known, so not checked. */
  plants: ReadonlyMap<number, number> | null
  /** What the whole site can deliver by its ratings, kW. */
  rated_kw: number
}

/**
 * A permit of more than so many times the ratings is refused: it was given in watts, or the ratings
 * in megawatts. A connection may well be larger than the plant behind it, though not by that much.
 */
const rated_ratio_max = 100

export function permitSiteOf({ site_id, loggers, batteries = [] }: Site): PermitSite {
  const sum = (kws: readonly number[]) => kws.reduce((total, kw) => total + kw, 0)
  const discharge_kw = (logger_id?: number) =>
    sum(
      batteries
        .filter((battery) => battery.logger_id === logger_id)
        .map(({ rated_discharge_power_kw }) => rated_discharge_power_kw),
    )
  const plants = new Map(
    loggers.map(({ logger_id, rated_power_kw, inverters }) => {
      const inverters_kw = sum(
        inverters.map(({ rated_ac_power_kw, max_ac_power_kw = 0 }) =>
          Math.max(rated_ac_power_kw, max_ac_power_kw),
        ),
      )
      return [logger_id, Math.max(rated_power_kw, inverters_kw) + discharge_kw(logger_id)]
    }),
  )
  return { site_id, plants, rated_kw: sum([...plants.values()]) + discharge_kw() }
}

type ParsedPermit = { file: PermitFile } | { problems: string[] }

/** All problems at once, as `line:column: field: what is wrong`; those of YAML hide the others. */
export function parsePermitFile(text: string, site: PermitSite | null): ParsedPermit {
  const parsed = parse(text)
  if (parsed.problems) return { problems: parsed.problems }
  const faults = faultsOf(parsed.value)
  if (faults.length === 0) {
    const file = parsed.value as PermitFile
    if (file.checksum !== checksumOf(file)) faults.push(unsealed)
    faults.push(...foreignTo(file, site))
    if (faults.length === 0) return { file }
  }
  return { problems: faults.map(([path, message]) => parsed.describe(path, message)) }
}

/** The permit as control goes by it. */
export function permitOf({ plants, site_permit_kw, guard_pct = 0 }: PermitFile): Permit {
  const guarded = (kw: number) => Math.floor((wattsWithin(kw) * (100 - guard_pct)) / 100)
  return {
    plant_w: new Map(plants.map(({ logger_id, permit_kw }) => [logger_id, guarded(permit_kw)])),
    site_w: site_permit_kw === undefined ? null : guarded(site_permit_kw),
  }
}

/** For the control log: with figures, and the guard not taken off. */
export function permitEntry({ plants, site_permit_kw, guard_pct = 0 }: PermitFile) {
  return {
    is: 'permit_file',
    plants: plants.map(({ logger_id, permit_kw }) => ({
      logger_id,
      permit_w: wattsWithin(permit_kw),
    })),
    site_w: site_permit_kw === undefined ? null : wattsWithin(site_permit_kw),
    guard_pct,
  } as const
}

/**
 * The text with the checksum that fits it; comments and order stay.
 *
 * @returns problems where it is wrong in another way: that is not sealed
 */
export function sealPermitFile(text: string): { text: string } | { problems: string[] } {
  const parsed = parse(text)
  if (parsed.problems) return { problems: parsed.problems }
  const { document, value, describe } = parsed
  const placeholder = { checksum: `sha256:${'0'.repeat(64)}` }
  const sealed = isObject(value) ? { ...value, ...placeholder } : value
  const faults = faultsOf(sealed)
  if (faults.length > 0) {
    return { problems: faults.map(([path, message]) => describe(path, message)) }
  }
  document.set('checksum', checksumOf(sealed as PermitFile))
  return { text: document.toString({ lineWidth: 0 }) }
}

type Path = readonly (string | number)[]
type Fault = [path: Path, message: string]

const unsealed: Fault = [
  ['checksum'],
  'does not fit the rest of the file; a change that is meant is sealed with heliograph-edge permit seal',
]

/** SHA-256 over the rest as JSON, the fields of each object by name. */
function checksumOf({ checksum: _, ...rest }: PermitFile): string {
  return `sha256:${createHash('sha256').update(canonical(rest)).digest('hex')}`
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

function parse(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(Math.max(0, Math.min(offset, text.length - 1)))
    return `${line}:${col}`
  }
  const describe = (path: Path, message: string) => {
    const field = fieldOf(path)
    const node = document.getIn(nearest(document, path), true) as { range?: [number] } | undefined
    return `${place(node?.range?.[0] ?? 0)}: ${field === '' ? '' : `${field}: `}${message}`
  }
  const encoding = encodingFault(text)
  if (encoding) return { problems: [`${place(encoding.offset)}: ${encoding.message}`] }
  if (document.errors.length > 0) {
    // What the parser says of them quotes the text.
    const problems = document.errors.map(({ pos }) => `${place(pos[0])}: this is not YAML`)
    return { problems: [...new Set(problems)] }
  }
  try {
    return { document, describe, value: document.toJS({ maxAliasCount: 0 }) as unknown }
  } catch {
    return { problems: ['1:1: repeats (*) are not allowed here'] }
  }
}

/** As much of the path as is there. */
function nearest(document: ReturnType<typeof parseDocument>, path: Path): Path {
  const found = path.findLastIndex((_, nth) => document.hasIn(path.slice(0, nth + 1)))
  return path.slice(0, found + 1)
}

function faultsOf(value: unknown): Fault[] {
  if (!isObject(value)) return [[[], 'must be a set of fields']]
  const faults = (Value.Errors(PermitFile, value) as unknown as SchemaFault[]).flatMap(inWords)
  return faults.length > 0 ? faults : twice(value as PermitFile)
}

interface SchemaFault {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
}

function inWords({ keyword, instancePath, params }: SchemaFault): Fault[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  const of = (name: string) => params[name] as string[]
  if (keyword === 'boolean') return []
  if (keyword === 'additionalProperties') {
    // The name itself may hold a figure, as where the colon was forgotten.
    return of(keyword).map((name) =>
      /^[a-z_]{1,40}$/.test(name)
        ? [[...path, name], 'there is no such field here']
        : [path, 'has a field that is not known'],
    )
  }
  if (keyword === 'required') {
    return of('requiredProperties').map((name) => [[...path, name], 'is missing'])
  }
  return [[path, words[keyword === 'type' ? String(params['type']) : keyword] ?? 'is not right']]
}

const words: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  integer: 'must be a whole number',
  array: 'must be a list',
  object: 'must be a set of fields',
  const: 'must be 1',
  minimum: 'is too small',
  maximum: 'is too large',
  pattern: 'must be sha256: and 64 digits; heliograph-edge permit seal writes it',
}

function twice({ plants }: PermitFile): Fault[] {
  const seen = new Set<number>()
  return plants.flatMap(({ logger_id }, nth): Fault[] => {
    const is_known = seen.has(logger_id)
    seen.add(logger_id)
    return is_known ? [[['plants', nth, 'logger_id'], 'this plant has an entry already']] : []
  })
}

function foreignTo(file: PermitFile, site: PermitSite | null): Fault[] {
  if (!site) return []
  const faults: Fault[] = []
  if (file.site_id !== site.site_id) faults.push([['site_id'], 'is not that of site.yaml'])
  if (!site.plants) return faults
  for (const [nth, { logger_id, permit_kw }] of file.plants.entries()) {
    const rated_kw = site.plants.get(logger_id)
    if (rated_kw === undefined) {
      faults.push([['plants', nth, 'logger_id'], 'site.yaml has no such plant'])
    } else if (permit_kw > rated_ratio_max * rated_kw) {
      faults.push([['plants', nth, 'permit_kw'], farAbove('the plant')])
    }
  }
  const { site_permit_kw = 0 } = file
  if (site_permit_kw > rated_ratio_max * site.rated_kw) {
    faults.push([['site_permit_kw'], farAbove('the site')])
  }
  return faults
}

const farAbove = (what: string) =>
  `is more than ${rated_ratio_max} times what ${what} is rated for in site.yaml: give kilowatts, ` +
  'not watts, in both files'

const fieldOf = (path: Path) =>
  path
    .map((step, nth) => (typeof step === 'number' ? `[${step}]` : nth ? `.${step}` : step))
    .join('')

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

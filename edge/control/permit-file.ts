/**
 * Reads `permit.yaml`. What is wrong with it is told with its place and field, and never with a
 * figure: problems become events and log lines, which leave the edge.
 */
import { createHash } from 'node:crypto'
import type { Site } from '@heliograph/domain/site'
import type { SiteProblem } from '@heliograph/domain/site-check'
import { wattsWithin } from '@heliograph/domain/watts'
import { type FileProblem, parseYamlFile } from '@heliograph/domain/yaml-file'
import { type Static, type TSchema, Type } from 'typebox'
import { parseDocument, visit } from 'yaml'
import type { Permit } from './permit-terms.ts'
import { sum } from './sum.ts'

const closed = { additionalProperties: false } as const
const PowerKw = Type.Number({ minimum: 0, maximum: 1e7 })

const fields = {
  version: Type.Enum([1]),
  site_id: Type.String(),
  /** Control keeps so much below each permit. */
  guard_pct: Type.Optional(Type.Number({ minimum: 0, maximum: 20 })),
  site_permit_kw: Type.Optional(PowerKw),
  plants: Type.Array(
    Type.Object({ logger_id: Type.Integer({ minimum: 1 }), permit_kw: PowerKw }, closed),
  ),
}

/** What the grid operator permits at most, of each plant and of the site's common connection. */
export type PermitFile = Static<typeof PermitFile>
export const PermitFile = Type.Object({ ...fields, checksum: Type.String() }, closed)

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
  const discharge_kw = (logger_id?: number) =>
    sum(
      batteries.filter((battery) => battery.logger_id === logger_id),
      ({ rated_discharge_power_kw }) => rated_discharge_power_kw,
    )
  const plants = new Map(
    loggers.map(({ logger_id, rated_power_kw, inverters }) => {
      const inverters_kw = sum(inverters, ({ rated_ac_power_kw, max_ac_power_kw = 0 }) =>
        Math.max(rated_ac_power_kw, max_ac_power_kw),
      )
      return [logger_id, Math.max(rated_power_kw, inverters_kw) + discharge_kw(logger_id)]
    }),
  )
  return { site_id, plants, rated_kw: sum([...plants.values()]) + discharge_kw() }
}

type ParsedPermit = { file: PermitFile } | { problems: string[] }

/** All problems at once, as `line:column: field: what is wrong`; those of YAML hide the others. */
export function parsePermitFile(text: string, site: PermitSite | null): ParsedPermit {
  const check = (file: PermitFile) => {
    const faults = twice(file)
    if (faults.length > 0) return faults
    const is_sealed = file.checksum === checksumOf(file)
    return [...(is_sealed ? [] : [unsealed]), ...foreignTo(file, site)]
  }
  const read = readFile(text, PermitFile, check)
  return 'value' in read ? { file: read.value } : read
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
  const schema = Type.Object({ ...fields, checksum: Type.Optional(Type.Unknown()) }, closed)
  const read = readFile(text, schema, twice)
  if ('problems' in read) return read
  const document = parseDocument(text)
  document.set('checksum', checksumOf(read.value))
  return { text: document.toString({ lineWidth: 0 }) }
}

function readFile(
  text: string,
  schema: TSchema,
  check: (file: PermitFile) => SiteProblem[],
): { value: PermitFile } | { problems: string[] } {
  let has_repeat = false
  visit(parseDocument(text), {
    Alias() {
      has_repeat = true
    },
  })
  // An earlier version does not read them.
  if (has_repeat) return { problems: ['1:1: repeats (*) are not allowed here'] }
  const read = parseYamlFile<PermitFile>(text, { schema, check, is_strict: true })
  return 'value' in read ? read : { problems: read.problems.map(inWords) }
}

const unsealed: SiteProblem = {
  path: ['checksum'],
  message:
    'does not fit the rest of the file; a change that is meant is sealed with heliograph-edge permit seal',
}

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

/** Problems are reported to the server: without what the file says, as that may be the permit. */
function inWords({ line, column, field, message }: FileProblem): string {
  // The name itself may hold a figure, as where the colon was forgotten.
  const [known = ''] = /^(?:[a-z_]{1,40}(?:\[\d+\])?(?:\.|$))*/.exec(field) ?? []
  const is_yaml = !message.startsWith('not YAML')
  const wrong = is_yaml ? message.replace(/^(must .*), not .*$/s, '$1') : 'this is not YAML'
  const is_hidden = known !== field && message === 'there is no such field here'
  const what = is_hidden ? 'has a field that is not known' : wrong
  const where = known.replace(/\.$/, '')
  return `${line}:${column}: ${where === '' ? '' : `${where}: `}${what}`
}

function twice({ plants }: PermitFile): SiteProblem[] {
  const seen = new Set<number>()
  return plants.flatMap(({ logger_id }, nth): SiteProblem[] => {
    const is_known = seen.has(logger_id)
    seen.add(logger_id)
    return is_known ? [ofPlant(nth, 'logger_id', 'this plant has an entry already')] : []
  })
}

function foreignTo(file: PermitFile, site: PermitSite | null): SiteProblem[] {
  if (!site) return []
  const faults: SiteProblem[] = []
  if (file.site_id !== site.site_id) {
    faults.push({ path: ['site_id'], message: 'is not that of site.yaml' })
  }
  if (!site.plants) return faults
  for (const [nth, { logger_id, permit_kw }] of file.plants.entries()) {
    const rated_kw = site.plants.get(logger_id)
    if (rated_kw === undefined) {
      faults.push(ofPlant(nth, 'logger_id', 'site.yaml has no such plant'))
    } else if (permit_kw > rated_ratio_max * rated_kw) {
      faults.push(ofPlant(nth, 'permit_kw', farAbove('the plant')))
    }
  }
  const { site_permit_kw = 0 } = file
  if (site_permit_kw > rated_ratio_max * site.rated_kw) {
    faults.push({ path: ['site_permit_kw'], message: farAbove('the site') })
  }
  return faults
}

const farAbove = (what: string) =>
  `is more than ${rated_ratio_max} times what ${what} is rated for in site.yaml: give kilowatts, ` +
  'not watts, in both files'

const ofPlant = (nth: number, name: string, message: string): SiteProblem => ({
  path: ['plants', nth, name],
  message,
})

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

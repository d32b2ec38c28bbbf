/** The YAML file of contracts and fees: its schema and its validation. */

import type { SiteProblem } from '@heliograph/domain/site-check'
import { type Static, Type } from 'typebox'
import { parseYaml } from '../access/yaml-file.ts'
import { Closed } from '../http/params.ts'
import { microOf } from './money.ts'

export const contractTypes = [
  'spot',
  'fixed_price',
  'ppa',
  'feed_in_tariff',
  'feed_in_premium',
  'cfd',
] as const
export type ContractType = (typeof contractTypes)[number]

export const feeCodes = [
  'market_fee',
  'balancing',
  'grid',
  'aggregator',
  'tax',
  'guarantee_of_origin',
  'cross_border',
  'other',
] as const

export const feeBases = ['per_mwh', 'percent', 'per_month', 'per_mw_month', 'imbalance'] as const
export type FeeBasis = (typeof feeBases)[number]

const Day = Type.String({ format: 'date' })
const Currency = Type.String({ pattern: '^[A-Z]{3}$' })
const Text = Type.String({ minLength: 1, maxLength: 100 })
const LoggerId = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })
/** Wide enough for every currency: 2000 EUR/MWh are 800 000 HUF/MWh. */
const Price = Type.Number({ minimum: -10_000_000, maximum: 10_000_000 })

const AssignmentInFile = Closed({
  logger_id: LoggerId,
  /** Market that the plant is located in. */
  market_code: Text,
  /** Market that the plant sells into, if another one. */
  sold_market_code: Type.Optional(Text),
  contract_type: Type.Enum([...contractTypes]),
  fixed_price_per_mwh: Type.Optional(Price),
  floor_price_per_mwh: Type.Optional(Price),
  pays_at_negative_price: Type.Optional(Type.Boolean()),
  offtaker: Type.Optional(Text),
  imbalance_responsible_party: Type.Optional(Text),
  currency: Currency,
  valid_from: Day,
  /** The last day. */
  valid_to: Type.Optional(Day),
})
type AssignmentInFile = Static<typeof AssignmentInFile>

const FeeInFile = Closed({
  /** Without one, every plant of the site pays the fee. */
  logger_id: Type.Optional(LoggerId),
  code: Type.Enum([...feeCodes]),
  name: Text,
  basis: Type.Enum([...feeBases]),
  value: Price,
  currency: Type.Optional(Currency),
  valid_from: Day,
  valid_to: Type.Optional(Day),
})
type FeeInFile = Static<typeof FeeInFile>

export type ContractsFile = Static<typeof ContractsFile>
export const ContractsFile = Closed({
  assignments: Type.Array(AssignmentInFile, { maxItems: 10_000 }),
  fees: Type.Optional(Type.Array(FeeInFile, { maxItems: 10_000 })),
})

export interface Known {
  logger_ids: ReadonlySet<number>
  market_codes: ReadonlySet<string>
}

export const parseContracts = (text: string, known: Known) =>
  parseYaml<ContractsFile>(text, {
    schema: ContractsFile,
    check: (contracts) => [
      ...contracts.assignments.flatMap(assignmentProblems),
      ...(contracts.fees ?? []).flatMap(feeProblems),
      ...unknownNames(contracts, known),
      ...overlaps(contracts),
    ],
  })

const withFloor: readonly ContractType[] = ['spot', 'ppa', 'feed_in_premium']

function assignmentProblems(item: AssignmentInFile, nth: number): SiteProblem[] {
  const { contract_type, fixed_price_per_mwh, floor_price_per_mwh } = item
  const at = (field: string, message: string) => ({ path: ['assignments', nth, field], message })
  const problems: SiteProblem[] = []
  if (fixed_price_per_mwh !== undefined && contract_type === 'spot') {
    problems.push(at('fixed_price_per_mwh', 'spot pays the market price and has none'))
  }
  if (fixed_price_per_mwh === undefined && !['spot', 'ppa'].includes(contract_type)) {
    problems.push(at('fixed_price_per_mwh', `is missing: ${contract_type} needs it`))
  }
  if (floor_price_per_mwh !== undefined && !withFloor.includes(contract_type)) {
    problems.push(at('floor_price_per_mwh', `${contract_type} has none`))
  }
  for (const field of ['fixed_price_per_mwh', 'floor_price_per_mwh'] as const) {
    if (!isExact(item[field])) problems.push(at(field, inexact))
  }
  return [...problems, ...dateProblems(item, at)]
}

function feeProblems(item: FeeInFile, nth: number): SiteProblem[] {
  const { basis, value, currency, name } = item
  const at = (field: string, message: string) => ({ path: ['fees', nth, field], message })
  const problems = isExact(value) ? [] : [at('value', inexact)]
  // The name identifies a fee: an invisible blank would charge the fee twice.
  if (name !== name.trim()) problems.push(at('name', 'must not begin or end with a blank'))
  if (basis === 'percent') {
    if (Math.abs(value) > 100) problems.push(at('value', 'must be at most 100 %'))
    if (currency !== undefined) problems.push(at('currency', 'a percentage has none'))
  } else if (currency === undefined) {
    problems.push(at('currency', `is missing: ${basis} needs it`))
  }
  return [...problems, ...dateProblems(item, at)]
}

const inexact = 'must have at most 6 decimals'
const isExact = (value: number | undefined) =>
  value === undefined || microOf(decimalOf(value)) !== null

/** Decimal text; only numbers that fail the check for 6 decimals keep an exponent. */
export const decimalOf = (value: number): string =>
  Number.isInteger(value) ? value.toFixed(0) : String(value)

function dateProblems(
  { valid_from, valid_to }: { valid_from: string; valid_to?: string },
  at: (field: string, message: string) => SiteProblem,
): SiteProblem[] {
  if (valid_to === undefined || valid_to >= valid_from) return []
  return [at('valid_to', `is before valid_from, ${valid_from}; it is the last day`)]
}

function unknownNames({ assignments, fees = [] }: ContractsFile, known: Known): SiteProblem[] {
  const loggers = (list: string, items: readonly { logger_id?: number }[]) =>
    items.flatMap(({ logger_id }, nth) =>
      logger_id === undefined || known.logger_ids.has(logger_id)
        ? []
        : [{ path: [list, nth, 'logger_id'], message: `the site has no logger ${logger_id}` }],
    )
  const markets = assignments.flatMap((item, nth) =>
    (['market_code', 'sold_market_code'] as const).flatMap((field) => {
      const code = item[field]
      if (code === undefined || known.market_codes.has(code)) return []
      return [{ path: ['assignments', nth, field], message: `there is no market '${code}'` }]
    }),
  )
  return [...loggers('assignments', assignments), ...loggers('fees', fees), ...markets]
}

/**
 * On any day a plant has at most one contract, one fee of a code and name, and one `imbalance` fee.
 */
function overlaps({ assignments, fees = [] }: ContractsFile): SiteProblem[] {
  const ofPlant = Map.groupBy(numbered(assignments), ({ item }) => item.logger_id)
  const ofFee = Map.groupBy(numbered(fees), ({ item }) => JSON.stringify([item.code, item.name]))
  const imbalance = numbered(fees).filter(({ item }) => item.basis === 'imbalance')
  return [
    ...[...ofPlant.values()].flatMap((items) => overlapping('assignments', items)),
    ...[...ofFee.values()].flatMap((items) => overlapping('fees', items)),
    ...overlapping('fees', imbalance, 'basis').map(({ path, message }) => ({
      path,
      message: `imbalance ${message}: a deviation is charged once`,
    })),
  ]
}

interface Dated {
  logger_id?: number
  valid_from: string
  valid_to?: string
}

const numbered = <Item>(items: readonly Item[]) => items.map((item, nth) => ({ item, nth }))

/** Items that share a day and a plant with an earlier item; no `logger_id` means every plant. */
function overlapping(
  list: string,
  items: readonly { item: Dated; nth: number }[],
  field = 'valid_from',
): SiteProblem[] {
  const end = ({ valid_to }: Dated) => valid_to ?? '9999-12-31'
  const isShared = (a: Dated, b: Dated) =>
    a.logger_id === undefined || b.logger_id === undefined || a.logger_id === b.logger_id
  return items.flatMap(({ item, nth }) => {
    const other = items.find(
      (each) =>
        each.nth < nth &&
        each.item.valid_from <= end(item) &&
        item.valid_from <= end(each.item) &&
        isShared(item, each.item),
    )
    if (other === undefined) return []
    const message = `overlaps with ${list}[${other.nth}], ${period(other.item)}`
    return [{ path: [list, nth, field], message }]
  })
}

const period = ({ valid_from, valid_to }: Dated) => `${valid_from} to ${valid_to ?? 'an open end'}`

/**
 * Day-ahead prices of ENTSO-E's transparency platform: document type A44,
 * `Publication_MarketDocument` of IEC 62325-451-3, versions 7:0 and 7:3. One document may hold
 * several series: of several auctions of a zone, of other contracts, and in several resolutions.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { microOf } from '../micro.ts'
import {
  CurveFault,
  expandCurve,
  mergePeriods,
  type PeriodSpan,
  type PricePeriod,
} from '../periods.ts'
import type { Market } from '../price-store.ts'
import { type Outcome, outcomeOf, published, type Source, SourceFault } from './source.ts'

const parser = new XMLParser({
  ignoreAttributes: true,
  removeNSPrefix: true,
  // Amounts are parsed exactly by `microOf`.
  parseTagValue: false,
  processEntities: false,
  isArray: (name) => ['TimeSeries', 'Period', 'Point', 'Reason'].includes(name),
})

const day_ahead = 'A01'
/** Reason code of an acknowledgement without data. */
const no_data = '999'

const resolutions_ms: Readonly<Record<string, number>> = {
  PT15M: 900_000,
  PT30M: 1_800_000,
  PT60M: 3_600_000,
  PT1H: 3_600_000,
}

/** A parsed element: text, or its children by name. */
type Element = { readonly [name: string]: unknown }

export function entsoeSource({ url, token }: { url: string; token: string | null }): Source {
  return {
    fetchDay: (market, day, { get, signal }) =>
      outcomeOf(async () => {
        if (token === null) throw new SourceFault('ENTSOE_TOKEN is not set')
        if (market.eic_code === null) throw new SourceFault('the market has no EIC code')
        const address = requestOf(market, day, { url, token })
        const { status, text } = await get(address, signal)
        // 'No data' is answered with 200 or 400.
        if (status !== 200 && status !== 400) throw new SourceFault(`ENTSO-E answered ${status}`)
        return readDocument(text, market, day)
      }),
  }
}

function requestOf(
  { eic_code, sequence }: Market,
  day: PeriodSpan,
  { url, token }: { url: string; token: string },
): URL {
  const address = new URL(url)
  const minute = (time_ms: number) =>
    new Date(time_ms).toISOString().slice(0, 16).replaceAll(/[-:T]/g, '')
  const values = {
    securityToken: token,
    documentType: 'A44',
    in_Domain: eic_code!,
    out_Domain: eic_code!,
    periodStart: minute(day.start_ms),
    periodEnd: minute(day.end_ms),
    'contract_MarketAgreement.type': day_ahead,
    ...(sequence !== null && {
      'classificationSequence_AttributeInstanceComponent.position': String(sequence),
    }),
  }
  for (const [name, value] of Object.entries(values)) address.searchParams.set(name, value)
  return address
}

/**
 * Prices of a delivery day in a document: only series of day-ahead contracts and of the market's
 * own auction, never another auction as a substitute.
 *
 * @throws SourceFault for an invalid or contradictory document
 */
export function readDocument(
  text: string,
  market: Pick<Market, 'eic_code' | 'sequence'>,
  day: PeriodSpan,
): Outcome {
  const [kind, document] = rootOf(text)
  if (kind === 'Acknowledgement_MarketDocument') return acknowledged(document)
  if (kind !== 'Publication_MarketDocument') {
    throw new SourceFault(`ENTSO-E answered with a ${kind.slice(0, 60)}`)
  }
  const ours = elements(document, 'TimeSeries').filter((series) => isOf(market, series))
  for (const series of ours) demandZoneAndUnit(series, market)
  const currencies = [...new Set(ours.map((series) => textAt(series, 'currency_Unit.name')))]
  if (ours.length === 0) return { outcome: 'none_yet' }
  if (currencies.length > 1) throw new SourceFault(`ENTSO-E: prices in ${currencies.join(' and ')}`)
  try {
    const periods = mergePeriods(ours.map(seriesPeriods))
    return published(periods, day, {
      currency: currencies[0]!,
      document_id: optionalText(document, 'mRID'),
    })
  } catch (error) {
    if (error instanceof CurveFault) throw new SourceFault(`ENTSO-E: ${error.message}`)
    throw error
  }
}

function rootOf(text: string): [kind: string, document: Element] {
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new SourceFault('ENTSO-E answered with invalid XML')
  const roots = Object.entries(parser.parse(text) as Element).filter(([name]) => name !== '?xml')
  const [root] = roots
  if (!root) throw new SourceFault('ENTSO-E answered with an empty document')
  return [root[0], elementOf(root[1])]
}

function acknowledged(document: Element): Outcome {
  const [reason = {}] = elements(document, 'Reason')
  const code = optionalText(reason, 'code')
  const why = optionalText(reason, 'text') ?? 'no reason given'
  // Rejected requests have the same code; only the text differs.
  if (code === no_data && /no matching data/i.test(why)) return { outcome: 'none_yet' }
  throw new SourceFault(`ENTSO-E refused: ${code ?? 'no code'}: ${why.slice(0, 200)}`)
}

/** A series without a position belongs to the only auction, number 1. */
function isOf({ sequence }: Pick<Market, 'sequence'>, series: Element): boolean {
  const contract = optionalText(series, 'contract_MarketAgreement.type')
  const position = optionalText(
    series,
    'classificationSequence_AttributeInstanceComponent.position',
  )
  return (contract ?? day_ahead) === day_ahead && Number(position ?? 1) === (sequence ?? 1)
}

/** Prices of a zone have the zone as both domains, per MWh; anything else is rejected. */
function demandZoneAndUnit(series: Element, { eic_code }: Pick<Market, 'eic_code'>): void {
  for (const domain of ['in_Domain.mRID', 'out_Domain.mRID']) {
    const zone = textAt(series, domain)
    if (zone !== eic_code) {
      throw new SourceFault(`ENTSO-E: ${domain} is ${zone.slice(0, 40)}, not ${eic_code}`)
    }
  }
  const unit = textAt(series, 'price_Measure_Unit.name')
  if (unit !== 'MWH') throw new SourceFault(`ENTSO-E: prices per ${unit.slice(0, 40)}, not MWH`)
}

function seriesPeriods(series: Element): PricePeriod[] {
  const curve_type = optionalText(series, 'curveType') ?? 'A01'
  if (curve_type !== 'A01' && curve_type !== 'A03') {
    throw new SourceFault(`ENTSO-E: curve type ${curve_type}`)
  }
  return elements(series, 'Period').flatMap((period) => {
    const interval = elementOf(period['timeInterval'])
    const resolution = textAt(period, 'resolution')
    const resolution_ms = resolutions_ms[resolution]
    if (!resolution_ms) throw new SourceFault(`ENTSO-E: resolution ${resolution}`)
    return expandCurve({
      start_ms: instantAt(interval, 'start'),
      end_ms: instantAt(interval, 'end'),
      resolution_ms,
      holds: curve_type === 'A03',
      points: elements(period, 'Point').map(pointOf),
    })
  })
}

function pointOf(point: Element) {
  const amount = textAt(point, 'price.amount')
  const price_micro = microOf(amount)
  if (price_micro === null) throw new SourceFault(`ENTSO-E: price '${amount.slice(0, 40)}'`)
  return { position: Number(textAt(point, 'position')), price_micro }
}

function instantAt(interval: Element, name: string): number {
  const text = textAt(interval, name)
  const time_ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time_ms)) throw new SourceFault(`ENTSO-E: instant '${text.slice(0, 40)}'`)
  return time_ms
}

const elementOf = (value: unknown): Element =>
  typeof value === 'object' && value !== null ? (value as Element) : {}

const elements = (parent: Element, name: string): Element[] =>
  ((parent[name] ?? []) as unknown[]).map(elementOf)

function optionalText(parent: Element, name: string): string | null {
  const value = parent[name]
  return typeof value === 'string' && value !== '' ? value : null
}

function textAt(parent: Element, name: string): string {
  const text = optionalText(parent, name)
  if (text === null) throw new SourceFault(`ENTSO-E: a document without ${name}`)
  return text
}

/** Energy by day or hour beside the insolation, and by plant. */
import { hour_ms } from '@heliograph/domain/durations'
import { shownAt } from '@heliograph/domain/local-day'
import { type Bounds, byHour, figuresOf, kwh, lit_ratio } from '../../performance/energy/figures.ts'
import {
  type LoggerHourInFull,
  type LoggerInService,
  readLoggerHours,
  readLoggers,
} from '../../performance/energy/logger-hours.ts'
import { loggerSpan } from '../../performance/energy/records.ts'
import type { Queries } from '../../storage/database.ts'
import type { Section } from '../document.ts'
import {
  dateOf,
  type Frame,
  isIncluded,
  isIncomplete,
  namesOf,
  type ReportDay,
  unknownNotes,
} from './frame.ts'
import { noParameters } from './parameters.ts'
import {
  cellsOf,
  chart,
  day,
  type Field,
  instant,
  metric,
  metricsSection,
  number,
  table,
  text,
} from './sections.ts'
import { template } from './template.ts'

export const productionDaily = template({
  template_id: 'production_daily',
  name: 'Daily production',
  description:
    'Energy and insolation by day, or by hour for a period of one day; by plant with specific ' +
    'yield, peak power and completeness.',
  category: 'production',
  periods: ['day', 'week', 'month', 'custom'],
  parameters: noParameters,
  parts: [{ name: 'Production', scopes: ['plant:read', 'energy:read'] }],
  async contents(db, frame) {
    const production = await readProduction(db, frame)
    const site = siteSpan(production, frame.span, frame)
    const plants = production.loggers.map((logger) => {
      const rows = production.rows.get(logger.logger_id) ?? []
      return { logger_name: logger.logger_name, ...loggerSpan(frame.span, logger, rows, frame.now) }
    })
    const unknown = plants.filter(({ energy_kwh }) => energy_kwh === null)
    const notes = [...unknownNotes(unknown, plants.length), ...irradianceNotes(plants, site)]
    if (site.estimated_energy_kwh) {
      notes.push(
        'A part of the energy is from counters over gaps in the readings: its sum is measured, its ' +
          'distribution over hours is estimated.',
      )
    }
    return {
      title: 'Daily production',
      data_completeness_pct: site.completeness_pct,
      notes,
      sections: [
        siteMetrics(site, production),
        ...course(production, frame),
        table(
          'By plant',
          plants,
          [
            text('plant', 'Plant', ({ logger_name }) => logger_name),
            ...fields,
            number('peak', 'Peak power', [1, 'kW'], ({ peak_power_kw }) => peak_power_kw),
            instant('peak_at', 'Peak at', ({ peak_power_at }) => peak_power_at),
            ...coverageFields,
          ],
          { totals: { plant: 'All', ...cellsOf([...fields, ...coverageFields], site) } },
        ),
      ],
    }
  },
})

interface Production {
  loggers: LoggerInService[]
  rows: Map<number, LoggerHourInFull[]>
}

/** Note on plants and sums with energy but without enough irradiance. */
function irradianceNotes(
  plants: readonly (ReturnType<typeof loggerSpan> & { logger_name: string })[],
  site: SiteSpan,
): string[] {
  const measured = plants.filter(({ energy_kwh }) => energy_kwh !== null)
  const without = measured.filter(({ poa_insolation_kwh_m2 }) => poa_insolation_kwh_m2 === null)
  const is_site_without = site.energy_kwh !== null && site.expected_energy_kwh === null
  if (without.length === 0 && !is_site_without) return []
  const rule =
    'Expected energy, insolation and curtailment loss need measured irradiance for ' +
    `${100 * lit_ratio} % of the time in which inverters must be awake`
  if (without.length === measured.length) return [`${rule}: no plant has enough.`]
  const all = is_site_without ? [{ logger_name: 'all plants together' }] : []
  return [`${rule}: too little for ${namesOf([...without, ...all])}.`]
}

async function readProduction(db: Queries, frame: Frame): Promise<Production> {
  const { site_id, span, order } = frame
  const query = { ...span, logger_ids: order.logger_ids }
  const loggers = await readLoggers(db, site_id, query)
  const rows = await readLoggerHours(db, site_id, query)
  return {
    loggers: loggers.filter(isIncluded(frame)),
    rows: Map.groupBy(rows, ({ logger_id }) => logger_id),
  }
}

/** All plants together; insolation is the mean by capacity over the plants that know it. */
function siteSpan({ loggers, rows }: Production, span: Bounds, { now }: Frame) {
  const parts = loggers.map((logger) => {
    const own = (rows.get(logger.logger_id) ?? []).filter(
      ({ hour_at }) => hour_at.getTime() >= span.start_ms && hour_at.getTime() < span.end_ms,
    )
    return { logger, rows: byHour(own), figures: loggerSpan(span, logger, own, now) }
  })
  let [insolation_kwp, sun_kwh, known_kwp] = [0, 0, 0]
  for (const { logger, figures } of parts) {
    if (figures.energy_kwh !== null) known_kwp += logger.dc_capacity_kwp
    if (figures.poa_insolation_kwh_m2 === null) continue
    insolation_kwp += logger.dc_capacity_kwp
    sun_kwh += figures.poa_insolation_kwh_m2 * logger.dc_capacity_kwp
  }
  const { figures } = figuresOf(parts, span, now)
  return {
    ...figures,
    poa_insolation_kwh_m2: insolation_kwp > 0 ? sun_kwh / insolation_kwp : null,
    specific_yield_kwh_kwp:
      figures.energy_kwh === null || known_kwp === 0 ? null : figures.energy_kwh / known_kwp,
  }
}

type SiteSpan = ReturnType<typeof siteSpan>

function siteMetrics(site: SiteSpan, { loggers }: Production): Section {
  const capacity_kwp = loggers.reduce((sum, { dc_capacity_kwp }) => sum + dc_capacity_kwp, 0)
  const measured = isIncomplete(site.completeness_pct) ? 'measured part only' : undefined
  return metricsSection('Production', [
    metric('Energy', site.energy_kwh, [1, 'kWh'], measured),
    metric(
      'Expected energy',
      site.expected_energy_kwh,
      [1, 'kWh'],
      'from irradiance and temperature',
    ),
    metric('Specific yield', site.specific_yield_kwh_kwp, [2, 'kWh/kWp'], 'of plants with data'),
    metric('Insolation', site.poa_insolation_kwh_m2, [2, 'kWh/m²'], 'plane of array'),
    metric('Curtailment loss', site.curtailed_energy_kwh, [1, 'kWh'], 'from the expected power'),
    metric(
      'Estimated part',
      site.estimated_energy_kwh,
      [1, 'kWh'],
      'counters over gaps, in the energy',
    ),
    metric('Completeness', site.completeness_pct, [1, '%']),
    metric('Capacity', kwh(capacity_kwp), [1, 'kWp']),
  ])
}

const fields: Field<Omit<SiteSpan, 'is_partial' | 'estimated_energy_kwh' | 'energy_source'>>[] = [
  number('energy', 'Energy', [1, 'kWh'], ({ energy_kwh }) => energy_kwh),
  number('expected', 'Expected', [1, 'kWh'], ({ expected_energy_kwh }) => expected_energy_kwh),
  number('curtailed', 'Curtailment loss', [1, 'kWh'], (of) => of.curtailed_energy_kwh),
  number('yield', 'Specific yield', [3, 'kWh/kWp'], (of) => of.specific_yield_kwh_kwp),
]
const coverageFields: typeof fields = [
  number('sun', 'Insolation', [3, 'kWh/m²'], (of) => of.poa_insolation_kwh_m2),
  number('complete', 'Completeness', [1, '%'], ({ completeness_pct }) => completeness_pct),
]

/** By hour for a period of one day, else by day. */
function course(production: Production, frame: Frame): Section[] {
  const { days, order } = frame
  const is_day = days.length === 1
  const parts = is_day ? hoursOf(days[0]!, order.timezone) : days
  const found = parts.map((part) => ({ ...part, ...siteSpan(production, part, frame) }))
  const first = is_day ? text('at', 'Hour', dateOf) : { ...day(dateOf), key: 'at' }
  return [
    chart(
      `Energy by ${is_day ? 'hour' : 'day'}`,
      found,
      dateOf,
      { kind: 'bars', left_unit: 'kWh', right_unit: 'kWh/m²' },
      [
        ['Energy', ({ energy_kwh }) => energy_kwh],
        ['Insolation', (part) => part.poa_insolation_kwh_m2, { kind: 'line', axis: 'right' }],
      ],
    ),
    table(`By ${is_day ? 'hour' : 'day'}`, found, [first, ...fields, ...coverageFields]),
  ]
}

/** A local hour that is repeated by a clock change appears twice. */
function hoursOf({ start_ms, end_ms }: Bounds, timezone: string): ReportDay[] {
  const hours: ReportDay[] = []
  for (let hour = start_ms; hour < end_ms; hour += hour_ms) {
    const date = new Date(shownAt(hour, timezone)).toISOString().slice(11, 16)
    hours.push({ date, start_ms: hour, end_ms: hour + hour_ms })
  }
  return hours
}

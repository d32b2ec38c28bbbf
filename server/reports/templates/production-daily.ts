/** What the plants produced: energy by day or hour beside the sun, and by plant. */
import { hour_ms } from '@heliograph/domain/durations'
import { shownAt } from '@heliograph/domain/local-day'
import { type Bounds, byHour, figuresOf, kwh, lit_ratio } from '../../performance/energy/figures.ts'
import {
  type LoggerHourInFull,
  type LoggerInService,
  readLoggerHours,
  readLoggers,
} from '../../performance/energy/logger-hours.ts'
import { loggerSpan } from '../../performance/energy/logger-span.ts'
import type { Queries } from '../../storage/database.ts'
import type { Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import {
  dayLabels,
  documentOf,
  type Frame,
  frameOf,
  isAsked,
  isIncomplete,
  type ReportDay,
  unknownNotes,
} from './frame.ts'
import { noParameters } from './parameters.ts'

export const productionDaily: ReportTemplate = {
  template_id: 'production_daily',
  name: 'Daily production',
  description:
    'Energy by day, or by hour where the period is one day, beside the insolation; by plant with ' +
    'specific yield, peak power and completeness.',
  category: 'production',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'custom'],
  parameters: noParameters,
  parts: [{ name: 'Production', scopes: ['plant:read', 'energy:read'] }],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const production = await readProduction(db, frame)
    const site = siteSpan(production, frame.span, frame)
    const plants = plantRows(production, frame)
    const unknown = plants.filter(({ energy_kwh }) => energy_kwh === null)
    const notes = unknownNotes(
      unknown.map(({ plant }) => plant),
      plants.length,
    )
    notes.push(...unlitNotes(plants, site))
    if (site.estimated_energy_kwh) {
      notes.push(
        'A part of the energy is the rise of counters over gaps in the readings, shared out to ' +
          'their hours: its sum is measured, its hours are estimated.',
      )
    }
    return documentOf(productionDaily, frame, {
      title: 'Daily production',
      data_completeness_pct: site.completeness_pct,
      notes,
      sections: [figures(site, production), ...course(production, frame), plantTable(plants, site)],
    })
  },
}

/** Told of plants and sums that have energy, but too little light for what is by the light. */
function unlitNotes(plants: PlantRows, site: SiteSpan): string[] {
  const measured = plants.filter(({ energy_kwh }) => energy_kwh !== null)
  const unlit = measured.filter(({ poa_insolation_kwh_m2 }) => poa_insolation_kwh_m2 === null)
  const is_site_unlit = site.energy_kwh !== null && site.expected_energy_kwh === null
  if (unlit.length === 0 && !is_site_unlit) return []
  const rule =
    'Expected energy, insolation and what was lost to limits need measured light in ' +
    `${100 * lit_ratio} % of the time in which inverters must be awake`
  if (unlit.length === measured.length) return [`${rule}: no plant has so much.`]
  const names = unlit.map(({ plant }) => plant)
  const lacking = [...names, ...(is_site_unlit ? ['all plants together'] : [])]
  return [`${rule}: too little for ${lacking.join(', ')}.`]
}

interface Production {
  loggers: LoggerInService[]
  /** By logger. */
  rows: Map<number, LoggerHourInFull[]>
}

async function readProduction(db: Queries, frame: Frame): Promise<Production> {
  const { site_id, span, order } = frame
  const asked = {
    start_at: new Date(span.start_ms),
    end_at: new Date(span.end_ms),
    logger_ids: order.logger_ids,
  }
  const loggers = await readLoggers(db, site_id, asked)
  const rows = await readLoggerHours(db, site_id, asked)
  return {
    loggers: loggers.filter(isAsked(frame)),
    rows: Map.groupBy(rows, ({ logger_id }) => logger_id),
  }
}

const within = (rows: readonly LoggerHourInFull[], { start_ms, end_ms }: Bounds) =>
  rows.filter(({ hour_at }) => hour_at.getTime() >= start_ms && hour_at.getTime() < end_ms)

/** All plants together; their sun is its mean by capacity over those that know it. */
function siteSpan({ loggers, rows }: Production, span: Bounds, { now }: Frame) {
  const parts = loggers.map((logger) => {
    const own = within(rows.get(logger.logger_id) ?? [], span)
    return { logger, rows: byHour(own), figures: loggerSpan(span, logger, own, now) }
  })
  let [lit_kwp, sun_kwh, known_kwp] = [0, 0, 0]
  for (const { logger, figures } of parts) {
    if (figures.energy_kwh !== null) known_kwp += logger.dc_capacity_kwp
    if (figures.poa_insolation_kwh_m2 === null) continue
    lit_kwp += logger.dc_capacity_kwp
    sun_kwh += figures.poa_insolation_kwh_m2 * logger.dc_capacity_kwp
  }
  const { figures } = figuresOf(parts, span, now)
  return {
    ...figures,
    poa_insolation_kwh_m2: lit_kwp > 0 ? sun_kwh / lit_kwp : null,
    specific_yield_kwh_kwp:
      figures.energy_kwh === null || known_kwp === 0 ? null : figures.energy_kwh / known_kwp,
  }
}

type SiteSpan = ReturnType<typeof siteSpan>

function figures(site: SiteSpan, { loggers }: Production): Section {
  return {
    kind: 'figures',
    title: 'Production',
    figures: [
      {
        label: 'Energy',
        value: site.energy_kwh,
        unit: 'kWh',
        digits: 1,
        ...(isIncomplete(site.completeness_pct) ? { note: 'only of what was measured' } : {}),
      },
      {
        label: 'Expected energy',
        value: site.expected_energy_kwh,
        unit: 'kWh',
        digits: 1,
        note: 'that the measured light and temperature allowed',
      },
      {
        label: 'Specific yield',
        value: site.specific_yield_kwh_kwp,
        unit: 'kWh/kWp',
        digits: 2,
        note: 'by the capacity of the plants that are known',
      },
      {
        label: 'Insolation',
        value: site.poa_insolation_kwh_m2,
        unit: 'kWh/m²',
        digits: 2,
        note: 'in the plane of the panels',
      },
      {
        label: 'Lost to limits',
        value: site.curtailed_energy_kwh,
        unit: 'kWh',
        digits: 1,
        note: 'by the expected power',
      },
      {
        label: 'Estimated part',
        value: site.estimated_energy_kwh,
        unit: 'kWh',
        digits: 1,
        note: 'counters over gaps, in the energy',
      },
      { label: 'Completeness', value: site.completeness_pct, unit: '%', digits: 1 },
      {
        label: 'Capacity',
        value: kwh(loggers.reduce((sum, { dc_capacity_kwp }) => sum + dc_capacity_kwp, 0)),
        unit: 'kWp',
        digits: 1,
      },
    ],
  }
}

/** By hour where the period is one day, else by day. */
function course(production: Production, frame: Frame): Section[] {
  const { days, order } = frame
  const is_one = days.length === 1
  const pieces = is_one ? hoursOf(days[0]!, order.timezone) : days
  const labels = is_one ? pieces.map(({ date }) => date) : dayLabels(pieces)
  const found = pieces.map((piece) => siteSpan(production, piece, frame))
  const each = is_one ? 'hour' : 'day'
  return [
    {
      kind: 'chart',
      title: `Energy by ${each}`,
      chart: {
        kind: 'bars',
        x: labels,
        left_unit: 'kWh',
        right_unit: 'kWh/m²',
        series: [
          { label: 'Energy', values: found.map(({ energy_kwh }) => energy_kwh) },
          {
            label: 'Insolation',
            kind: 'line',
            axis: 'right',
            values: found.map((piece) => piece.poa_insolation_kwh_m2),
          },
        ],
      },
    },
    {
      kind: 'table',
      title: `By ${each}`,
      columns: [
        is_one
          ? { key: 'at', label: 'Hour', kind: 'text' }
          : { key: 'at', label: 'Day', kind: 'date' },
        ...energyColumns,
        { key: 'yield', label: 'Specific yield', unit: 'kWh/kWp', kind: 'number', digits: 3 },
        ...sunColumns,
      ],
      rows: found.map((piece, nth) => ({
        at: pieces[nth]!.date,
        ...energyCells(piece),
        yield: piece.specific_yield_kwh_kwp,
        sun: piece.poa_insolation_kwh_m2,
        complete: piece.completeness_pct,
      })),
    },
  ]
}

/** An hour that the clocks show twice is there twice. */
function hoursOf({ start_ms, end_ms }: Bounds, timezone: string): ReportDay[] {
  const hours: ReportDay[] = []
  for (let hour = start_ms; hour < end_ms; hour += hour_ms) {
    const date = new Date(shownAt(hour, timezone)).toISOString().slice(11, 16)
    hours.push({ date, start_ms: hour, end_ms: hour + hour_ms })
  }
  return hours
}

const energyColumns = [
  { key: 'energy', label: 'Energy', unit: 'kWh', kind: 'number', digits: 1 },
  { key: 'expected', label: 'Expected', unit: 'kWh', kind: 'number', digits: 1 },
  { key: 'curtailed', label: 'Lost to limits', unit: 'kWh', kind: 'number', digits: 1 },
] as const
const sunColumns = [
  { key: 'sun', label: 'Insolation', unit: 'kWh/m²', kind: 'number', digits: 3 },
  { key: 'complete', label: 'Completeness', unit: '%', kind: 'number', digits: 1 },
] as const

const energyCells = (of: {
  energy_kwh: number | null
  expected_energy_kwh: number | null
  curtailed_energy_kwh: number | null
}) => ({
  energy: of.energy_kwh,
  expected: of.expected_energy_kwh,
  curtailed: of.curtailed_energy_kwh,
})

function plantRows({ loggers, rows }: Production, { span, now }: Frame) {
  return loggers.map((logger) => {
    const own = rows.get(logger.logger_id) ?? []
    return { plant: logger.logger_name, ...loggerSpan(span, logger, own, now) }
  })
}

type PlantRows = ReturnType<typeof plantRows>

function plantTable(plants: PlantRows, site: SiteSpan): Section {
  return {
    kind: 'table',
    title: 'By plant',
    columns: [
      { key: 'plant', label: 'Plant', kind: 'text' },
      ...energyColumns,
      { key: 'yield', label: 'Specific yield', unit: 'kWh/kWp', kind: 'number', digits: 3 },
      { key: 'peak', label: 'Peak power', unit: 'kW', kind: 'number', digits: 1 },
      { key: 'peak_at', label: 'Peak at', kind: 'instant' },
      ...sunColumns,
    ],
    rows: plants.map((plant) => ({
      plant: plant.plant,
      ...energyCells(plant),
      yield: plant.specific_yield_kwh_kwp,
      peak: plant.peak_power_kw,
      peak_at: plant.peak_power_at === null ? null : new Date(plant.peak_power_at),
      sun: plant.poa_insolation_kwh_m2,
      complete: plant.completeness_pct,
    })),
    totals: {
      plant: 'All',
      ...energyCells(site),
      yield: site.specific_yield_kwh_kwp,
      sun: site.poa_insolation_kwh_m2,
      complete: site.completeness_pct,
    },
  }
}

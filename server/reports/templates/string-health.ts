/** How each string did beside its peers: a map of all, and a list of the worst. */
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { judgeSite } from '../../performance/efficiency/string-health.ts'
import { healthItems } from '../../performance/efficiency/string-health-items.ts'
import { readInverterStrings, readSteps } from '../../performance/efficiency/string-store.ts'
import type { Queries } from '../../storage/database.ts'
import type { Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { documentOf, type Frame, frameOf, isAsked, sumOf } from './frame.ts'
import { inTurn } from './in-turn.ts'
import { worstCount } from './parameters.ts'

export const stringHealth: ReportTemplate = {
  template_id: 'string_health',
  name: 'String health',
  description:
    'A map of inverters and strings with how much of its peers each one gives, the worst strings ' +
    'with suspected cause and estimated loss, and how many are ill.',
  category: 'performance',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'custom'],
  parameters: worstCount('strings', 30),
  parts: [{ name: 'String health', scopes: ['diagnostics:read'] }],
  required_module: 'basic_scada',
  version: '1.0.0',
  async build(transaction, order) {
    const db = inTurn(transaction)
    const frame = await frameOf(db, order)
    const items = await readItems(db, frame)
    const connected = items.filter(({ excluded_reason }) => excluded_reason !== 'not_connected')
    const known = connected.filter(({ excluded_reason }) => excluded_reason === null)
    const worst_count = Number(order.parameters['worst_count'] ?? 30)
    return documentOf(stringHealth, frame, {
      title: 'String health',
      data_completeness_pct: meanOf(connected.map((item) => item.completeness_pct ?? 0)),
      has_sums: known.length > 0,
      notes: notesOf(connected, known),
      sections: [
        counts(items, known),
        ...map(items),
        worstTable(known, connected.length, worst_count),
        method,
      ],
    })
  },
}

type Items = ReturnType<typeof healthItems>

async function readItems(db: Queries, frame: Frame): Promise<Items> {
  const { site_id, period, order } = frame
  const inverters = await readInverterStrings(db, site_id, period)
  const asked = inverters.filter(isAsked(frame)).map(({ inverter_id }) => inverter_id)
  const site = { site_id, timezone: order.site.timezone }
  const judged = await judgeSite(db, site, period, asked)
  const last_ms = Math.max(period.start_at.getTime(), period.end_at.getTime() - 1)
  return healthItems(
    judged,
    await readSteps(db, site_id, localDate(last_ms, site.timezone)),
    period,
  )
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0
    ? null
    : rounded(values.reduce((sum, value) => sum + value, 0) / values.length, 2)

function notesOf(connected: Items, known: Items): string[] {
  if (connected.length === 0) return ['There are no connected strings in this period.']
  if (!connected.some(isMeasured)) return ['No data: no string was measured in this period.']
  const unknown = connected.filter(({ excluded_reason }) => excluded_reason !== null)
  if (unknown.length === 0) return []
  const reasons = Map.groupBy(unknown, ({ excluded_reason }) => excluded_reason!)
  const told = [...reasons].map(([reason, of]) => `${of.length} (${reason.replaceAll('_', ' ')})`)
  const which =
    known.length === 0
      ? `None of ${connected.length} strings can be judged`
      : `Of ${connected.length} strings cannot be judged`
  return [`${which}: ${told.join(', ')}.`]
}

const isMeasured = ({ completeness_pct, sample_count }: Items[number]) =>
  (completeness_pct ?? 0) > 0 || sample_count > 0

const statuses = ['healthy', 'watch', 'underperforming', 'critical', 'dead'] as const

const statusName = (status: string) => status.charAt(0).toUpperCase() + status.slice(1)

/** The place of its status among them; null where it is not judged. */
function gradeOf({ status }: Items[number]): number | null {
  const grade = (statuses as readonly string[]).indexOf(status)
  return grade < 0 ? null : grade
}

function counts(items: Items, known: Items): Section {
  const of = (status: string) => known.filter((item) => item.status === status).length
  return {
    kind: 'figures',
    title: 'Strings',
    figures: [
      ...statuses.map((status) => ({
        label: statusName(status),
        value: known.length === 0 ? null : of(status),
        digits: 0,
      })),
      {
        label: 'Not judged',
        value: items.length - known.length,
        digits: 0,
        note: 'see the notes; unconnected too',
      },
      {
        label: 'Estimated loss',
        value: sumOf(known.map(({ estimated_loss_kwh }) => estimated_loss_kwh)),
        unit: 'kWh',
        digits: 1,
      },
    ],
  }
}

function map(items: Items): Section[] {
  const inverters = [...Map.groupBy(items, ({ inverter_id }) => inverter_id).values()]
  const width = Math.max(0, ...items.map(({ string_index }) => string_index + 1))
  // Without a score it would say that there is no data, of which the notes know better.
  if (items.every(({ health_score_pct }) => health_score_pct === null)) return []
  return [
    {
      kind: 'chart',
      title: 'Health score by inverter and string',
      chart: {
        kind: 'heat',
        unit: '%',
        x: Array.from({ length: width }, (_, index) => String(index)),
        y: inverters.map((own) => own[0]!.inverter_name),
        values: inverters.map((own) => {
          const scores = new Map(own.map((item) => [item.string_index, item.health_score_pct]))
          return Array.from({ length: width }, (_, index) => scores.get(index) ?? null)
        }),
        grades: {
          labels: statuses.map(statusName),
          of: inverters.map((own) => {
            const grades = new Map(own.map((item) => [item.string_index, gradeOf(item)]))
            return Array.from({ length: width }, (_, index) => grades.get(index) ?? null)
          }),
        },
      },
      note: 'Columns are the inputs of the inverter, from 0. Empty where a string is not judged.',
    },
  ]
}

/** Whether fuse, connector or cable shows on site alone. */
const isOpen = ({ status, suspected_cause }: Items[number]) =>
  status === 'dead' && (suspected_cause === 'fuse' || suspected_cause === 'connector')

function worstTable(known: Items, connected_count: number, worst_count: number): Section {
  const ill = known
    .filter(({ status, step_loss_pct }) => status !== 'healthy' || step_loss_pct !== null)
    .toSorted((a, b) => (a.health_score_pct ?? 101) - (b.health_score_pct ?? 101))
  return {
    kind: 'table',
    title: 'Strings that give least',
    columns: [
      { key: 'inverter', label: 'Inverter', kind: 'text' },
      { key: 'string', label: 'String', kind: 'number', digits: 0 },
      { key: 'status', label: 'Status', kind: 'text' },
      { key: 'deviation', label: 'To peers', unit: '%', kind: 'number', digits: 1 },
      { key: 'cause', label: 'Suspected cause', kind: 'text' },
      { key: 'confidence', label: 'Confidence', unit: '%', kind: 'number', digits: 0 },
      { key: 'loss', label: 'Loss', unit: 'kWh', kind: 'number', digits: 1 },
      { key: 'days', label: 'Days below', kind: 'number', digits: 0 },
      { key: 'step', label: 'Lasting loss', unit: '%', kind: 'number', digits: 1 },
    ],
    rows: ill.slice(0, worst_count).map((item) => ({
      inverter: item.inverter_name,
      string: item.string_index,
      status: item.status,
      deviation: item.deviation_pct,
      cause: isOpen(item) ? 'open circuit' : (item.suspected_cause?.replaceAll('_', ' ') ?? null),
      confidence: isOpen(item) ? null : item.confidence_pct,
      loss: item.estimated_loss_kwh,
      days: item.days_below_threshold,
      step: item.step_loss_pct,
    })),
    note:
      ill.length === 0
        ? healthyNote(known.length, connected_count)
        : `${Math.min(worst_count, ill.length)} of ${ill.length} that are not healthy.`,
  }
}

function healthyNote(known_count: number, connected_count: number): string {
  if (known_count === 0) return 'No string was judged: whether any is ill is not known.'
  return known_count === connected_count
    ? `All ${known_count} strings are healthy.`
    : `All ${known_count} strings that can be judged are healthy, of ${connected_count}.`
}

const method: Section = {
  kind: 'text',
  title: 'How strings are judged',
  text:
    'A string is held against others of the same panels that face the same way, of its inverter ' +
    'where there are enough. Its score is what it gives of what they give. Suspected causes are ' +
    'told by the pattern of the loss; a visit or an I-V curve confirms them. A lasting loss is a ' +
    'small step that stayed on the last day of the period.',
}

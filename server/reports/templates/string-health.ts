/** Health of each string compared with its peers: a map of all strings, and the worst ones. */
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { judgeSite } from '../../performance/efficiency/string-health.ts'
import { healthItems } from '../../performance/efficiency/string-items.ts'
import { readInverterStrings, readSteps } from '../../performance/efficiency/string-store.ts'
import type { Queries } from '../../storage/database.ts'
import type { Section } from '../document.ts'
import { type Frame, isIncluded, sumOf } from './frame.ts'
import { countOf, worstCount } from './parameters.ts'
import { listed, metric, metricsSection, number, table, text, textSection } from './sections.ts'
import { template } from './template.ts'

export const stringHealth = template({
  template_id: 'string_health',
  name: 'String health',
  description:
    'A map of inverters and strings with the output of each string relative to its peers, the worst ' +
    'strings with suspected cause and estimated loss, and the count of strings by status.',
  category: 'performance',
  periods: ['day', 'week', 'month', 'custom'],
  parameters: worstCount('strings', 30),
  parts: [{ name: 'String health', scopes: ['diagnostics:read'] }],
  async contents(db, frame, order) {
    const items = await readItems(db, frame)
    const connected = items.filter(({ excluded_reason }) => excluded_reason !== 'not_connected')
    const known = connected.filter(({ excluded_reason }) => excluded_reason === null)
    const completeness_pct = connected.map((item) => item.completeness_pct ?? 0)
    const sum_pct = completeness_pct.reduce((sum, value) => sum + value, 0)
    return {
      title: 'String health',
      data_completeness_pct: connected.length === 0 ? null : rounded(sum_pct / connected.length, 2),
      has_sums: known.length > 0,
      notes: notesOf(connected, known),
      sections: [
        metricsSection('Strings', [
          ...statuses.map((status) => {
            const count = known.filter((item) => item.status === status).length
            return metric(statusName(status), known.length === 0 ? null : count, [0])
          }),
          metric('Not judged', items.length - known.length, [0], 'see the notes; or not connected'),
          metric(
            'Estimated loss',
            sumOf(known.map(({ estimated_loss_kwh }) => estimated_loss_kwh)),
            [1, 'kWh'],
          ),
        ]),
        ...map(items),
        worstTable(known, connected.length, countOf(order, 'worst_count')),
        method,
      ],
    }
  },
})

type Items = ReturnType<typeof healthItems>

async function readItems(db: Queries, frame: Frame): Promise<Items> {
  const { site_id, period, order } = frame
  const inverters = await readInverterStrings(db, site_id, period)
  const asked = inverters.filter(isIncluded(frame)).map(({ inverter_id }) => inverter_id)
  const site = { site_id, timezone: order.site.timezone }
  const judged = await judgeSite(db, site, period, asked)
  const last_ms = Math.max(period.start_at.getTime(), period.end_at.getTime() - 1)
  const steps = await readSteps(db, site_id, localDate(last_ms, site.timezone))
  return healthItems(judged, steps, period)
}

function notesOf(connected: Items, known: Items): string[] {
  if (connected.length === 0) return ['There are no connected strings in this period.']
  if (!connected.some(isMeasured)) return ['No data: no string was measured in this period.']
  const unknown = connected.filter(({ excluded_reason }) => excluded_reason !== null)
  if (unknown.length === 0) return []
  const reasons = Map.groupBy(unknown, ({ excluded_reason }) => excluded_reason!)
  const counts = [...reasons].map(([reason, of]) => `${of.length} (${reason.replaceAll('_', ' ')})`)
  return [
    known.length === 0
      ? `None of ${connected.length} strings can be judged: ${counts.join(', ')}.`
      : `${unknown.length} of ${connected.length} strings cannot be judged: ${counts.join(', ')}.`,
  ]
}

const isMeasured = ({ completeness_pct, sample_count }: Items[number]) =>
  (completeness_pct ?? 0) > 0 || sample_count > 0

/** From good to bad. */
const statuses = ['healthy', 'watch', 'underperforming', 'critical', 'dead'] as const

const statusName = (status: string) => status.charAt(0).toUpperCase() + status.slice(1)

/** Index of the status; null when the string is not judged. */
function gradeOf({ status }: Items[number]): number | null {
  const grade = (statuses as readonly string[]).indexOf(status)
  return grade < 0 ? null : grade
}

function map(items: Items): Section[] {
  // Without a score the writers would claim that there is no data.
  if (items.every(({ health_score_pct }) => health_score_pct === null)) return []
  const inverters = [...Map.groupBy(items, ({ inverter_id }) => inverter_id).values()]
  const inputs = Array.from(
    { length: Math.max(...items.map(({ string_index }) => string_index + 1)) },
    (_, index) => index,
  )
  const cellsOf = (of: (item: Items[number]) => number | null) =>
    inverters.map((own) => {
      const values = new Map(own.map((item) => [item.string_index, of(item)]))
      return inputs.map((index) => values.get(index) ?? null)
    })
  return [
    {
      kind: 'chart',
      title: 'Health score by inverter and string',
      chart: {
        kind: 'heat',
        unit: '%',
        x: inputs.map(String),
        y: inverters.map((own) => own[0]!.inverter_name),
        values: cellsOf(({ health_score_pct }) => health_score_pct),
        grades: { labels: statuses.map(statusName), of: cellsOf(gradeOf) },
      },
      note: 'Columns are the inputs of the inverter, from 0. Strings that are not judged are empty.',
    },
  ]
}

/** A fuse, connector or cable: only an inspection can tell. */
const isOpen = ({ status, suspected_cause }: Items[number]) =>
  status === 'dead' && (suspected_cause === 'fuse' || suspected_cause === 'connector')

function worstTable(known: Items, connected_count: number, count: number): Section {
  const worst = known
    .filter(({ status, step_loss_pct }) => status !== 'healthy' || step_loss_pct !== null)
    .toSorted((a, b) => (a.health_score_pct ?? 101) - (b.health_score_pct ?? 101))
  return table(
    'Strings with the lowest score',
    worst.slice(0, count),
    [
      text('inverter', 'Inverter', (item) => item.inverter_name),
      number('string', 'String', [0], (item) => item.string_index),
      text('status', 'Status', (item) => item.status),
      number('deviation', 'To peers', [1, '%'], (item) => item.deviation_pct),
      text('cause', 'Suspected cause', (item) =>
        isOpen(item) ? 'open circuit' : (item.suspected_cause?.replaceAll('_', ' ') ?? null),
      ),
      number('confidence', 'Confidence', [0, '%'], (item) =>
        isOpen(item) ? null : item.confidence_pct,
      ),
      number('loss', 'Loss', [1, 'kWh'], (item) => item.estimated_loss_kwh),
      number('days', 'Days below', [0], (item) => item.days_below_threshold),
      number('step', 'Step loss', [1, '%'], (item) => item.step_loss_pct),
    ],
    {
      note:
        worst.length > 0
          ? `${listed(count, worst)} that are not healthy.`
          : healthyNote(known.length, connected_count),
    },
  )
}

function healthyNote(known_count: number, connected_count: number): string {
  if (known_count === 0) return 'No string could be judged: their health is unknown.'
  return known_count === connected_count
    ? `All ${known_count} strings are healthy.`
    : `All ${known_count} judged strings are healthy, of ${connected_count}.`
}

const method = textSection(
  'Method',
  'A string is compared with strings of the same panels and orientation, of the same inverter if ' +
    'there are enough. The score is its output relative to theirs. Suspected causes follow from the ' +
    'pattern of the loss; an inspection or an I-V curve confirms them. A step loss is a small ' +
    'permanent drop, as of the last day of the period.',
)

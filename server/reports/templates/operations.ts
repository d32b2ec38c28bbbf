/** Alerts, work orders and defects, with response and resolution times. */
import { hour_ms } from '@heliograph/domain/durations'
import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'
import type { Queries } from '../../storage/database.ts'
import { isBreached, type ServiceRecord } from '../../work/service-levels.ts'
import type { Section } from '../document.ts'
import { dateOf, type Frame, sumOf } from './frame.ts'
import { countOf, rowCount } from './parameters.ts'
import {
  chart,
  instant,
  listed,
  metric,
  metricsSection,
  number,
  table,
  text,
  textSection,
} from './sections.ts'
import { template } from './template.ts'

export const operations = template({
  template_id: 'operations',
  name: 'Alerts and O&M',
  description:
    'Alerts by day, severity and kind with lost energy; work orders with response and resolution ' +
    'times and compliance with service levels; defects found and open.',
  category: 'om',
  parameters: rowCount('alerts, work orders and defects each', 50),
  parts: [
    { name: 'Alerts', scopes: ['alerts:read'] },
    { name: 'Work orders and defects', scopes: ['om:read'] },
  ],
  required_module: 'om',
  async contents(db, frame, order) {
    const count = countOf(order, 'row_count')
    const has_alerts = order.may_read.has('alerts:read')
    const has_work = order.may_read.has('om:read')
    const alerts = has_alerts ? await readAlerts(db, frame) : []
    const orders = has_work ? await readWorkOrders(db, frame) : []
    const defects = has_work ? await readDefects(db, frame) : []
    const is_empty = alerts.length + orders.length + defects.length === 0
    const shown = [...(has_alerts ? ['alert'] : []), ...(has_work ? ['work order', 'defect'] : [])]
    const names = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(shown)
    return {
      title: 'Alerts, work and defects',
      // Alerts and work have no share that is known.
      data_completeness_pct: null,
      notes: [
        ...(is_empty ? [`No ${names} in this period.`] : []),
        'Statuses are those at the time of the report.',
      ],
      sections: [
        ...(has_alerts ? alertSections(alerts, frame, count) : []),
        ...(has_work
          ? [...workSections(orders, frame, count), ...defectSections(defects, frame, count)]
          : []),
        method,
      ],
    }
  },
})

const severities = ['info', 'warning', 'major', 'critical'] as const

interface Alert {
  code: string
  title: string
  severity: (typeof severities)[number]
  status: string
  source: string
  started_at: Date
  ended_at: Date | null
  acknowledged_at: Date | null
  resolved_at: Date | null
  occurrence_count: number
  lost_energy_kwh: number | null
  is_suppressed: boolean
}

const values = ({ site_id, period, order }: Frame) => [
  site_id,
  period.start_at,
  period.end_at,
  order.logger_ids,
]

/** Alerts in force during a part of the period, newest first, including those of the site. */
const readAlerts = (db: Queries, frame: Frame) =>
  db.query<Alert>(
    `select code, title, severity, status, source_type || ' ' || source_id as source, started_at,
       ended_at, acknowledged_at, resolved_at, occurrence_count, lost_energy_kwh,
       suppressed_reason is not null as is_suppressed
     from alerts
     where site_id = $1 and started_at < $3
       and (resolved_at is null or coalesce(ended_at, resolved_at) >= $2)
       and ($4::int[] is null or logger_id is null or logger_id = any ($4))
     order by started_at desc, alert_id desc`,
    values(frame),
  )

interface WorkOrder extends ServiceRecord {
  number: string
  title: string
  priority: string
  status: string
  created_at: Date
  labour_h: number | null
}

/** Work orders created in the period, or not over before it. */
const readWorkOrders = (db: Queries, frame: Frame) =>
  db.query<WorkOrder>(
    `select number, title, priority, status, created_at, acknowledged_at,
       completed_at, cancelled_at, response_due_at, resolution_due_at, due_at, labour_h
     from work_orders
     where site_id = $1 and created_at < $3
       and coalesce(completed_at, cancelled_at, 'infinity') >= $2
       and ($4::int[] is null or logger_id is null or logger_id = any ($4))
     order by created_at desc, wo_id desc`,
    values(frame),
  )

interface Defect {
  number: string
  title: string
  type: string | null
  severity: string
  status: string
  detected_at: Date
  resolved_at: Date | null
  safety_relevant: boolean
  estimated_loss_kwh_year: number | null
}

const readDefects = (db: Queries, frame: Frame) =>
  db.query<Defect>(
    `select number, title, type, severity, status, detected_at, resolved_at, safety_relevant,
       estimated_loss_kwh_year
     from defects
     where site_id = $1 and detected_at < $3
       and (status in ('open', 'in_progress') or coalesce(resolved_at, updated_at) >= $2)
       and ($4::int[] is null or logger_id is null or logger_id = any ($4))
     order by detected_at desc, defect_id desc`,
    values(frame),
  )

const isIn = (at: Date | null, { period }: Frame): boolean =>
  at !== null && at >= period.start_at && at < period.end_at

const hoursBetween = (from: Date, to: Date | null): number | null =>
  to === null ? null : (to.getTime() - from.getTime()) / hour_ms

const medianHours = (label: string, hours: readonly (number | null)[]) =>
  metric(label, rounded(median(hours.filter((one) => one !== null)), 2), [1, 'h'], 'median')

const kwh = [1, 'kWh'] as const

function alertSections(alerts: readonly Alert[], frame: Frame, count: number): Section[] {
  const raised = alerts.filter(({ started_at }) => isIn(started_at, frame))
  const by_code = [...Map.groupBy(alerts, ({ code }) => code).values()]
  return [
    metricsSection('Alerts', [
      metric('In force', alerts.length, [0], 'during a part of the period'),
      metric('Raised', raised.length, [0], 'in the period'),
      metric('Critical', raised.filter(({ severity }) => severity === 'critical').length, [0]),
      metric('Open', openCount(alerts), [0], 'at present'),
      metric('Suppressed', alerts.filter(({ is_suppressed }) => is_suppressed).length, [0]),
      medianHours(
        'To acknowledge',
        raised.map((one) => hoursBetween(one.started_at, one.acknowledged_at)),
      ),
      medianHours(
        'To resolve',
        raised.map((one) => hoursBetween(one.started_at, one.resolved_at)),
      ),
      metric('Lost energy', lostEnergy(alerts), kwh, 'over the whole alerts; causes overlap'),
    ]),
    chart(
      'Alerts raised by day',
      frame.days,
      dateOf,
      { kind: 'bars', stacked: true, left_unit: 'alerts', is_whole: true },
      severities.map((severity) => {
        const own = alerts.filter((alert) => alert.severity === severity)
        const starts_ms = own.map(({ started_at }) => started_at.getTime())
        return [
          severity,
          ({ start_ms, end_ms }) =>
            starts_ms.filter((at_ms) => at_ms >= start_ms && at_ms < end_ms).length,
        ]
      }),
    ),
    table(
      'Alerts by kind',
      by_code.toSorted((a, b) => b.length - a.length),
      [
        text('title', 'Alert', ([first]) => first!.title),
        text('code', 'Code', ([first]) => first!.code),
        number('alerts', 'Alerts', [0], ({ length }) => length),
        number('times', 'Occurrences', [0], (own) =>
          own.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0),
        ),
        number('open', 'Open', [0], openCount),
        number('lost', 'Lost energy', kwh, lostEnergy),
      ],
    ),
    table(
      'Alerts, newest first',
      alerts.slice(0, count),
      [
        instant('started', 'Since', ({ started_at }) => started_at),
        text('title', 'Alert', ({ title }) => title),
        text('source', 'Source', ({ source }) => source),
        text('severity', 'Severity', ({ severity }) => severity),
        text('status', 'Status', ({ status, is_suppressed }) =>
          is_suppressed ? `${status}, suppressed` : status,
        ),
        instant('ended', 'Ended', ({ ended_at }) => ended_at),
        number('lost', 'Lost energy', kwh, ({ lost_energy_kwh }) => lost_energy_kwh),
      ],
      { note: `${listed(count, alerts)}, newest first.` },
    ),
  ]
}

const openCount = (alerts: readonly Alert[]) =>
  alerts.filter(({ status }) => status !== 'resolved').length

const lostEnergy = (alerts: readonly Alert[]) =>
  sumOf(alerts.map(({ lost_energy_kwh }) => lost_energy_kwh))

/** The service levels are decided: the order is completed or late, or all its times have passed. */
function isJudged(order: WorkOrder, now: Date): boolean {
  const { response_due_at, resolution_due_at, completed_at, cancelled_at } = order
  const due = [response_due_at, resolution_due_at].filter((at) => at !== null)
  if (due.length === 0) return false
  if (isBreached(order, now) || completed_at !== null) return true
  return cancelled_at === null && due.every((at) => at <= now)
}

const responseHours = (order: WorkOrder) => hoursBetween(order.created_at, order.acknowledged_at)
const resolutionHours = (order: WorkOrder) => hoursBetween(order.created_at, order.completed_at)
const words = (name: string) => name.replaceAll('_', ' ')

function workSections(orders: readonly WorkOrder[], frame: Frame, count: number): Section[] {
  const { now } = frame.order
  const created = orders.filter(({ created_at }) => isIn(created_at, frame))
  const completed = orders.filter(({ completed_at }) => isIn(completed_at, frame))
  const open = orders.filter(({ completed_at, cancelled_at }) => !completed_at && !cancelled_at)
  const due = orders.filter((order) => isJudged(order, now))
  const met = due.filter((order) => !isBreached(order, now)).length
  return [
    metricsSection('Work orders', [
      metric('Created', created.length, [0], 'in the period'),
      metric('Completed', completed.length, [0], 'in the period'),
      metric('Still open', open.length, [0]),
      medianHours('Response', created.map(responseHours)),
      medianHours('Resolution', completed.map(resolutionHours)),
      metric(
        'Service levels met',
        due.length === 0 ? null : rounded((100 * met) / due.length, 1),
        [1, '%'],
        due.length === 0
          ? 'nothing due or completed yet'
          : `${met} of ${due.length} due or completed`,
      ),
      metric(
        'Labour',
        sumOf(completed.map(({ labour_h }) => labour_h)),
        [1, 'h'],
        'of completed orders',
      ),
    ]),
    table(
      'Work orders, newest first',
      orders.slice(0, count),
      [
        text('number', 'Number', (order) => order.number),
        text('title', 'Title', (order) => order.title),
        text('priority', 'Priority', (order) => order.priority),
        text('status', 'Status', (order) => words(order.status)),
        instant('created', 'Created', (order) => order.created_at),
        number('response', 'Response', [1, 'h'], responseHours),
        number('resolution', 'Resolution', [1, 'h'], resolutionHours),
        text('late', 'Late', (order) => (isBreached(order, now) ? 'yes' : 'no')),
      ],
      { note: `${listed(count, orders)}, newest first.` },
    ),
  ]
}

function defectSections(defects: readonly Defect[], frame: Frame, count: number): Section[] {
  const open = defects.filter(({ status }) => status === 'open' || status === 'in_progress')
  const found = defects.filter(({ detected_at }) => isIn(detected_at, frame))
  const resolved = defects.filter(({ resolved_at }) => isIn(resolved_at, frame))
  return [
    metricsSection('Defects', [
      metric('Found', found.length, [0], 'in the period'),
      metric('Resolved', resolved.length, [0], 'in the period'),
      metric('Open', open.length, [0], 'at present'),
      metric('Open, safety relevant', open.filter((one) => one.safety_relevant).length, [0]),
      metric(
        'Loss per year',
        sumOf(open.map(({ estimated_loss_kwh_year }) => estimated_loss_kwh_year)),
        [0, 'kWh'],
        'estimate of open defects',
      ),
    ]),
    table(
      'Defects, newest first',
      defects.slice(0, count),
      [
        text('number', 'Number', (defect) => defect.number),
        text('title', 'Title', (defect) => defect.title),
        text('type', 'Type', ({ type }) => type && words(type)),
        text('severity', 'Severity', (defect) => defect.severity),
        text('status', 'Status', (defect) => words(defect.status)),
        instant('detected', 'Detected', (defect) => defect.detected_at),
        instant('resolved', 'Resolved', (defect) => defect.resolved_at),
        number('loss', 'Loss per year', [0, 'kWh'], (defect) => defect.estimated_loss_kwh_year),
      ],
      { note: `${listed(count, defects)}, newest first.` },
    ),
  ]
}

const method = textSection(
  'Method',
  'Times include nights and holidays. Response: from the creation of a work order to its ' +
    'acknowledgement; resolution: to its completion. Service levels are met when both were in time, ' +
    'over the orders that are due or completed; an open order counts as soon as it is late. To ' +
    'acknowledge and to resolve: from the start of the condition, over alerts raised in the period.',
)

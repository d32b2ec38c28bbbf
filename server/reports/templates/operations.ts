/** What happened and what was done about it: alerts, work orders, defects, and how fast. */
import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'
import type { Queries } from '../../storage/database.ts'
import { isBreached, type ServiceRecord } from '../../work/service-levels.ts'
import type { Cell, Section } from '../document.ts'
import type { ReportTemplate } from '../template.ts'
import { dayLabels, documentOf, type Frame, frameOf, sumOf } from './frame.ts'
import { rowCount } from './parameters.ts'

export const operations: ReportTemplate = {
  template_id: 'operations',
  name: 'Alerts and O&M',
  description:
    'Alerts by day, severity and kind with lost energy; work orders with times of response and ' +
    'resolution and how many kept them; defects found and open.',
  category: 'om',
  formats: ['pdf', 'xlsx', 'csv'],
  periods: ['day', 'week', 'month', 'quarter', 'year', 'custom'],
  parameters: rowCount('alerts, work orders and defects each', 50),
  parts: [
    { name: 'Alerts', scopes: ['alerts:read'] },
    { name: 'Work orders and defects', scopes: ['om:read'] },
  ],
  required_module: 'om',
  version: '1.0.0',
  async build(db, order) {
    const frame = await frameOf(db, order)
    const row_count = Number(order.parameters['row_count'] ?? 50)
    const has_alerts = order.may_read.has('alerts:read')
    const has_work = order.may_read.has('om:read')
    const alerts = has_alerts ? await readAlerts(db, frame) : []
    const orders = has_work ? await readWorkOrders(db, frame) : []
    const defects = has_work ? await readDefects(db, frame) : []
    const is_empty = alerts.length + orders.length + defects.length === 0
    const shown = [...(has_alerts ? ['alert'] : []), ...(has_work ? ['work order', 'defect'] : [])]
    const nothing = `No ${shown.join(', ').replace(/, (?=[^,]*$)/, ' or ')} falls into this period.`
    return documentOf(operations, frame, {
      title: 'Alerts, work and defects',
      // Of what happens there is no share that is known.
      data_completeness_pct: null,
      notes: [
        ...(is_empty ? [nothing] : []),
        'Statuses are as they were when the report was made.',
      ],
      sections: [
        ...(has_alerts ? alertSections(alerts, frame, row_count) : []),
        ...(has_work ? workSections({ orders, defects }, frame, row_count) : []),
        method,
      ],
    })
  },
}

const alertSections = (alerts: readonly Alert[], frame: Frame, row_count: number): Section[] => [
  alertFigures(alerts, frame),
  alertChart(alerts, frame),
  codeTable(alerts),
  alertTable(alerts, row_count),
]

const workSections = (
  { orders, defects }: { orders: readonly WorkOrder[]; defects: readonly Defect[] },
  frame: Frame,
  row_count: number,
): Section[] => [
  workFigures(orders, frame),
  workTable(orders, frame, row_count),
  defectFigures(defects, frame),
  defectTable(defects, row_count),
]

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

/** In force at some time of the period, the newest first; those of no plant are of the site. */
const readAlerts = (db: Queries, frame: Frame): Promise<Alert[]> =>
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

/** Created in the period, or not over before it. */
const readWorkOrders = (db: Queries, frame: Frame): Promise<WorkOrder[]> =>
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

const readDefects = (db: Queries, frame: Frame): Promise<Defect[]> =>
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
  to === null ? null : (to.getTime() - from.getTime()) / 3_600_000

const middle = (hours: readonly (number | null)[]): number | null => {
  const known = hours.filter((one) => one !== null)
  const value = median(known)
  return value === null ? null : rounded(value, 2)
}

const count = (label: string, value: number, note?: string) => ({
  label,
  value,
  digits: 0,
  ...(note ? { note } : {}),
})

const hours = (label: string, value: number | null) => ({
  label,
  value,
  unit: 'h',
  digits: 1,
  note: 'median',
})

function alertFigures(alerts: readonly Alert[], frame: Frame): Section {
  const raised = alerts.filter(({ started_at }) => isIn(started_at, frame))
  return {
    kind: 'figures',
    title: 'Alerts',
    figures: [
      count('In force', alerts.length, 'at some time of the period'),
      count('Raised', raised.length, 'in the period'),
      count('Critical', raised.filter(({ severity }) => severity === 'critical').length),
      count('Open', alerts.filter(({ status }) => status !== 'resolved').length, 'by now'),
      count('Suppressed', alerts.filter(({ is_suppressed }) => is_suppressed).length),
      hours(
        'To acknowledge',
        middle(raised.map((one) => hoursBetween(one.started_at, one.acknowledged_at))),
      ),
      hours(
        'To resolve',
        middle(raised.map((one) => hoursBetween(one.started_at, one.resolved_at))),
      ),
      {
        label: 'Lost energy',
        value: sumOf(alerts.map(({ lost_energy_kwh }) => lost_energy_kwh)),
        unit: 'kWh',
        digits: 1,
        note: 'of all their time; causes overlap',
      },
    ],
  }
}

const alertChart = (alerts: readonly Alert[], { days }: Frame): Section => ({
  kind: 'chart',
  title: 'Alerts raised by day',
  chart: {
    kind: 'bars',
    stacked: true,
    x: dayLabels(days),
    left_unit: 'alerts',
    is_whole: true,
    series: severities.map((severity) => ({
      label: severity,
      values: days.map(
        ({ start_ms, end_ms }) =>
          alerts.filter(
            (alert) =>
              alert.severity === severity &&
              alert.started_at.getTime() >= start_ms &&
              alert.started_at.getTime() < end_ms,
          ).length,
      ),
    })),
  },
})

function codeTable(alerts: readonly Alert[]): Section {
  const codes = [...Map.groupBy(alerts, ({ code }) => code).values()]
  codes.sort((a, b) => b.length - a.length)
  return {
    kind: 'table',
    title: 'Alerts by kind',
    columns: [
      { key: 'title', label: 'Alert', kind: 'text' },
      { key: 'code', label: 'Code', kind: 'text' },
      { key: 'alerts', label: 'Alerts', kind: 'number', digits: 0 },
      { key: 'times', label: 'Occurrences', kind: 'number', digits: 0 },
      { key: 'open', label: 'Open', kind: 'number', digits: 0 },
      { key: 'lost', label: 'Lost energy', unit: 'kWh', kind: 'number', digits: 1 },
    ],
    rows: codes.map((own) => ({
      title: own[0]!.title,
      code: own[0]!.code,
      alerts: own.length,
      times: own.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0),
      open: own.filter(({ status }) => status !== 'resolved').length,
      lost: sumOf(own.map(({ lost_energy_kwh }) => lost_energy_kwh)),
    })),
  }
}

const ofAll = (listed: number, all: number) =>
  `${Math.min(listed, all)} of ${all}, the newest first.`

const alertTable = (alerts: readonly Alert[], row_count: number): Section => ({
  kind: 'table',
  title: 'Alerts, the newest first',
  columns: [
    { key: 'started', label: 'Since', kind: 'instant' },
    { key: 'title', label: 'Alert', kind: 'text' },
    { key: 'source', label: 'Source', kind: 'text' },
    { key: 'severity', label: 'Severity', kind: 'text' },
    { key: 'status', label: 'Status', kind: 'text' },
    { key: 'ended', label: 'Gone', kind: 'instant' },
    { key: 'lost', label: 'Lost energy', unit: 'kWh', kind: 'number', digits: 1 },
  ],
  rows: alerts.slice(0, row_count).map((alert) => ({
    started: alert.started_at,
    title: alert.title,
    source: alert.source,
    severity: alert.severity,
    status: alert.is_suppressed ? `${alert.status}, suppressed` : alert.status,
    ended: alert.ended_at,
    lost: alert.lost_energy_kwh,
  })),
  note: ofAll(row_count, alerts.length),
})

/** Whether it can be said that its times were kept: it is done, or it is late or all are past. */
function isJudged(order: WorkOrder, now: Date): boolean {
  const { response_due_at, resolution_due_at, completed_at, cancelled_at } = order
  const due = [response_due_at, resolution_due_at].filter((at) => at !== null)
  if (due.length === 0) return false
  if (isBreached(order, now) || completed_at !== null) return true
  return cancelled_at === null && due.every((at) => at <= now)
}

function workFigures(orders: readonly WorkOrder[], frame: Frame): Section {
  const created = orders.filter(({ created_at }) => isIn(created_at, frame))
  const done = orders.filter(({ completed_at }) => isIn(completed_at, frame))
  const { now } = frame.order
  const due = orders.filter((order) => isJudged(order, now))
  const kept = due.filter((order) => !isBreached(order, now)).length
  const response = created.map((one) => hoursBetween(one.created_at, one.acknowledged_at))
  const resolution = done.map((one) => hoursBetween(one.created_at, one.completed_at))
  return {
    kind: 'figures',
    title: 'Work orders',
    figures: [
      count('Created', created.length, 'in the period'),
      count('Completed', done.length, 'in the period'),
      count(
        'Still open',
        orders.filter(({ completed_at, cancelled_at }) => !completed_at && !cancelled_at).length,
      ),
      hours('Response', middle(response)),
      hours('Resolution', middle(resolution)),
      {
        label: 'Service levels kept',
        value: due.length === 0 ? null : rounded((100 * kept) / due.length, 1),
        unit: '%',
        digits: 1,
        note: due.length === 0 ? 'nothing due or done yet' : `${kept} of ${due.length} due or done`,
      },
      {
        label: 'Labour',
        value: sumOf(done.map(({ labour_h }) => labour_h)),
        unit: 'h',
        digits: 1,
        note: 'of those completed',
      },
    ],
  }
}

const workTable = (
  orders: readonly WorkOrder[],
  { order: { now } }: Frame,
  row_count: number,
): Section => ({
  kind: 'table',
  title: 'Work orders, the newest first',
  columns: [
    { key: 'number', label: 'Number', kind: 'text' },
    { key: 'title', label: 'Title', kind: 'text' },
    { key: 'priority', label: 'Priority', kind: 'text' },
    { key: 'status', label: 'Status', kind: 'text' },
    { key: 'created', label: 'Created', kind: 'instant' },
    { key: 'response', label: 'Response', unit: 'h', kind: 'number', digits: 1 },
    { key: 'resolution', label: 'Resolution', unit: 'h', kind: 'number', digits: 1 },
    { key: 'late', label: 'Too late', kind: 'text' },
  ],
  rows: orders.slice(0, row_count).map(
    (order): Record<string, Cell> => ({
      number: order.number,
      title: order.title,
      priority: order.priority,
      status: order.status.replaceAll('_', ' '),
      created: order.created_at,
      response: hoursBetween(order.created_at, order.acknowledged_at),
      resolution: hoursBetween(order.created_at, order.completed_at),
      late: isBreached(order, now) ? 'yes' : 'no',
    }),
  ),
  note: ofAll(row_count, orders.length),
})

function defectFigures(defects: readonly Defect[], frame: Frame): Section {
  const open = defects.filter(({ status }) => status === 'open' || status === 'in_progress')
  const found = defects.filter(({ detected_at }) => isIn(detected_at, frame))
  const resolved = defects.filter(({ resolved_at }) => isIn(resolved_at, frame))
  return {
    kind: 'figures',
    title: 'Defects',
    figures: [
      count('Found', found.length, 'in the period'),
      count('Resolved', resolved.length, 'in the period'),
      count('Open', open.length, 'by now'),
      count('Open and of safety', open.filter(({ safety_relevant }) => safety_relevant).length),
      {
        label: 'Loss a year',
        value: sumOf(open.map(({ estimated_loss_kwh_year }) => estimated_loss_kwh_year)),
        unit: 'kWh',
        digits: 0,
        note: 'of those open, as estimated',
      },
    ],
  }
}

const defectTable = (defects: readonly Defect[], row_count: number): Section => ({
  kind: 'table',
  title: 'Defects, the newest first',
  columns: [
    { key: 'number', label: 'Number', kind: 'text' },
    { key: 'title', label: 'Title', kind: 'text' },
    { key: 'type', label: 'Type', kind: 'text' },
    { key: 'severity', label: 'Severity', kind: 'text' },
    { key: 'status', label: 'Status', kind: 'text' },
    { key: 'detected', label: 'Detected', kind: 'instant' },
    { key: 'resolved', label: 'Resolved', kind: 'instant' },
    { key: 'loss', label: 'Loss a year', unit: 'kWh', kind: 'number', digits: 0 },
  ],
  rows: defects.slice(0, row_count).map((defect) => ({
    number: defect.number,
    title: defect.title,
    type: defect.type?.replaceAll('_', ' ') ?? null,
    severity: defect.severity,
    status: defect.status.replaceAll('_', ' '),
    detected: defect.detected_at,
    resolved: defect.resolved_at,
    loss: defect.estimated_loss_kwh_year,
  })),
  note: ofAll(row_count, defects.length),
})

const method: Section = {
  kind: 'text',
  title: 'What these figures are',
  text:
    'Times are by the clock, nights and holidays too. Response: from the creation of a work order ' +
    'until it was taken up; resolution: until it was completed. Service levels are kept where both ' +
    'came in time, of those due or done; what is not done yet counts as soon as it is late. To acknowledge and to ' +
    'resolve: from the beginning of the condition, of alerts raised in the period.',
}

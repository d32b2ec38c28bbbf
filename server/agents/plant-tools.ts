/** Tools about plants: state, alerts, strings, energy, work. */
import { type Static, Type } from 'typebox'
import type { AlertRecord } from '../alerts/record.ts'
import { alertSeverities } from '../alerts/rule.ts'
import type { PlantStatus } from '../overview/status.ts'
import type { InverterLosses, LoggerEfficiency } from '../performance/efficiency/schemas.ts'
import type { StringHealth } from '../performance/efficiency/string-schemas.ts'
import type { Site } from '../plant/site.ts'
import type { Defect } from '../work/defects/schemas.ts'
import type { WorkOrder } from '../work/orders/schemas.ts'
import { Id, period, site_id } from './inputs.ts'
import {
  type Agent,
  type Listed,
  lines,
  moneyOf,
  Refusal,
  siteUrl,
  sumOf,
  table,
  tool,
} from './tool.ts'

const listSites = tool({
  name: 'list_sites',
  title: 'List sites',
  description:
    'Start here. Lists the sites of the key with health, power, energy and revenue of today, and ' +
    'open alerts. Next: current_problems.',
  scopes: [],
  input: {
    q: Type.Optional(
      Type.String({ description: 'Only sites with this text in id or name.', maxLength: 100 }),
    ),
  },
  async run({ q }, agent) {
    const sites = await readSites(agent, q)
    const rows = sites.map(({ status, ...site }) => ({ ...site, ...status }))
    return table(rows, [
      'site_id',
      'name',
      'health_status',
      'health_reasons',
      'ac_capacity_kw',
      'ac_power_kw',
      'energy_today_kwh',
      'energy_to_expected_pct',
      'revenue_today_amount',
      'currency',
      'open_alert_count',
      'timezone',
    ])
  },
})

async function readSites(agent: Agent, q?: string): Promise<Site[]> {
  const query = { include: 'status', limit: 200, q }
  return (await agent.read<Listed<Site>>('/v1/sites', query)).data
}

const siteNow = tool({
  name: 'site_now',
  title: 'A site now',
  description:
    'The present state of a site: power, available and curtailed power, weather, devices by state.',
  scopes: ['plant:read'],
  input: { site_id },
  async run({ site_id }, agent) {
    const status = await agent.read<PlantStatus>(siteUrl(site_id, '/plant/status'))
    const known = Object.keys(status) as (keyof PlantStatus)[]
    return `${lines(status, known)}\n\n${agent.page(site_id, '')}`
  },
})

/** Alerts of further sites are left out. */
const sites_max = 10

const currentProblems = tool({
  name: 'current_problems',
  title: 'Current problems and their cost',
  description:
    'What is wrong now and what it costs: open alerts, the most severe first, with lost energy ' +
    'and revenue. Without site_id the sites with the most alerts. Next: explain_alert, ' +
    'string_losses, open_work.',
  scopes: ['alerts:read'],
  input: { site_id: Type.Optional(site_id) },
  async run({ site_id }, agent) {
    const sites = site_id ? [site_id] : await sitesWithAlerts(agent)
    const alerts: (AlertRecord & { site_id: string })[] = []
    let count = 0
    for (const site_id of sites.slice(0, sites_max)) {
      const { data, meta } = await agent.read<Listed<AlertRecord>>(siteUrl(site_id, '/alerts'))
      alerts.push(...data.map((alert) => ({ ...alert, site_id })))
      count += meta.count
    }
    const rank = ({ severity }: AlertRecord) => alertSeverities.indexOf(severity)
    alerts.sort((a, b) => rank(b) - rank(a) || (b.lost_energy_kwh ?? 0) - (a.lost_energy_kwh ?? 0))
    return [
      `${count} open alerts at ${sites.length} sites, lost energy ${sumOf(alerts, 'lost_energy_kwh') ?? 0} kWh, ` +
        `lost revenue ${moneyOf(alerts, 'lost_amount')}.`,
      ...(sites.length > sites_max ? [`Only the first ${sites_max} sites are shown.`] : []),
      table(alerts, [
        'site_id',
        'alert_id',
        'severity',
        'status',
        'started_at',
        'message',
        'lost_energy_kwh',
        'lost_amount',
        'currency',
        'suppressed_reason',
        'work_order_id',
      ]),
      ...sites.slice(0, sites_max).map((site_id) => agent.page(site_id, '/alerts')),
    ].join('\n\n')
  },
})

async function sitesWithAlerts(agent: Agent): Promise<string[]> {
  const alertsOf = ({ status }: Site) => status?.open_alert_count ?? 0
  const sites = (await readSites(agent)).filter((site) => alertsOf(site) > 0)
  return sites.sort((a, b) => alertsOf(b) - alertsOf(a)).map(({ site_id }) => site_id)
}

const explainAlert = tool({
  name: 'explain_alert',
  title: 'Explain an alert',
  description:
    'One alert in full: device, measured value and threshold, times, lost energy and revenue, and ' +
    'the recommended action. Take alert_id from current_problems.',
  scopes: ['alerts:read'],
  input: { site_id, alert_id: Id('The alert.') },
  async run({ site_id, alert_id }, agent) {
    const alert = await findAlert(agent, site_id, alert_id)
    const known = Object.keys(alert) as (keyof AlertRecord)[]
    const hidden = ['dedup_key', 'rule_id', 'created_at', 'updated_at', 'suppressed']
    const shown = known.filter((name) => !hidden.includes(name))
    return `${lines(alert, shown)}\n\n${agent.page(site_id, '/alerts')}`
  },
})

async function findAlert(agent: Agent, site_id: string, alert_id: number): Promise<AlertRecord> {
  const status = ['active', 'acknowledged', 'resolved']
  let cursor: string | undefined
  do {
    const query = { status, cursor }
    const page = await agent.read<Listed<AlertRecord>>(siteUrl(site_id, '/alerts'), query)
    const found = page.data.find((alert) => alert.alert_id === alert_id)
    if (found) return found
    cursor = page.meta.next_cursor ?? undefined
  } while (cursor)
  throw new Refusal(`not_found: the site has no alert ${alert_id}`)
}

const stringLosses = tool({
  name: 'string_losses',
  title: 'Strings that lose most, and why',
  description:
    'Strings that deliver less than their peers, those that lose most first, with the suspected ' +
    'cause. The period defaults to the last 7 days.',
  scopes: ['diagnostics:read'],
  input: { site_id, ...period },
  async run({ site_id, ...query }, agent) {
    const path = siteUrl(site_id, '/efficiency/health-matrix')
    const { data } = await agent.read<Listed<Static<typeof StringHealth>>>(path, query)
    const loss = ({ estimated_loss_kwh }: Static<typeof StringHealth>) => estimated_loss_kwh ?? 0
    const losing = data.filter((string) => loss(string) > 0).sort((a, b) => loss(b) - loss(a))
    const counts = [...Map.groupBy(data, ({ status }) => status)]
    return [
      `Strings by status: ${counts.map(([status, own]) => `${status} ${own.length}`).join(', ')}. ` +
        `Estimated loss ${Math.round(sumOf(losing, 'estimated_loss_kwh') ?? 0)} kWh.`,
      table(losing, [
        'inverter_id',
        'inverter_name',
        'string_index',
        'status',
        'deviation_pct',
        'estimated_loss_kwh',
        'suspected_cause',
        'confidence_pct',
        'below_since_date',
      ]),
      agent.page(site_id, '/string-health'),
    ].join('\n\n')
  },
})

const energyReport = tool({
  name: 'energy_report',
  title: 'Energy and performance ratio of a period',
  description:
    'Energy of each plant against its expectation, performance ratio against the guaranteed one, ' +
    'availability, and where energy was lost. The period defaults to the last 7 days.',
  scopes: ['diagnostics:read'],
  input: { site_id, ...period },
  async run({ site_id, ...query }, agent) {
    const read = <Item>(path: string) => agent.read<Listed<Item>>(siteUrl(site_id, path), query)
    const plants = await read<Static<typeof LoggerEfficiency>>('/efficiency/loggers')
    const losses = await read<Static<typeof InverterLosses>>('/efficiency/loss-analysis')
    const causes = ['clipping', 'curtailment', 'downtime', 'derating'] as const
    const lost = causes.map((cause) => ({
      cause,
      lost_kwh: sumOf(losses.data, `${cause}_loss_kwh`),
    }))
    return [
      table(plants.data, [
        'logger_id',
        'logger_name',
        'start_at',
        'end_at',
        'energy_kwh',
        'expected_energy_kwh',
        'energy_performance_index_pct',
        'performance_ratio_pct',
        'performance_ratio_temp_corrected_pct',
        'guaranteed_performance_ratio_pct',
        'availability_energy_pct',
        'curtailed_energy_kwh',
        'completeness_pct',
        'excluded_reason',
      ]),
      table(lost, ['cause', 'lost_kwh']),
      agent.page(site_id, '/energy'),
    ].join('\n\n')
  },
})

const openWork = tool({
  name: 'open_work',
  title: 'Open work orders and defects',
  description: 'Work orders and defects that are not finished.',
  scopes: ['om:read'],
  input: { site_id },
  async run({ site_id }, agent) {
    const read = async <Item>(path: string, states: readonly string[]) => {
      const found: Item[] = []
      for (const status of states) {
        const query = { status, limit: 50 }
        found.push(...(await agent.read<Listed<Item>>(siteUrl(site_id, path), query)).data)
      }
      return found
    }
    const states = ['in_progress', 'assigned', 'open', 'on_hold']
    const orders = await read<WorkOrder>('/work-orders', states)
    const defects = await read<Defect>('/defects', ['in_progress', 'open'])
    return [
      table(orders, [
        'wo_id',
        'title',
        'status',
        'priority',
        'assigned_to_name',
        'due_at',
        'sla_breached',
        'lost_energy_kwh',
      ]),
      table(defects, [
        'defect_id',
        'title',
        'status',
        'severity',
        'affected_power_kw',
        'estimated_loss_amount_year',
        'currency',
        'wo_id',
      ]),
      agent.page(site_id, '/work-orders'),
    ].join('\n\n')
  },
})

export const plantTools = [
  listSites,
  currentProblems,
  siteNow,
  explainAlert,
  stringLosses,
  energyReport,
  openWork,
]

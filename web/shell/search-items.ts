/** Sites, pages, devices, work orders and alerts that the search finds. */
import type { Overview, Site, WorkOrder } from '@heliograph/sdk'
import type { SiteAlert } from '../generated/platform.ts'

const kinds = ['Sites', 'Pages', 'Devices', 'Work orders', 'Alerts'] as const

export interface Item {
  kind: (typeof kinds)[number]
  label: string
  /** Searched as well, such as a serial number. */
  hint: string
  href: string
}

/** `rest` is the address of the open page below its site; pages of devices exist at one site. */
export const siteItems = (sites: readonly Site[], rest: string, static_paths: readonly string[]) =>
  sites.map(
    ({ site_id, name }): Item => ({
      kind: 'Sites',
      label: name,
      hint: site_id,
      href: `/sites/${site_id}${static_paths.includes(rest) ? rest : ''}`,
    }),
  )

export function deviceItems({ site, loggers, inverters, bess }: Overview): Item[] {
  const below = `/sites/${site.site_id}`
  const device = (label: string, hint: string, href: string): Item => ({
    kind: 'Devices',
    label,
    hint,
    href: `${below}${href}`,
  })
  return [
    ...loggers.map(({ logger_id, name, plant_code }) =>
      device(name, ['Plant', plant_code].filter(Boolean).join(' '), `/plants/${logger_id}`),
    ),
    ...inverters.map(({ inverter_id, name, model, serial_number }) =>
      device(
        name ?? `Inverter ${inverter_id}`,
        ['Inverter', model, serial_number].filter(Boolean).join(' '),
        `/inverters/${inverter_id}`,
      ),
    ),
    ...(bess ?? []).map(({ bess_id, name }) => device(name, 'Battery', `/batteries/${bess_id}`)),
  ]
}

export const orderItems = (site_id: string, orders: readonly WorkOrder[]) =>
  orders.map(
    ({ wo_id, number, title, assigned_to }): Item => ({
      kind: 'Work orders',
      label: `${number} ${title}`,
      hint: assigned_to ?? 'Not assigned',
      href: `/sites/${site_id}/work-orders/${wo_id}`,
    }),
  )

export const alertItems = (alerts: readonly SiteAlert[]) =>
  alerts.map(
    ({ site_id, site_name, alert_id, title, message }): Item => ({
      kind: 'Alerts',
      label: `${title}: ${message}`,
      hint: site_name,
      href: `/sites/${site_id}/alerts?alert_id=${alert_id}`,
    }),
  )

const shown_of_kind_max = 8

/** Items with every word of the text, those first whose label starts with it; by kind. */
export function foundItems(items: readonly Item[], text: string): [Item['kind'], Item[]][] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/)
  const rank = ({ label }: Item) => (label.toLowerCase().startsWith(wanted) ? 0 : 1)
  const found = items
    .filter(({ label, hint }) => {
      const own = `${label} ${hint}`.toLowerCase()
      return words.every((word) => own.includes(word))
    })
    .sort((a, b) => rank(a) - rank(b))
  return kinds.flatMap((kind): [Item['kind'], Item[]][] => {
    const own = found.filter((item) => item.kind === kind).slice(0, shown_of_kind_max)
    return own.length === 0 ? [] : [[kind, own]]
  })
}

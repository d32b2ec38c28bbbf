/** Table of pages: address, name in the menu, and required scope. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

export interface SitePageProps {
  site_id: string
  /** Other parameters of the address, by name. */
  [name: string]: string | undefined
}

type Page<Props> = LazyExoticComponent<ComponentType<Props>>

interface OpenPage {
  path: string
  Page: Page<object>
}

interface AdminPage extends OpenPage {
  label?: string
  role?: 'administrator'
}

export interface SitePage {
  /** Below /sites/:site_id. */
  path: string
  Page: Page<SitePageProps>
  /** Name in the menu; pages without are opened from other pages. */
  label?: string
  group?: 'Plant' | 'Control' | 'Market' | 'Work'
  /** Scope that the reads of the page need. */
  scope?: string
}

export const openPages: readonly OpenPage[] = [
  { path: '/sign-in', Page: lazy(() => import('./access/sign-in.tsx')) },
  { path: '/invitation', Page: lazy(() => import('./access/invitation.tsx')) },
  { path: '/new-password', Page: lazy(() => import('./access/new-password.tsx')) },
  { path: '/confirm-address', Page: lazy(() => import('./access/confirm-address.tsx')) },
]

export const adminPages: readonly AdminPage[] = [
  { path: '/', Page: lazy(() => import('./overview/sites.tsx')), label: 'Sites' },
  { path: '/account', Page: lazy(() => import('./access/account.tsx')), label: 'My account' },
  {
    path: '/settings/keys',
    label: 'API access',
    role: 'administrator',
    Page: lazy(() => import('./access/api-access.tsx')),
  },
  {
    path: '/settings/people',
    label: 'People',
    role: 'administrator',
    Page: lazy(() => import('./access/people.tsx')),
  },
  {
    path: '/settings/audit',
    label: 'Audit',
    role: 'administrator',
    Page: lazy(() => import('./access/audit.tsx')),
  },
]

export const sitePages: readonly SitePage[] = [
  {
    path: '',
    label: 'Overview',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./overview/overview.tsx')),
  },
  {
    path: '/plants',
    label: 'Plants',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./plant/plants.tsx')),
  },
  {
    path: '/plants/:logger_id',
    scope: 'plant:read',
    Page: lazy(() => import('./plant/plant.tsx')),
  },
  {
    path: '/inverters',
    label: 'Inverters',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./telemetry/inverters.tsx')),
  },
  {
    path: '/inverters/:inverter_id',
    scope: 'plant:read',
    Page: lazy(() => import('./telemetry/inverter.tsx')),
  },
  {
    path: '/inverters/:inverter_id/strings/:string_index',
    scope: 'plant:read',
    Page: lazy(() => import('./performance/string.tsx')),
  },
  {
    path: '/string-health',
    label: 'String health',
    group: 'Plant',
    scope: 'diagnostics:read',
    Page: lazy(() => import('./performance/string-health.tsx')),
  },
  {
    path: '/stations',
    label: 'Stations',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./plant/stations.tsx')),
  },
  {
    path: '/stations/:node_id',
    scope: 'plant:read',
    Page: lazy(() => import('./plant/station.tsx')),
  },
  {
    path: '/compare',
    label: 'Compare',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./telemetry/compare.tsx')),
  },
  {
    path: '/curtailment',
    label: 'Curtailment',
    group: 'Control',
    scope: 'curtailment:read',
    Page: lazy(() => import('./control/curtailment.tsx')),
  },
  {
    path: '/batteries',
    label: 'Batteries',
    group: 'Control',
    scope: 'bess:read',
    Page: lazy(() => import('./batteries/batteries.tsx')),
  },
  {
    path: '/batteries/:bess_id',
    scope: 'bess:read',
    Page: lazy(() => import('./batteries/battery.tsx')),
  },
  {
    path: '/batteries/:bess_id/day',
    scope: 'bess:read',
    Page: lazy(() => import('./batteries/battery-day.tsx')),
  },
  {
    path: '/batteries/:bess_id/log',
    scope: 'bess:read',
    Page: lazy(() => import('./batteries/battery-log.tsx')),
  },
  {
    path: '/alerts',
    label: 'Alerts',
    group: 'Work',
    scope: 'alerts:read',
    Page: lazy(() => import('./alerts/alerts.tsx')),
  },
  {
    path: '/work-orders',
    label: 'Work orders',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./work/work-orders.tsx')),
  },
  {
    path: '/work-orders/new',
    scope: 'om:write',
    Page: lazy(() => import('./work/work-order-new.tsx')),
  },
  {
    path: '/work-orders/:wo_id',
    scope: 'om:read',
    Page: lazy(() => import('./work/work-order.tsx')),
  },
  {
    path: '/defects',
    label: 'Defects',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./work/defects.tsx')),
  },
  {
    path: '/defects/new',
    scope: 'om:write',
    Page: lazy(() => import('./work/defect-new.tsx')),
  },
  {
    path: '/defects/:defect_id',
    scope: 'om:read',
    Page: lazy(() => import('./work/defect.tsx')),
  },
  {
    path: '/notifications',
    label: 'Notifications',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./work/notifications.tsx')),
  },
  {
    path: '/reports',
    label: 'Reports',
    group: 'Work',
    scope: 'reports:read',
    Page: lazy(() => import('./reports/reports.tsx')),
  },
  {
    path: '/gaps',
    label: 'Gaps',
    group: 'Work',
    scope: 'plant:read',
    Page: lazy(() => import('./telemetry/gaps.tsx')),
  },
  {
    path: '/energy',
    label: 'Energy',
    group: 'Plant',
    scope: 'energy:read',
    Page: lazy(() => import('./performance/energy.tsx')),
  },
  {
    path: '/earnings',
    label: 'Earnings',
    group: 'Market',
    scope: 'earnings:read',
    Page: lazy(() => import('./earnings/earnings.tsx')),
  },
  {
    path: '/markets',
    label: 'Markets',
    group: 'Market',
    scope: 'markets:read',
    Page: lazy(() => import('./markets/markets.tsx')),
  },
  {
    path: '/predictions',
    label: 'Predictions',
    group: 'Market',
    scope: 'predictions:read',
    Page: lazy(() => import('./forecasts/predictions.tsx')),
  },
]

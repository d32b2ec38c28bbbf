/** The table of pages: address, name in the menu, and what one must be allowed to read for it. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

export interface SitePageProps {
  site_id: string
  /** The other parts of the address, by name. */
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
  /** In the menu, and under which heading; pages without are reached from others. */
  label?: string
  group?: 'Plant' | 'Control' | 'Market' | 'Work'
  /** The scope that its reads take. */
  scope?: string
}

export const openPages: readonly OpenPage[] = [
  { path: '/sign-in', Page: lazy(() => import('./sign-in.tsx')) },
  { path: '/invitation', Page: lazy(() => import('./invitation.tsx')) },
  { path: '/new-password', Page: lazy(() => import('./new-password.tsx')) },
  { path: '/confirm-address', Page: lazy(() => import('./confirm-address.tsx')) },
]

export const adminPages: readonly AdminPage[] = [
  { path: '/', Page: lazy(() => import('./sites.tsx')), label: 'Sites' },
  { path: '/account', Page: lazy(() => import('./account.tsx')), label: 'My account' },
  {
    path: '/settings/keys',
    label: 'API access',
    role: 'administrator',
    Page: lazy(() => import('./api-access.tsx')),
  },
  {
    path: '/settings/people',
    label: 'People',
    role: 'administrator',
    Page: lazy(() => import('./people.tsx')),
  },
  {
    path: '/settings/audit',
    label: 'Audit',
    role: 'administrator',
    Page: lazy(() => import('./audit.tsx')),
  },
]

export const sitePages: readonly SitePage[] = [
  {
    path: '',
    label: 'Overview',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./overview.tsx')),
  },
  {
    path: '/plants',
    label: 'Plants',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./plants.tsx')),
  },
  {
    path: '/plants/:logger_id',
    scope: 'plant:read',
    Page: lazy(() => import('./plant.tsx')),
  },
  {
    path: '/inverters',
    label: 'Inverters',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./inverters.tsx')),
  },
  {
    path: '/inverters/:inverter_id',
    scope: 'plant:read',
    Page: lazy(() => import('./inverter.tsx')),
  },
  {
    path: '/inverters/:inverter_id/strings/:string_index',
    scope: 'plant:read',
    Page: lazy(() => import('./string.tsx')),
  },
  {
    path: '/string-health',
    label: 'String health',
    group: 'Plant',
    scope: 'diagnostics:read',
    Page: lazy(() => import('./string-health.tsx')),
  },
  {
    path: '/stations',
    label: 'Stations',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./stations.tsx')),
  },
  {
    path: '/stations/:node_id',
    scope: 'plant:read',
    Page: lazy(() => import('./station.tsx')),
  },
  {
    path: '/compare',
    label: 'Compare',
    group: 'Plant',
    scope: 'plant:read',
    Page: lazy(() => import('./compare.tsx')),
  },
  {
    path: '/curtailment',
    label: 'Curtailment',
    group: 'Control',
    scope: 'curtailment:read',
    Page: lazy(() => import('./curtailment.tsx')),
  },
  {
    path: '/batteries',
    label: 'Batteries',
    group: 'Control',
    scope: 'bess:read',
    Page: lazy(() => import('./batteries.tsx')),
  },
  {
    path: '/batteries/:bess_id',
    scope: 'bess:read',
    Page: lazy(() => import('./battery.tsx')),
  },
  {
    path: '/batteries/:bess_id/day',
    scope: 'bess:read',
    Page: lazy(() => import('./battery-day.tsx')),
  },
  {
    path: '/batteries/:bess_id/log',
    scope: 'bess:read',
    Page: lazy(() => import('./battery-log.tsx')),
  },
  {
    path: '/alerts',
    label: 'Alerts',
    group: 'Work',
    scope: 'alerts:read',
    Page: lazy(() => import('./alerts.tsx')),
  },
  {
    path: '/work-orders',
    label: 'Work orders',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./work-orders.tsx')),
  },
  {
    path: '/work-orders/new',
    scope: 'om:write',
    Page: lazy(() => import('./work-order-new.tsx')),
  },
  {
    path: '/work-orders/:wo_id',
    scope: 'om:read',
    Page: lazy(() => import('./work-order.tsx')),
  },
  {
    path: '/defects',
    label: 'Defects',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./defects.tsx')),
  },
  {
    path: '/defects/new',
    scope: 'om:write',
    Page: lazy(() => import('./defect-new.tsx')),
  },
  {
    path: '/defects/:defect_id',
    scope: 'om:read',
    Page: lazy(() => import('./defect.tsx')),
  },
  {
    path: '/notifications',
    label: 'Notifications',
    group: 'Work',
    scope: 'om:read',
    Page: lazy(() => import('./notifications.tsx')),
  },
  {
    path: '/reports',
    label: 'Reports',
    group: 'Work',
    scope: 'reports:read',
    Page: lazy(() => import('./reports.tsx')),
  },
  {
    path: '/gaps',
    label: 'Gaps',
    group: 'Work',
    scope: 'plant:read',
    Page: lazy(() => import('./events.tsx')),
  },
  {
    path: '/energy',
    label: 'Energy',
    group: 'Plant',
    scope: 'energy:read',
    Page: lazy(() => import('./energy.tsx')),
  },
  {
    path: '/earnings',
    label: 'Earnings',
    group: 'Market',
    scope: 'earnings:read',
    Page: lazy(() => import('./earnings.tsx')),
  },
  {
    path: '/markets',
    label: 'Markets',
    group: 'Market',
    scope: 'markets:read',
    Page: lazy(() => import('./markets.tsx')),
  },
  {
    path: '/predictions',
    label: 'Predictions',
    group: 'Market',
    scope: 'predictions:read',
    Page: lazy(() => import('./predictions.tsx')),
  },
]

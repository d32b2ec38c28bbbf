/** Table of pages: address, name in the menu, and required scope. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

export type SitePageProps = Readonly<Record<string, string | undefined>>

type Page<Props> = LazyExoticComponent<ComponentType<Props>>
type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

interface OpenPage {
  path: string
  Page: Page<object>
}

interface AdminPage extends OpenPage {
  label?: string
  role?: 'administrator'
  scope?: 'alerts:read'
}

export const groups = ['Plant', 'Control', 'Market', 'Work'] as const

type InMenu = readonly [group: (typeof groups)[number], label: string]

export const openPages: readonly OpenPage[] = [
  { path: '/sign-in', Page: lazy(() => import('./access/sign-in.tsx')) },
  { path: '/invitation', Page: lazy(() => import('./access/invitation.tsx')) },
  { path: '/new-password', Page: lazy(() => import('./access/new-password.tsx')) },
  { path: '/confirm-address', Page: lazy(() => import('./access/confirm-address.tsx')) },
]

const admin = (
  path: string,
  load: Load<object>,
  more: Omit<AdminPage, keyof OpenPage> = {},
): AdminPage => ({ path, Page: lazy(load), ...more })

const role = 'administrator'

export const adminPages: readonly AdminPage[] = [
  admin('/', () => import('./overview/sites.tsx'), { label: 'Sites' }),
  admin('/alerts', () => import('./alerts/all-alerts.tsx'), {
    label: 'All alerts',
    scope: 'alerts:read',
  }),
  admin('/add-site', () => import('./access/add-site.tsx'), { role }),
  admin('/account', () => import('./access/account.tsx'), { label: 'My account' }),
  admin('/settings/keys', () => import('./access/api-access.tsx'), { label: 'API access', role }),
  admin('/settings/people', () => import('./access/people.tsx'), { label: 'People', role }),
  admin('/settings/audit', () => import('./access/audit.tsx'), { label: 'Audit', role }),
  admin('/settings/checks', () => import('./doctor/server-checks.tsx'), {
    label: 'Server checks',
    role,
  }),
]

export const isOpenTo = (
  { role, scope }: Pick<AdminPage, 'role' | 'scope'>,
  user: { role: string; scopes: readonly string[] },
): boolean => (!role || role === user.role) && (!scope || user.scopes.includes(scope))

/** Pages without a place in the menu are opened from other pages. */
const page = (path: string, scope: string, load: Load<SitePageProps>, menu?: InMenu) => ({
  path,
  scope,
  Page: lazy(load),
  group: menu?.[0],
  label: menu?.[1],
})

/** Addresses below /sites/:site_id, with the scope that the reads of the page need. */
export const sitePages = [
  page('', 'plant:read', () => import('./overview/overview.tsx'), ['Plant', 'Overview']),
  page('/plants', 'plant:read', () => import('./plant/plants.tsx'), ['Plant', 'Plants']),
  page('/plants/:logger_id', 'plant:read', () => import('./plant/plant.tsx')),
  page('/inverters', 'plant:read', () => import('./telemetry/inverters.tsx'), [
    'Plant',
    'Inverters',
  ]),
  page('/inverters/:inverter_id', 'plant:read', () => import('./telemetry/inverter.tsx')),
  page(
    '/inverters/:inverter_id/strings/:string_index',
    'plant:read',
    () => import('./performance/string.tsx'),
  ),
  page('/string-health', 'diagnostics:read', () => import('./performance/string-health.tsx'), [
    'Plant',
    'String health',
  ]),
  page('/stations', 'plant:read', () => import('./plant/stations.tsx'), ['Plant', 'Stations']),
  page('/stations/:node_id', 'plant:read', () => import('./plant/station.tsx')),
  page('/commissioning', 'plant:read', () => import('./plant/commissioning.tsx'), [
    'Plant',
    'Commissioning',
  ]),
  page('/edge', 'plant:read', () => import('./access/edge.tsx'), ['Plant', 'Edge']),
  page('/explorer', 'plant:read', () => import('./telemetry/explorer.tsx'), ['Plant', 'Explorer']),
  page('/curtailment', 'curtailment:read', () => import('./control/curtailment.tsx'), [
    'Control',
    'Curtailment',
  ]),
  page('/batteries', 'bess:read', () => import('./batteries/batteries.tsx'), [
    'Control',
    'Batteries',
  ]),
  page('/batteries/:bess_id', 'bess:read', () => import('./batteries/battery.tsx')),
  page('/batteries/:bess_id/day', 'bess:read', () => import('./batteries/battery-day.tsx')),
  page('/batteries/:bess_id/log', 'bess:read', () => import('./batteries/battery-log.tsx')),
  page('/proposals', 'plant:read', () => import('./control/proposals.tsx'), [
    'Control',
    'Proposals',
  ]),
  page('/alerts', 'alerts:read', () => import('./alerts/alerts.tsx'), ['Work', 'Alerts']),
  page('/work-orders', 'om:read', () => import('./work/work-orders.tsx'), ['Work', 'Work orders']),
  page('/work-orders/new', 'om:write', () => import('./work/work-order-new.tsx')),
  page('/work-orders/:wo_id', 'om:read', () => import('./work/work-order.tsx')),
  page('/defects', 'om:read', () => import('./work/defects.tsx'), ['Work', 'Defects']),
  page('/defects/new', 'om:write', () => import('./work/defect-new.tsx')),
  page('/defects/:defect_id', 'om:read', () => import('./work/defect.tsx')),
  page('/notifications', 'om:read', () => import('./work/notifications.tsx'), [
    'Work',
    'Notifications',
  ]),
  page('/reports', 'reports:read', () => import('./reports/reports.tsx'), ['Work', 'Reports']),
  page('/gaps', 'plant:read', () => import('./telemetry/gaps.tsx'), ['Work', 'Gaps']),
  page('/energy', 'energy:read', () => import('./performance/energy.tsx'), ['Plant', 'Energy']),
  page('/earnings', 'earnings:read', () => import('./earnings/earnings.tsx'), [
    'Market',
    'Earnings',
  ]),
  page('/markets', 'markets:read', () => import('./markets/markets.tsx'), ['Market', 'Markets']),
  page('/predictions', 'predictions:read', () => import('./forecasts/predictions.tsx'), [
    'Market',
    'Predictions',
  ]),
]

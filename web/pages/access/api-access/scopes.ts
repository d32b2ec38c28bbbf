/** Descriptions of scopes, and presets. */
import type { Site } from '@heliograph/sdk'

export type Scope = Site['scopes'][number]

export const scopeWords: Readonly<Record<Scope, string>> = {
  'plant:read': 'The site, its plants, inverters, strings and sensors',
  'diagnostics:read': 'Performance, losses, string health and I-V curves',
  'energy:read': 'Energy by hour and day',
  'weather:read': 'Weather, measured and forecast',
  'markets:read': 'Day-ahead prices',
  'earnings:read': 'Money: contracts, earnings, fees',
  'predictions:read': 'Forecasts of production and prices',
  'alerts:read': 'Alerts',
  'alerts:write': 'Acknowledge and resolve alerts',
  'om:read': 'Work orders and defects',
  'om:write': 'Make and change work orders and defects',
  'reports:read': 'Reports and their files',
  'reports:write': 'Order and change reports',
  'curtailment:read': 'Curtailment and its history',
  'curtailment:write': 'Curtail and release the plant',
  'bess:read': 'Batteries and their schedules',
  'bess:write': 'Change and approve schedules of batteries',
}

/** Scopes that command the plant. */
export const commands: readonly Scope[] = ['curtailment:write', 'bess:write']

const monitoring: readonly Scope[] = ['plant:read', 'energy:read', 'weather:read', 'alerts:read']
const trading: readonly Scope[] = [
  ...(['plant:read', 'energy:read', 'markets:read', 'earnings:read'] as const),
  ...(['predictions:read', 'curtailment:read', 'bess:read'] as const),
]

export const presets: readonly { name: string; has(scope: Scope): boolean }[] = [
  { name: 'Read everything', has: (scope) => scope.endsWith(':read') },
  { name: 'Monitoring', has: (scope) => monitoring.includes(scope) },
  { name: 'Energy trader', has: (scope) => trading.includes(scope) },
  { name: 'Everything', has: () => true },
]

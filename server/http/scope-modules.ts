import type { Module, Scope } from './endpoint.ts'

/**
 * The module of each scope. A key may only have scopes whose module is in the plan of its client.
 */
export const scopeModules: Readonly<Record<Scope, Module>> = {
  'plant:read': 'basic_scada',
  'diagnostics:read': 'basic_scada',
  'energy:read': 'basic_scada',
  'weather:read': 'basic_scada',
  'markets:read': 'basic_scada',
  'earnings:read': 'earnings',
  'predictions:read': 'ai_predictions',
  'alerts:read': 'basic_scada',
  'alerts:write': 'basic_scada',
  'om:read': 'om',
  'om:write': 'om',
  'reports:read': 'basic_scada',
  'reports:write': 'basic_scada',
  'curtailment:read': 'basic_scada',
  'curtailment:write': 'basic_scada',
  'bess:read': 'bess',
  'bess:write': 'bess',
}

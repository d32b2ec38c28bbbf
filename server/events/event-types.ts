import type { Scope } from '../http/endpoint.ts'

/** The types of events, each with the scope that it takes to read one. */
export const eventScopes = {
  'alert.raised': 'alerts:read',
  'alert.acknowledged': 'alerts:read',
  'alert.resolved': 'alerts:read',
  'alert.reopened': 'alerts:read',
  'curtailment.accepted': 'curtailment:read',
  'curtailment.applied': 'curtailment:read',
  'curtailment.verified': 'curtailment:read',
  'curtailment.restored': 'curtailment:read',
  'curtailment.failed': 'curtailment:read',
  'schedule.proposed': 'bess:read',
  'schedule.revised': 'bess:read',
  'schedule.approved': 'bess:read',
  'schedule.rejected': 'bess:read',
  'schedule.started': 'bess:read',
  'schedule.deviated': 'bess:read',
  'schedule.ended': 'bess:read',
  'proposal.made': 'plant:read',
  'work_order.created': 'om:read',
  'work_order.changed': 'om:read',
  'work_order.approved': 'om:read',
  'defect.reported': 'om:read',
  'defect.changed': 'om:read',
  'gap.opened': 'plant:read',
  'gap.closed': 'plant:read',
  'device.offline': 'plant:read',
  'device.online': 'plant:read',
  'edge.offline': 'plant:read',
  'edge.online': 'plant:read',
  'site.health_changed': 'plant:read',
  'report.ready': 'reports:read',
  'price.published': 'markets:read',
  'forecast.issued': 'predictions:read',
} as const satisfies Record<`${string}.${string}`, Scope>

export type EventType = keyof typeof eventScopes

export const eventTypes = Object.keys(eventScopes) as EventType[]

export const isEventType = (type: string): type is EventType => type in eventScopes

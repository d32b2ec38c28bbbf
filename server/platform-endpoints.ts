/** All operations of the platform. They take a session and a role, never a key. */
import * as audit from './access/audit-endpoints.ts'
import * as enrolments from './access/enrolment-endpoints.ts'
import * as keys from './access/key-endpoints.ts'
import * as people from './access/people-endpoints.ts'
import * as sites from './access/site-endpoints.ts'
import type { Needs as ProposalNeeds } from './agents/platform-endpoints.ts'
import * as proposals from './agents/platform-endpoints.ts'
import * as alerts from './alerts/platform-endpoints.ts'
import * as curtailment from './control/platform-endpoints.ts'
import * as standing from './control/standing-endpoints.ts'
import { type DoctorNeeds, getDoctor } from './doctor/endpoints.ts'
import type { Endpoint } from './http/endpoint.ts'
import * as devices from './plant/platform-endpoints.ts'
import type { Needs as WebhookNeeds } from './push/webhooks/platform-endpoints.ts'
import * as webhooks from './push/webhooks/platform-endpoints.ts'
import type { Needs as ReportNeeds } from './reports/endpoints.ts'
import * as reports from './reports/platform-endpoints.ts'
import * as commissioning from './telemetry/commissioning/platform-endpoints.ts'

export const platformEndpoints: readonly Endpoint<
  DoctorNeeds & ReportNeeds & WebhookNeeds & ProposalNeeds
>[] = [
  ...Object.values(people),
  ...Object.values(keys),
  ...Object.values(audit),
  ...Object.values(sites),
  ...Object.values(enrolments),
  ...Object.values(devices),
  ...Object.values(commissioning),
  ...Object.values(curtailment),
  ...Object.values(proposals),
  ...Object.values(standing),
  ...Object.values(alerts),
  ...Object.values(reports),
  getDoctor,
  ...Object.values(webhooks),
]

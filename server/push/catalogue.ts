/** Each type of event with the schema of its record, for the API document. */
import type { TObject, TSchema } from 'typebox'
import { ProposalMade } from '../agents/proposals.ts'
import { AlertRecord } from '../alerts/record.ts'
import { Schedule } from '../batteries/schedules.ts'
import { CurtailmentRow } from '../control/curtailment-row.ts'
import { type EventType, eventScopes, eventTypes } from '../events/event-types.ts'
import { IssuedForecast } from '../forecasts/published.ts'
import type { DocumentedEvent } from '../http/openapi-webhooks.ts'
import { Named, Nullable } from '../http/params.ts'
import { CommunicationState } from '../link/published.ts'
import { PublishedPrices } from '../markets/published.ts'
import { SiteHealth } from '../overview/sites/health-watch.ts'
import { ReportRun } from '../reports/run.ts'
import { Gap } from '../telemetry/gaps/gap.ts'
import { Defect } from '../work/defects/schemas.ts'
import { WholeWorkOrder } from '../work/orders/schemas.ts'
import { SiteEvent } from './event.ts'

const records: Readonly<Record<EventType, readonly [summary: string, record: TObject]>> = {
  'alert.raised': ['An alert was raised', AlertRecord],
  'alert.acknowledged': ['A person acknowledged an alert', AlertRecord],
  'alert.resolved': [
    'An alert was resolved, by a person or by the end of its condition',
    AlertRecord,
  ],
  'alert.reopened': ['The condition of a resolved alert returned', AlertRecord],
  'curtailment.accepted': ['A curtailment order was stored', CurtailmentRow],
  'curtailment.applied': ['The limits of the devices were read back', CurtailmentRow],
  'curtailment.verified': ['The measured power was at or below the limit', CurtailmentRow],
  'curtailment.restored': ['The plant was read back as restored', CurtailmentRow],
  'curtailment.failed': ['An order cannot be applied or restored yet', CurtailmentRow],
  'schedule.proposed': ['A battery schedule was proposed', Schedule],
  'schedule.revised': ['An hour of a proposed schedule was revised', Schedule],
  'schedule.approved': ['A schedule was approved', Schedule],
  'schedule.rejected': ['A schedule was rejected', Schedule],
  'schedule.started': ['The edge reported on an approved schedule for the first time', Schedule],
  'schedule.deviated': [
    'A unit deviates from its approved schedule: its alert was raised or reopened',
    Schedule,
  ],
  'schedule.ended': ['The day of an approved schedule is over', Schedule],
  'proposal.made': ['An agent proposed a command, which a person decides', ProposalMade],
  'work_order.created': ['A work order was created', WholeWorkOrder],
  'work_order.changed': ['A work order or an item of its checklist was changed', WholeWorkOrder],
  'work_order.approved': ['A completed work order was approved', WholeWorkOrder],
  'defect.reported': ['A defect was reported', Defect],
  'defect.changed': ['A defect was changed', Defect],
  'gap.opened': ['A gap in the readings was detected', Gap],
  'gap.closed': ['A gap that lasted has ended', Gap],
  'device.offline': ['A device does not answer its edge', CommunicationState],
  'device.online': ['A device answers its edge again', CommunicationState],
  'edge.offline': ['The connection of an edge has ended', CommunicationState],
  'edge.online': ['An edge is connected again', CommunicationState],
  'site.health_changed': ['The health of a site has changed', SiteHealth],
  'report.ready': ['A report was made', ReportRun],
  'price.published': ['Day-ahead prices of a market were published or changed', PublishedPrices],
  'forecast.issued': ['A forecast of production was issued for a day', IssuedForecast],
}

export const eventCatalogue: readonly DocumentedEvent[] = eventTypes.map((type) => {
  const [summary, record] = records[type]
  const named = type.replace(/(^|[._])([a-z])/g, (_, _mark, letter: string) => letter.toUpperCase())
  const exactly = (value: string, of: TSchema): TSchema =>
    ({ ...of, enum: [value], examples: [value] }) as TSchema
  const { properties } = SiteEvent
  const schema = Named(`${named}Event`, {
    ...properties,
    type: exactly(type, properties.type),
    scope: exactly(eventScopes[type], properties.scope),
    record: Nullable(record),
  })
  return { type, summary, schema }
})

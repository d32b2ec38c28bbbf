/** The whole site in one answer, for those who poll it. */
import { type Static, Type } from 'typebox'
import { At } from '../../records/frame.ts'
import { Inverter, inverterRecord } from '../../records/inverter.ts'
import { Logger, loggerRecord } from '../../records/logger.ts'
import { StringGlance } from '../../records/pv-string.ts'
import { Site } from '../../records/site.ts'
import type { LivePlant } from './live.ts'
import { PlantStatus, plantStatus } from './status.ts'

export const sections = [
  'sensors',
  'weather',
  'predictions',
  'curtailment',
  'bess',
  'alerts',
] as const
export type Section = (typeof sections)[number]

const Later = (what: string) => Type.Null({ description: `${what}: not served by this version.` })

export type Overview = Static<typeof Overview>
export const Overview = Type.Object(
  {
    site: Site,
    generated_at: At('When this answer was put together.'),
    status: PlantStatus,
    loggers: Type.Array(Logger, { description: 'Loggers in service.' }),
    inverters: Type.Array(Inverter, { description: 'Inverters in service.' }),
    strings: Type.Array(StringGlance, { description: 'Strings in service, of every inverter.' }),
    sensors: Later('Nodes in transformer stations'),
    weather: Later('On-site weather by instrument; `status` has the means'),
    predictions: Later('Forecast of today'),
    curtailment: Later('Limits in force'),
    bess: Later('Battery storage'),
    alerts: Later('Counts of alerts'),
    partial: Type.Boolean({ description: 'Whether any section is missing.' }),
    missing_sections: Type.Array(Type.Enum([...sections]), {
      description:
        'Sections that are null: the key lacks the scope, the plan lacks the module, or this ' +
        'version does not serve them.',
    }),
  },
  { additionalProperties: false, $id: 'Overview' },
)

export function overviewOf(live: LivePlant, site: Site): Overview {
  const { situation, edge } = live
  const status = plantStatus(live, situation)
  const { health_status, health_reasons } = status
  const invertersOf = Map.groupBy(live.inverters, ({ logger_id }) => logger_id)
  return {
    // The site as it was listed, with the health of this very moment.
    site: { ...site, health_status, health_reasons },
    generated_at: situation.now.toISOString(),
    status,
    loggers: live.loggers.map((row) =>
      loggerRecord(row, { inverters: invertersOf.get(row.logger_id) ?? [], edge }, situation),
    ),
    inverters: live.inverters.map((row) => inverterRecord(row, situation)),
    strings: [...live.strings],
    sensors: null,
    weather: null,
    predictions: null,
    curtailment: null,
    bess: null,
    alerts: null,
    partial: true,
    missing_sections: [...sections],
  }
}

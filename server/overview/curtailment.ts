/** How far the rows of /curtailment limit the site now. */
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { isStale } from '../plant/frame.ts'
import type { Situation } from '../plant/situation.ts'
import type { PlantReadings } from './status.ts'

export type CurtailmentNow = Static<typeof CurtailmentNow>
export const CurtailmentNow = Type.Object(
  {
    active_count: Type.Integer({ minimum: 0, description: 'Rows of /curtailment in force.' }),
    limit_kw: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'What they allow the plants together, kW; one that no row limits counts with its rated ' +
          'power. Null where none is in force.',
      }),
    ),
    curtailed_now_kw: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'What the inverters of these plants could deliver more than they do, kW: of those that ' +
          'report it, so that it may be more. Null where none is in force, or no inverter does.',
      }),
    ),
  },
  { additionalProperties: false, $id: 'CurtailmentNow' },
)

/** Of devices in service. */
export function curtailmentNow(
  { loggers, inverters }: Pick<PlantReadings, 'loggers' | 'inverters'>,
  { now, poll }: Pick<Situation, 'now' | 'poll'>,
): CurtailmentNow {
  const limited = loggers.filter(({ power_limit_kw }) => power_limit_kw !== null)
  if (limited.length === 0) return { active_count: 0, limit_kw: null, curtailed_now_kw: null }
  const ids = new Set(limited.map(({ logger_id }) => logger_id))
  const kept_kw = inverters.flatMap(({ logger_id, measured_at, ...power }) => {
    const { available_power_kw, ac_power_kw } = power
    const is_of_them = ids.has(logger_id) && !isStale(measured_at, poll.inverter_s, now)
    if (!is_of_them || available_power_kw === null || ac_power_kw === null) return []
    return [Math.max(0, available_power_kw - ac_power_kw)]
  })
  return {
    active_count: limited.reduce((count, { active_row_count }) => count + active_row_count, 0),
    limit_kw: sumOf(loggers.map((logger) => logger.power_limit_kw ?? logger.rated_power_kw)),
    curtailed_now_kw: kept_kw.length > 0 ? sumOf(kept_kw) : null,
  }
}

const sumOf = (powers: readonly number[]) => significant(powers.reduce((a, b) => a + b, 0))

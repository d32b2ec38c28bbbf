/**
 * Eight inverters of unequal size behind two plants, their permit, and where they stand when only
 * that holds them: worked out here apart from the edge's own code. Power in whole watts.
 */
import type { Site } from '@heliograph/domain/site'
import { smallSite } from '@heliograph/simulator/fixtures/site'

interface Plant {
  logger_id: number
  permit_w: number
  inverters: { inverter_id: number; rated_w: number; limit_pct: number | null }[]
}

/** The limit of the last one is not ours: it was set before the edge first came. */
const plants: readonly Plant[] = [
  { logger_id: 1, permit_w: 4_811_730, inverters: inverters(1, [500, 1000, 1500, 2000]) },
  { logger_id: 2, permit_w: 3_111_710, inverters: inverters(5, [800, 1200, 1400, 1600], 40) },
]

/** An unmistakable figure. */
const site_permit_w = 7_313_370

/** Of the registers of every device here, in parts of its rated power. */
const steps_full = 10_000

function inverters(first: number, rated_kw: readonly number[], last_pct: number | null = null) {
  return rated_kw.map((kw, nth) => ({
    inverter_id: first + nth,
    rated_w: kw * 1000,
    limit_pct: nth === rated_kw.length - 1 ? last_pct : null,
  }))
}

const [logger] = smallSite.loggers
const [template] = logger!.inverters
const [field] = smallSite.connections
const { meters: _, ...rest } = smallSite

export const controlledSite: Site = {
  ...rest,
  site_id: 'controlled',
  name: 'Controlled',
  poll: { inverter_s: 0.5 },
  connections: plants.map(({ logger_id }) => ({ ...field!, connection_id: `field-${logger_id}` })),
  loggers: plants.map(({ logger_id, inverters: devices }) => ({
    logger_id,
    name: `Plant ${logger_id}`,
    rated_power_kw: devices.reduce((sum, { rated_w }) => sum + rated_w, 0) / 1000,
    inverters: devices.map(({ inverter_id, rated_w }, nth) => ({
      ...template!,
      inverter_id,
      name: `Inverter ${inverter_id}`,
      rated_ac_power_kw: rated_w / 1000,
      connection: `field-${logger_id}`,
      unit_id: nth + 1,
      // The peer follows at once.
      limit: { ramp_s: 0 },
    })),
  })),
}

export const permit = {
  site_w: site_permit_w,
  plant_w: new Map(plants.map(({ logger_id, permit_w }) => [logger_id, permit_w])),
  /** As its operator writes it, yet to be sealed. */
  text: [
    'version: 1',
    `site_id: ${controlledSite.site_id}`,
    `site_permit_kw: ${site_permit_w / 1000}`,
    'plants:',
    ...plants.map(
      ({ logger_id, permit_w }) => `  - { logger_id: ${logger_id}, permit_kw: ${permit_w / 1000} }`,
    ),
    '',
  ].join('\n'),
}

export const plantOf: ReadonlyMap<number, number> = new Map(
  plants.flatMap(({ logger_id, inverters: devices }) =>
    devices.map(({ inverter_id }) => [inverter_id, logger_id] as const),
  ),
)

/** For the peer that serves them, at the ports of the connections. */
export const gatewaysOf = ({ connections }: Site) =>
  plants.map(({ inverters: devices }, nth) => ({
    port: (connections[nth] as { port: number }).port,
    inverters: devices.map((device, unit) => ({ ...device, unit_id: unit + 1 })),
  }))

/** By inverter: what each may deliver when nothing but the permit holds them. */
export function permittedShares(): Map<number, number> {
  const of_site = split(
    site_permit_w,
    plants.map(({ permit_w, inverters: devices }) => ({
      weight: devices.reduce((sum, { rated_w }) => sum + rated_w, 0),
      most_w: permit_w,
    })),
  )
  return new Map(
    plants.flatMap(({ inverters: devices }, nth) => {
      const of_plant = split(
        of_site[nth]!,
        devices.map(({ rated_w, limit_pct }) => ({
          weight: rated_w,
          most_w: (rated_w * (limit_pct ?? 100)) / 100,
        })),
      )
      return devices.map(({ inverter_id, rated_w }, index) => {
        const step_w = rated_w / steps_full
        return [inverter_id, Math.floor(of_plant[index]! / step_w) * step_w] as const
      })
    }),
  )
}

/** By weight; what one cannot take goes to the others. */
function split(total_w: number, parts: readonly { weight: number; most_w: number }[]): number[] {
  const weightOf = (those: typeof parts) => those.reduce((sum, { weight }) => sum + weight, 0)
  const full = parts.filter(({ weight, most_w }) => (total_w * weight) / weightOf(parts) >= most_w)
  if (full.length === 0) {
    return parts.map(({ weight }) => Math.floor((total_w * weight) / weightOf(parts)))
  }
  const left = parts.filter((part) => !full.includes(part))
  const left_w = total_w - full.reduce((sum, { most_w }) => sum + most_w, 0)
  const shares = split(Math.max(0, left_w), left)
  return parts.map((part) => (full.includes(part) ? part.most_w : shares[left.indexOf(part)]!))
}

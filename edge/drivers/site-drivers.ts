/** Checks that each device of a site has a driver which reads devices of its kind. */
import { units } from '@heliograph/domain/profile'
import type { Site, Station } from '@heliograph/domain/site'
import type { SitePath, SiteProblem } from '@heliograph/domain/site-check'
import { parseSiteFile } from '@heliograph/domain/site-file'
import type { Driver } from './driver.ts'
import type { OwnProfiles } from './own-profiles.ts'

interface Driven {
  driver: string
  path: SitePath
  kind: string
  opener: Extract<keyof Driver, `open${string}`>
}

/** Parses a site file and checks its drivers. */
export const parseDrivenSite = (text: string, { find }: Pick<OwnProfiles, 'find'>) =>
  parseSiteFile(text, { check: (site) => checkDrivers(site, find) })

/** @param find gives the driver of a name, or what is wrong with it */
export function checkDrivers(site: Site, find: (name: string) => Driver | string): SiteProblem[] {
  return [
    ...drivenDevices(site).flatMap((one) => checkDriver(one, find)),
    ...checkPoints(site, find),
  ]
}

function checkDriver(
  { driver, path, kind, opener }: Driven,
  find: (name: string) => Driver | string,
): SiteProblem[] {
  const found = find(driver)
  const at = [...path, 'driver']
  if (typeof found === 'string') return [{ path: at, message: found }]
  return found[opener] ? [] : [{ path: at, message: `${driver} reads no ${kind}` }]
}

function drivenDevices({ loggers, meters = [], batteries = [] }: Site): Driven[] {
  return [
    ...loggers.flatMap(({ controller, inverters, stations = [] }, nth): Driven[] => {
      const path = ['loggers', nth]
      return [
        ...driven(controller ? [controller] : [], () => [...path, 'controller'], {
          kind: 'plant controllers',
          opener: 'openController',
        }),
        ...driven(inverters, (index) => [...path, 'inverters', index], {
          kind: 'inverters',
          opener: 'openInverter',
        }),
        ...inverters.flatMap(({ combiners = [] }, of) =>
          driven(combiners, (index) => [...path, 'inverters', of, 'combiners', index], {
            kind: 'combiners',
            opener: 'openCombiner',
          }),
        ),
        ...driven(stations, (index) => [...path, 'stations', index], {
          kind: 'met stations',
          opener: 'openStation',
        }),
      ]
    }),
    ...driven(meters, (index) => ['meters', index], { kind: 'meters', opener: 'openMeter' }),
    ...batteries.flatMap(({ pcs }, of) =>
      driven(pcs, (index) => ['batteries', of, 'pcs', index], {
        kind: 'power conversion systems',
        opener: 'openPcs',
      }),
    ),
  ]
}

const driven = (
  devices: readonly { driver: string }[],
  pathOf: (index: number) => SitePath,
  as: Pick<Driven, 'kind' | 'opener'>,
): Driven[] => devices.map(({ driver }, index) => ({ driver, path: pathOf(index), ...as }))

/** Instruments whose profile has no such point, or one of another quantity. */
function checkPoints({ loggers }: Site, find: (name: string) => Driver | string): SiteProblem[] {
  return loggers.flatMap(({ stations = [] }, nth) =>
    stations.flatMap((station, index) =>
      checkInstruments(station, ['loggers', nth, 'stations', index], find),
    ),
  )
}

function checkInstruments(
  { driver, instruments }: Station,
  path: SitePath,
  find: (name: string) => Driver | string,
): SiteProblem[] {
  const found = find(driver)
  const points = typeof found === 'string' ? undefined : found.profile?.weather?.points
  if (!points) return []
  return instruments.flatMap(({ point, quantity }, nth) => {
    const at = [...path, 'instruments', nth, 'point']
    const register = points[point]
    if (!register) {
      const message = `${driver} has no point ${point}: it has ${Object.keys(points).join(', ')}`
      return [{ path: at, message }]
    }
    const { unit } = register
    if (unit && quantity.endsWith(units[unit].column)) return []
    return [{ path: at, message: `is in ${unit}, which ${quantity} is not` }]
  })
}

/** Drivers by their names in `site.yaml`: SunSpec, and the profiles of `edge/profiles`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Profile } from '@heliograph/domain/profile'
import { parseProfile } from '@heliograph/domain/profile-file'
import { describeProblems } from '@heliograph/domain/yaml-file'
import type { Driver } from './driver.ts'
import { openController } from './register-controller.ts'
import { openMeter, openStation } from './register-instruments.ts'
import { openInverter } from './register-inverter.ts'
import { openPcs } from './register-pcs.ts'
import { sunspec } from './sunspec.ts'

const folder = join(import.meta.dirname, '../profiles')
const known = new Map<string, Driver>([['sunspec', sunspec]])

/** Null for a name without a profile. @throws Error for a profile with problems */
export function findDriver(name: string): Driver | null {
  const found = known.get(name)
  if (found) return found
  const path = join(folder, `${name}.yaml`)
  if (!/^\w+$/.test(name) || !existsSync(path)) return null
  const read = parseProfile(readFileSync(path, 'utf8'))
  if ('problems' in read) throw new Error(describeProblems(path, read.problems).join('\n'))
  const driver = profileDriver(read.value)
  known.set(name, driver)
  return driver
}

/** The profiles of `edge/profiles` by their names. @throws Error for a profile with problems */
export function allProfiles(): Map<string, Profile> {
  const names = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  return new Map(
    names.sort().flatMap((file): [string, Profile][] => {
      const name = file.replace('.yaml', '')
      const profile = findDriver(name)?.profile
      return profile ? [[name, profile]] : []
    }),
  )
}

/** A driver that reads nothing where the name has no profile any more. */
export const driverOf = (name: string): Driver => findDriver(name) ?? {}

/** Opens what the profile describes. */
export function profileDriver(profile: Profile): Driver {
  const { inverter, controller, pcs, meter, weather } = profile
  return {
    profile,
    ...(inverter && { openInverter: (bus, device) => openInverter(profile, bus, device) }),
    ...(controller && { openController: (bus, logger) => openController(profile, bus, logger) }),
    ...(pcs && { openPcs: (bus, device) => openPcs(profile, bus, device) }),
    ...(meter && { openMeter: (bus, device) => openMeter(profile, bus, device) }),
    ...(weather && { openStation: (bus, device) => openStation(profile, bus, device) }),
  }
}

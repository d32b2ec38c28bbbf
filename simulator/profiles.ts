/** Profiles by the names of drivers in `site.yaml`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Profile } from '@heliograph/domain/profile'
import { parseProfile } from '@heliograph/domain/profile-file'
import { isProfilePath } from '@heliograph/domain/schema'
import { describeProblems } from '@heliograph/domain/yaml-file'

const folder = join(import.meta.dirname, '../edge/profiles')

/**
 * @param site_dir folder of the site file, from which paths of profiles lead
 * @throws Error for a driver without a profile, or one with problems
 */
export function readProfile(driver: string, site_dir: string): Profile {
  const path = isProfilePath(driver) ? join(site_dir, driver) : join(folder, `${driver}.yaml`)
  const read = parseProfile(readFileSync(path, 'utf8'))
  if ('value' in read) return read.value
  throw new Error(describeProblems(path, read.problems).join('\n'))
}

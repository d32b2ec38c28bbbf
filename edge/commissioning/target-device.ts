/** The device that an operator names: by its name in the site file, or by host and driver. */
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Profile } from '@heliograph/domain/profile'
import type { Connection, Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { describeProblems } from '@heliograph/domain/yaml-file'
import { openProfiles } from '../drivers/own-profiles.ts'
import { devicesOf } from './site-devices.ts'

export interface TargetOptions {
  driver?: string
  unit: number
  port: number
}

interface Target {
  connection: Connection
  unit_id: number
  driver: string
}

/** @param target a host with `--driver`, else the name of a device in the site file */
export async function targetOf(
  target: string,
  { driver, unit, port }: TargetOptions,
  site_file: string,
): Promise<Target> {
  if (driver === undefined) return deviceIn(await siteIn(site_file), target)
  const connection: Connection = {
    connection_id: target,
    protocol: 'modbus_tcp',
    host: target,
    port,
  }
  return { connection, unit_id: unit, driver }
}

/** @throws Error with the problems of the file */
export async function siteIn(site_file: string): Promise<Site> {
  const parsed = parseSiteFile(await readFile(site_file, 'utf8'))
  if ('site' in parsed) return parsed.site
  throw new Error(describeProblems(basename(site_file), parsed.problems).join('\n'))
}

function deviceIn(site: Site, name: string): Target {
  const devices = devicesOf(site)
  const [device, ...more] = devices.filter((one) => one.name === name)
  if (!device) {
    const names = devices.map((one) => one.name).join(', ')
    throw new Error(`there is no ${name} in the site file; name a host with --driver, or: ${names}`)
  }
  if (more.length > 0) throw new Error(`several devices are named ${name}`)
  const { connection: id, unit_id, driver } = device
  const connection = site.connections.find(({ connection_id }) => connection_id === id)!
  return { connection, unit_id, driver }
}

/** @throws Error for SunSpec, and for a driver that is not there or wrong */
export function profileNamed(driver: string, site_file: string): Profile {
  const profiles = openProfiles(dirname(site_file))
  const found = profiles.find(driver)
  if (typeof found === 'string') throw new Error([found, ...profiles.problems].join('\n'))
  if (!found.profile) throw new Error(`${driver} has no profile`)
  return found.profile
}

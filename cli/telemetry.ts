import path from 'node:path'
import {
  type ArchiveReport,
  exportTelemetry,
  importTelemetry,
} from '@heliograph/server/telemetry/archive'
import { command, type Reporting } from './command.ts'

export function addTelemetryCommands(program: Reporting): void {
  const telemetry = program
    .command('telemetry')
    .description('the readings of a site as a Parquet data set')

  command(
    telemetry,
    'export <site_id> <directory>',
    'Write all readings of a site to a new directory: one Parquet file for each kind and month, and ' +
      'a manifest with counts and checksums.',
    'telemetry export pv-south /archive/pv-south',
  ).fromDatabase(
    ({ directory, files, readings }: ArchiveReport) =>
      `${directory}: ${readings} readings in ${files} files`,
    (admin, site_id: string, directory: string) =>
      exportTelemetry(admin, { site_id, directory: path.resolve(directory) }),
  )

  command(
    telemetry,
    'import <site_id> <directory>',
    'Read such a directory into a site of this server, and compare counts and checksums. Readings ' +
      'that are stored already stay.',
    'telemetry import pv-south /archive/pv-south',
  ).fromDatabase(
    ({ site_id, files, readings, stored }: ArchiveReport) =>
      `${site_id}: ${readings} readings in ${files} files are stored, ${stored} of them new`,
    (admin, site_id: string, directory: string) =>
      importTelemetry(admin, { site_id, directory: path.resolve(directory) }),
  )
}

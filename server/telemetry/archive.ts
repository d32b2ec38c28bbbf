/**
 * The readings of a site as a Parquet data set: one file for each kind and month, written from rows
 * and blocks alike, and read into the site of another server.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { cached } from '@heliograph/domain/cached'
import { hour_ms } from '@heliograph/domain/durations'
import {
  type ColumnType,
  columnsOf,
  type ReadingKind,
  readingKinds,
} from '@heliograph/domain/readings'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { checksum } from '../storage/backup-files.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { openParquet, type ParquetColumn, parquetFile } from '../storage/parquet.ts'
import { keepPartitions, partitionName, weeksOf } from '../storage/partitions.ts'
import { lockSite } from './blocks/packing.ts'
import { blockStart, packHours, type StoredReading } from './blocks/store.ts'
import { encodeTable } from './readings.ts'
import { storeReadings } from './store-readings.ts'
import { firstOf, walkReadings } from './stored-readings.ts'

const closed = { additionalProperties: false } as const

type ArchiveFile = Static<typeof ArchiveFile>
const ArchiveFile = Type.Object(
  {
    path: Type.String({ pattern: '^[a-z]+/month=\\d{4}-\\d\\d/readings\\.parquet$' }),
    kind: Type.Enum(Object.keys(readingKinds) as ReadingKind[]),
    devices: Type.Array(Type.Integer()),
    readings: Type.Integer(),
    /** Of the readings as text, in the order of the file. */
    readings_sha256: Type.String(),
    bytes: Type.Integer(),
    sha256: Type.String(),
  },
  closed,
)

const Manifest = Type.Object(
  {
    format: Type.Literal('heliograph-telemetry-1'),
    site_id: Type.String(),
    made_at: Type.String(),
    files: Type.Array(ArchiveFile),
  },
  closed,
)
const manifest_name = 'manifest.json'
const isManifest = Compile(Manifest)

interface Order {
  site_id: string
  directory: string
}

export interface ArchiveReport extends Order {
  files: number
  readings: number
  /** Readings that were not in the database before; of an import. */
  stored?: number
}

/**
 * Writes the readings of a site to a new directory. The manifest comes last, so that an export that
 * broke off has none.
 *
 * @throws AdminError not_found, conflict
 */
export async function exportTelemetry(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, directory }: Order,
): Promise<ArchiveReport> {
  await findSite({ db }, site_id)
  await mkdir(directory, { recursive: true })
  if ((await readdir(directory)).length > 0) {
    throw new AdminError('conflict', `${directory} is not empty`)
  }
  const files: ArchiveFile[] = []
  for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
    const { devices, months } = await measuredMonths(db, site_id, kind)
    for (const month_ms of months) {
      const of = { site_id, kind, devices, month_ms }
      const file = await db.transaction((tx) => writeMonth(tx, of, directory), {
        isolation: 'repeatable read',
        read_only: true,
      })
      if (file) files.push(file)
    }
  }
  const made_at = clock.now().toISOString()
  const manifest = { format: 'heliograph-telemetry-1', site_id, made_at, files }
  await writeFile(path.join(directory, manifest_name), `${JSON.stringify(manifest, null, 1)}\n`)
  return { site_id, directory, ...sumsOf(files) }
}

const sumsOf = (files: readonly ArchiveFile[]) => ({
  files: files.length,
  readings: files.reduce((sum, { readings }) => sum + readings, 0),
})

/** The devices with readings of a kind, and the UTC months from the first to the last reading. */
async function measuredMonths(db: Database, site_id: string, kind: ReadingKind) {
  const [key] = readingKinds[kind].keys
  // Every device with readings has a latest reading.
  const rows = await db.query<{ device_id: number }>(
    `select distinct ${key} as device_id from ${kind}_latest where site_id = $1 order by 1`,
    [site_id],
  )
  const devices = rows.map(({ device_id }) => device_id)
  const ends: number[] = []
  for (const device_id of devices) {
    for (const newest of [false, true]) {
      const walk = { site_id, device_id, ...always, newest, most: 1 }
      const [found] = await firstOf(walkReadings(db, kind, walk, []), 1)
      if (found) ends.push(found.measured_at)
    }
  }
  const months: number[] = []
  const last_ms = Math.max(...ends)
  for (let at_ms = monthOf(Math.min(...ends)); at_ms <= last_ms; at_ms = monthOf(at_ms, 1)) {
    months.push(at_ms)
  }
  return { devices, months }
}

const always = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }

const monthOf = (at_ms: number, later = 0) => {
  const at = new Date(at_ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later)
}

interface MonthOf {
  site_id: string
  kind: ReadingKind
  devices: readonly number[]
  month_ms: number
}

/** The readings of a month by device, instant and sub key. */
async function* readingsOf(
  db: Queries,
  { site_id, kind, devices, month_ms }: MonthOf,
): AsyncGenerator<StoredReading[]> {
  const span = { from_ms: month_ms, to_ms: monthOf(month_ms, 1), newest: false }
  const columns = ['quality', ...Object.keys(readingKinds[kind].columns)]
  for (const device_id of devices) {
    yield* walkReadings(db, kind, { site_id, device_id, ...span }, columns)
  }
}

async function writeMonth(
  tx: Transaction,
  of: MonthOf,
  directory: string,
): Promise<ArchiveFile | null> {
  const { kind, month_ms } = of
  const hours = await tx.query<{ device_id: number; hour_at: Date; resolution_s: number }>(
    `select device_id, hour_at, resolution_s from reading_blocks
     where site_id = $1 and kind = $2 and hour_at >= $3 and hour_at < $4
       and resolution_s is not null`,
    [of.site_id, kind, new Date(month_ms), new Date(monthOf(month_ms, 1))],
  )
  const resolutionOf = new Map(
    hours.map(({ device_id, hour_at, resolution_s }) => [
      `${device_id} ${hour_at.getTime()}`,
      resolution_s,
    ]),
  )
  const { table, keys } = readingKinds[kind]
  const [key] = keys
  // Weeks of rows that an earlier release thinned.
  const weeks = await tx.query<{ name: string; step_s: number }>(
    'select name, step_s from thinned_partitions where left(name, -9) = $1',
    [table],
  )
  const stepOf = new Map(weeks.map(({ name, step_s }) => [name, step_s]))
  const stepAt = cached((block_ms: number) => {
    const [week] = weeksOf(new Date(block_ms), new Date(block_ms + 1))
    return stepOf.get(partitionName(table, week!)) ?? null
  })
  const digest = createDigest(kind)
  const devices = new Set<number>()
  async function* rows() {
    for await (const readings of readingsOf(tx, of)) {
      digest.add(readings)
      yield readings.map((reading) => {
        const device_id = reading[key] as number
        devices.add(device_id)
        const start_ms = blockStart(kind, reading.measured_at)
        const resolution_s = resolutionOf.get(`${device_id} ${start_ms}`) ?? stepAt(start_ms)
        return { ...reading, resolution_s }
      })
    }
  }
  const name = `${kind}/month=${new Date(month_ms).toISOString().slice(0, 7)}/readings.parquet`
  const target = path.join(directory, name)
  const { chunks, result } = checksum(
    parquetFile(parquetColumns(kind), rows(), { site_id: of.site_id, kind }),
  )
  let chunk = await chunks.next()
  if (digest.sums().readings === 0) return null
  await mkdir(path.dirname(target), { recursive: true })
  const file = await open(target, 'wx')
  try {
    for (; !chunk.done; chunk = await chunks.next()) await file.writeFile(chunk.value)
    await file.sync()
  } finally {
    await file.close()
  }
  return { path: name, kind, devices: [...devices], ...result(), ...digest.sums() }
}

const hourOf = (at_ms: number) => Math.floor(at_ms / hour_ms) * hour_ms

const parquetTypes: Record<ColumnType, ParquetColumn['type']> = {
  real: 'number',
  double: 'number',
  integer: 'integer',
  bigint: 'integer',
  text: 'text',
  'real[]': 'numbers',
  'double[]': 'numbers',
}

const parquetColumns = (kind: ReadingKind): ParquetColumn[] => {
  const { keys, columns } = readingKinds[kind]
  return [
    ...keys.map((name) => ({ name, type: 'integer' }) as const),
    { name: 'measured_at', type: 'instant' },
    { name: 'quality', type: 'text' },
    ...Object.entries<ColumnType>(columns).map(([name, type]) => ({
      name,
      type: parquetTypes[type],
    })),
    // Null where every reading was kept.
    { name: 'resolution_s', type: 'integer' },
  ]
}

/** Counts readings and makes a checksum of their values in the order in which they are added. */
function createDigest(kind: ReadingKind) {
  const hash = createHash('sha256')
  const columns = columnsOf(kind)
  let readings = 0
  return {
    add(batch: readonly StoredReading[]): void {
      for (const reading of batch) {
        hash.update(`${JSON.stringify(columns.map((name) => reading[name] ?? null))}\n`)
      }
      readings += batch.length
    },
    sums: () => ({ readings, readings_sha256: hash.copy().digest('hex') }),
  }
}

/**
 * Reads a data set into a site, a file in a transaction, and compares what is stored with the file.
 * Readings that are there already stay, so that a run that broke off is repeated.
 *
 * @throws AdminError not_found, invalid for a damaged data set, conflict for other readings of the
 * same devices and instants
 */
export async function importTelemetry(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { site_id, directory }: Order,
): Promise<ArchiveReport> {
  await findSite({ db }, site_id)
  const files = await checkedFiles(directory)
  const tables = Object.values(readingKinds).map(({ table }) => table)
  const partitions = keepPartitions(db, tables)
  let stored = 0
  for (const file of files) {
    const source = path.join(directory, file.path)
    const month_ms = Date.parse(`${file.path.match(/month=([\d-]+)/)![1]}-01T00:00:00Z`)
    await partitions.ensure(new Date(month_ms), new Date(monthOf(month_ms, 1)))
    stored += await db.transaction(async (tx) => {
      const count = await storeFile(tx, { site_id, file, source, now: clock.now() })
      const of = { site_id, kind: file.kind, devices: file.devices, month_ms }
      await compare(tx, of, file, source)
      return count
    })
  }
  return { site_id, directory, ...sumsOf(files), stored }
}

/** The files of a data set whose content is what its manifest says. */
async function checkedFiles(directory: string): Promise<ArchiveFile[]> {
  const text = await readFile(path.join(directory, manifest_name), 'utf8').catch((error) => {
    throw new AdminError('invalid', `${directory} has no ${manifest_name}`, { cause: error })
  })
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    manifest = null
  }
  if (!isManifest.Check(manifest)) {
    throw new AdminError('invalid', `${manifest_name} is damaged or of a later version`)
  }
  for (const { path: name, sha256 } of manifest.files) {
    const { chunks, result } = checksum(createReadStream(path.join(directory, name)))
    for await (const _ of chunks);
    if (result().sha256 !== sha256) throw new AdminError('invalid', `${name} is damaged`)
  }
  return manifest.files
}

async function* readingsIn(source: string): AsyncGenerator<StoredReading[]> {
  const file = await open(source, 'r')
  try {
    const { size } = await file.stat()
    const { groups } = await openParquet({
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(end - start)
        await file.read(bytes, 0, bytes.length, start)
        return bytes.buffer
      },
    })
    for await (const rows of groups()) yield rows.map(readingOf)
  } finally {
    await file.close()
  }
}

const readingOf = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? value.getTime() : typeof value === 'bigint' ? Number(value) : value,
    ]),
  ) as StoredReading

interface FileOrder {
  site_id: string
  file: ArchiveFile
  source: string
  now: Date
}

async function storeFile(tx: Transaction, { site_id, file, source, now }: FileOrder) {
  const { kind } = file
  const [key] = readingKinds[kind].keys
  const columns = columnsOf(kind)
  const always_ms = { first_at: Number.NEGATIVE_INFINITY, last_at: Number.POSITIVE_INFINITY }
  const bounds = { site_id, ...always_ms, believed_until: Number.POSITIVE_INFINITY, is_live: false }
  const thinned = new Map<number, Map<string, { device_id: number; hour_at: Date }>>()
  let count = 0
  for await (const readings of readingsIn(source)) {
    const rows = readings.map((reading) => columns.map((name) => reading[name] ?? null))
    const tables = [encodeTable(kind, { columns, rows }, bounds)]
    const arrival = { site_id, received_at: now.toISOString(), tables }
    count += (await storeReadings(tx, [arrival])).get(site_id)!.stored
    for (const reading of readings) {
      const resolution_s = reading['resolution_s'] as number | null
      if (resolution_s === null) continue
      const hour = {
        device_id: reading[key] as number,
        hour_at: new Date(hourOf(reading.measured_at)),
      }
      const own = thinned.get(resolution_s) ?? new Map()
      thinned.set(resolution_s, own.set(`${hour.device_id} ${hour.hour_at.getTime()}`, hour))
    }
  }
  if (thinned.size === 0) return count
  await lockSite(tx, site_id)
  for (const [resolution_s, hours] of thinned) {
    await packHours(tx, site_id, kind, [...hours.values()], resolution_s)
  }
  return count
}

/** Compares the readings of a file with those stored at the same devices and instants. */
async function compare(tx: Transaction, of: MonthOf, file: ArchiveFile, source: string) {
  const keys = [...readingKinds[of.kind].keys, 'measured_at']
  const idOf = (reading: StoredReading) => keys.map((key) => reading[key]).join()
  const wanted = eachOf(readingsIn(source))
  const digest = createDigest(of.kind)
  let next = await wanted.next()
  for await (const readings of readingsOf(tx, of)) {
    for (const reading of readings) {
      if (next.done) break
      if (idOf(reading) !== idOf(next.value)) continue
      digest.add([reading])
      next = await wanted.next()
    }
  }
  const { readings, readings_sha256 } = digest.sums()
  if (readings === file.readings && readings_sha256 === file.readings_sha256) return
  const found = `${readings} of ${file.readings} readings are stored`
  const what = readings === file.readings ? 'readings of the same instants differ' : found
  throw new AdminError('conflict', `${file.path}: ${what}; nothing of this file was imported`)
}

async function* eachOf<Item>(parts: AsyncIterable<Item[]>): AsyncGenerator<Item> {
  for await (const part of parts) yield* part
}

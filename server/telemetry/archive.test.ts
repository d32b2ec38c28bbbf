import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Frame } from '@heliograph/domain/link'
import { silent, testDatabase } from '../../test/postgres.ts'
import { AdminError } from '../access/admin.ts'
import {
  edge_id,
  foundSite,
  inventoryFrame,
  readingsFrame,
  site_id,
} from '../link/fixtures/plant.ts'
import { ingestInto } from '../link/ingest.ts'
import { createRollups } from '../performance/rollups/job.ts'
import type { Database } from '../storage/database.ts'
import { exportTelemetry, importTelemetry } from './archive.ts'
import { thinBlocks } from './blocks/thinning.ts'

const start_ms = Date.UTC(2024, 0, 31, 22)
const now_ms = start_ms + 30 * day_ms
const iso = (ms: number) => new Date(ms).toISOString()
const clock = { now: () => new Date(now_ms) }

async function foundedSite(t: test.TestContext): Promise<Database> {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  await ingest(db, inventoryFrame(0))
  return db
}

let seq = 0
async function ingest(db: Database, ...frames: Frame[]): Promise<void> {
  const batch = { site_id, edge_id, epoch: 'e', lane: 'backlog', received_at: now_ms } as const
  const numbered = frames.map((frame) => ({ ...frame, seq: seq++ }))
  assert.equal((await ingestInto(db).ingest({ ...batch, frames: numbered })).refused_frames, 0)
}

/** Readings of four hours around the end of a month. */
async function measure(db: Database): Promise<void> {
  const instants = Array.from({ length: 480 }, (_, nth) => start_ms + nth * 30_000 + (nth % 3))
  const value = (nth: number) => [98.4, 0.1, null, -0.02, 12_345.678, 1e-7][nth % 6]!
  await ingest(
    db,
    readingsFrame(
      0,
      'inverter',
      instants.map((measured_at, nth) => ({
        inverter_id: 1 + (nth % 2),
        measured_at,
        quality: nth % 5 === 3 ? 'suspect' : 'good',
        state: nth % 7 === 0 ? null : 'mppt',
        ac_power_kw: value(nth),
        energy_total_kwh: 402_113.12 + nth / 1000,
        alarm_1: nth % 4 === 0 ? 4_294_967_295 : 0,
        mppt_voltage_v: nth % 6 === 0 ? null : nth % 5 === 0 ? [] : [800.1 + nth, null],
      })),
    ),
    readingsFrame(
      0,
      'string',
      instants.flatMap((measured_at, nth) =>
        [0, 2].map((first_string_index) => ({
          inverter_id: 1,
          first_string_index,
          measured_at,
          current_a: nth % 9 === 0 ? [] : [9.31 + nth / 100, null],
          voltage_v: nth % 4 === 0 ? null : [800.5, 801.25],
        })),
      ),
    ),
    readingsFrame(
      0,
      'weather',
      instants.map((measured_at, nth) => ({
        station_id: 1,
        measured_at,
        instrument_values: [nth / 7, null],
      })),
    ),
  )
}

async function rollUp(db: Database): Promise<void> {
  await db.execute(`update touched_hours set due_at = '-infinity'`)
  await createRollups(db, { clock, timers: { after: () => () => {} }, log: silent }).runDue()
}

const directoryOf = async (t: test.TestContext) => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-archive-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const manifestOf = async (directory: string) =>
  JSON.parse(await readFile(path.join(directory, 'manifest.json'), 'utf8'))

test('the readings of a site come to another server unchanged', async (t) => {
  const [source, target] = [await foundedSite(t), await foundedSite(t)]
  await measure(source)
  await rollUp(source)
  const before = new Date(start_ms + 3 * hour_ms + 7 * day_ms)
  const tier = { step_s: 60, before, goesOn: () => true, isFinal: async () => true }
  await thinBlocks(source, tier)
  await source.execute('delete from inverter_readings; delete from string_readings')
  await source.execute(
    `insert into packed_before values ($1, now(), 'inverter'), ($1, now(), 'string')`,
    [iso(start_ms + 14 * day_ms)],
  )
  const directory = await directoryOf(t)
  const exported = await exportTelemetry({ db: source, clock }, { site_id, directory })
  const { files } = await manifestOf(directory)
  assert.deepEqual(
    files.map((file: { path: string }) => file.path),
    ['inverter', 'string', 'weather'].flatMap((kind) =>
      ['2024-01', '2024-02'].map((month) => `${kind}/month=${month}/readings.parquet`),
    ),
  )
  assert.ok(exported.readings > 1000)

  const imported = await importTelemetry({ db: target, clock }, { site_id, directory })
  assert.deepEqual([imported.readings, imported.stored], [exported.readings, exported.readings])
  const resolutions = `select device_id, kind, hour_at, resolution_s from reading_blocks
    where resolution_s is not null order by 1, 2, 3`
  assert.deepEqual(await target.query(resolutions), await source.query(resolutions))
  await rollUp(target)
  const again = await directoryOf(t)
  await exportTelemetry({ db: target, clock }, { site_id, directory: again })
  const sums = ({ files: all }: { files: Record<string, unknown>[] }) =>
    all.map(({ bytes: _, sha256: __, ...file }) => file)
  assert.deepEqual(sums(await manifestOf(again)), sums(await manifestOf(directory)))

  const repeated = await importTelemetry({ db: target, clock }, { site_id, directory })
  assert.equal(repeated.readings, exported.readings)

  // A later reading of the target is none of the data set.
  const measured_at = start_ms + 5 * hour_ms
  await ingest(target, readingsFrame(0, 'weather', [{ station_id: 1, measured_at }]))
  await importTelemetry({ db: target, clock }, { site_id, directory })
})

test('a damaged data set and other readings are refused', async (t) => {
  const [source, target] = [await foundedSite(t), await foundedSite(t)]
  await measure(source)
  const directory = await directoryOf(t)
  await exportTelemetry({ db: source, clock }, { site_id, directory })
  const refusal = (code: string, message: RegExp) => (error: unknown) =>
    error instanceof AdminError && error.code === code && message.test(error.message)
  await assert.rejects(
    exportTelemetry({ db: source, clock }, { site_id, directory }),
    refusal('conflict', /is not empty/),
  )
  const other = { station_id: 1, measured_at: start_ms, instrument_values: [77, null] }
  await ingest(target, readingsFrame(0, 'weather', [other]))
  await assert.rejects(
    importTelemetry({ db: target, clock }, { site_id, directory }),
    refusal('conflict', /^weather\/month=2024-01.*differ/),
  )
  const [count] = await target.query<{ count: number }>('select count(*) from weather_readings')
  assert.equal(count!.count, 1, 'the file that differs was not imported')
  const file = path.join(directory, 'string/month=2024-02/readings.parquet')
  const bytes = await readFile(file)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(file, bytes)
  await assert.rejects(
    importTelemetry({ db: target, clock }, { site_id, directory }),
    refusal('invalid', /^string\/month=2024-02.*is damaged/),
  )
  await rm(path.join(directory, 'manifest.json'))
  await assert.rejects(
    importTelemetry({ db: target, clock }, { site_id, directory }),
    refusal('invalid', /has no manifest/),
  )
})

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { RowReport } from '@heliograph/domain/curtailment'
import type { LinkEvent, Readings } from '@heliograph/domain/link'
import { columnsOf, emptyReading } from '@heliograph/domain/readings'
import { pino } from 'pino'
import { Conditions } from './conditions.ts'
import { newlyHeld } from './control/row-watch.ts'
import { rowOf } from './fixtures/controlled-site.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import type { Entry } from './journal.ts'
import type { JournalRecord } from './journal-record.ts'
import { Recorder } from './recorder.ts'

const log = pino({ level: 'silent' })

async function recorderOf(t: TestContext) {
  const clock = virtualClock('2026-06-01T10:00:00.100Z')
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-recorder-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'conditions.json')
  const conditions = await Conditions.open(path)
  const groups: Entry[][] = []
  const disk = { is_full: false }
  let last_seq = 0
  const journal = {
    epoch: 'e',
    get last_seq() {
      return last_seq
    },
    async append(entries: readonly Entry[]): Promise<JournalRecord[]> {
      if (disk.is_full) throw new Error('no space left on device')
      groups.push([...entries])
      return entries.map((entry) => {
        last_seq += 1
        return { ...entry, seq: last_seq, at: 0 }
      })
    },
  }
  const source = { source_kind: 'edge', source_id: 'demo' } as const
  const recorder = new Recorder({ source, journal, conditions, clock, timers: clock, log })
  const events = () =>
    groups
      .flat()
      .filter(({ kind }) => kind === 'events')
      .flatMap(({ payload }) => JSON.parse(payload) as LinkEvent[])
  return { clock, recorder, conditions, groups, disk, events, path }
}

const inverter = (inverter_id: number) => ({
  ...emptyReading('inverter'),
  inverter_id,
  measured_at: 1_780_308_000_000,
  quality: 'good' as const,
  ac_power_kw: 12.5,
})

const offline = {
  source_kind: 'inverter',
  source_id: '1',
  code: 'device_offline',
  severity: 'major',
} as const

test('what was measured within a second becomes one group of frames', async (t) => {
  const { clock, recorder, conditions, groups } = await recorderOf(t)
  recorder.reading('inverter', inverter(1))
  await clock.advance(500)
  recorder.reading('inverter', inverter(2))
  recorder.event(conditions.rise(offline, { at: 1, message: 'gone' }))
  assert.equal(groups.length, 0)
  await clock.advance(500)
  assert.deepEqual(
    groups.map((group) => group.map(({ kind, readings }) => [kind, readings])),
    [
      [
        ['readings', 2],
        ['events', 0],
      ],
    ],
  )
  const { inverter: table } = JSON.parse(groups[0]![0]!.payload) as Readings
  assert.deepEqual(table?.columns, columnsOf('inverter'))
  const row = Object.fromEntries(table!.columns.map((name, i) => [name, table!.rows[1]![i]]))
  assert.deepEqual(row, inverter(2))
  await clock.advance(60_000)
  assert.equal(groups.length, 1, 'nothing measured is no frame')
})

test('while the disk is full, events wait and lost readings are counted', async (t) => {
  const { clock, recorder, conditions, disk, events } = await recorderOf(t)
  disk.is_full = true
  recorder.reading('inverter', inverter(1))
  recorder.event(conditions.rise(offline, { at: 1, message: 'gone' }))
  await clock.advance(1000)
  recorder.reading('inverter', inverter(1))
  await clock.advance(5000)
  assert.deepEqual(recorder.counts, { readings: 0, readings_lost: 2, events: 0, events_lost: 0 })
  disk.is_full = false
  await recorder.flush()
  await recorder.flush()
  assert.deepEqual(
    events().map(({ code, edge }) => `${code} ${edge}`),
    ['device_offline rising', 'journal_write_failed rising', 'journal_write_failed falling'],
  )
  assert.deepEqual(events().at(-1)?.details, { readings_lost: 2 })
})

test('whoever waits for the journal is told whether it has all that was handed in', async (t) => {
  const { recorder, disk, groups } = await recorderOf(t)
  disk.is_full = true
  recorder.reading('inverter', inverter(1))
  const care = { is_sent_again: true }
  recorder.reading('inverter', inverter(2), care)
  const under_way = recorder.flush()
  recorder.reading('inverter', inverter(3), care)
  const later = recorder.persist()
  disk.is_full = false
  assert.equal(await under_way, false)
  assert.equal(await later, true, 'the write after the one under way')
  assert.equal(await recorder.persist(), true, 'nothing new is not nothing durable')
  assert.equal(recorder.counts.readings_lost, 1, 'what is sent again is not lost')
  const rows = groups.flat().filter(({ kind }) => kind === 'readings')
  assert.deepEqual(
    rows.map(({ readings }) => readings),
    [1],
  )
})

test('what finds no room is not durable, though all else is', async (t) => {
  const { recorder } = await recorderOf(t)
  for (let nth = 0; nth <= 50_000; nth += 1) recorder.reading('inverter', inverter(1))
  assert.equal(await recorder.persist(), false)
  assert.deepEqual([recorder.counts.readings, recorder.counts.readings_lost], [50_000, 1])
  assert.equal(await recorder.persist(), true)
})

test('what holds is known after a restart, from the file and from the journal', async (t) => {
  const { clock, recorder, conditions, path, events } = await recorderOf(t)
  recorder.event(conditions.rise(offline, { at: 1, message: 'gone' }))
  await clock.advance(1000)
  await recorder.flush()
  await recorder.close()
  const again = await Conditions.open(path)
  assert.equal(again.rise(offline, { at: 2, message: 'gone' }), null)
  // Frames that the file knows of change nothing; newer ones do.
  again.replay({ epoch: 'e', seq: 1 }, [{ ...events()[0]!, edge: 'falling' }])
  assert.equal(again.all().length, 1)
  again.replay({ epoch: 'e', seq: 2 }, [{ ...events()[0]!, edge: 'falling' }])
  assert.equal(again.all().length, 0)
})

test('how far rows have come is journaled at once, and later where the disk is full', async (t) => {
  const { recorder, groups, disk } = await recorderOf(t)
  const reports = () =>
    groups
      .flat()
      .filter(({ kind }) => kind === 'curtailment')
      .flatMap(({ payload }) => JSON.parse(payload) as RowReport[])
  const report = newlyHeld(rowOf(60), 1000)
  recorder.report([report])
  await recorder.persist()
  assert.deepEqual(reports(), [report])
  disk.is_full = true
  recorder.report([{ ...report, reported_at: 2000 }])
  await recorder.persist()
  recorder.report([{ ...report, reported_at: 3000 }])
  await recorder.persist()
  disk.is_full = false
  await recorder.persist()
  // Of a row only the newest counts.
  assert.deepEqual(
    reports().map(({ reported_at }) => reported_at),
    [1000, 3000],
  )
})

test('what is told of batteries is a frame of its kind, the newest of each key', async (t) => {
  const { recorder, clock, groups, disk } = await recorderOf(t)
  recorder.tell('battery_setup', '1', { bess_id: 1, soc_min_pct: 5 })
  recorder.tell('dispatch', 'a', { dispatch: 'a' })
  disk.is_full = true
  await clock.advance(1000)
  disk.is_full = false
  recorder.tell('battery_setup', '1', { bess_id: 1, soc_min_pct: 8 })
  recorder.tell('battery_setup', '2', { bess_id: 2 })
  await clock.advance(1000)
  await clock.advance(1000)
  const frames = groups.flat().filter(({ kind }) => kind !== 'events')
  assert.deepEqual(
    frames.map(({ kind, payload }) => [kind, JSON.parse(payload)]),
    [
      ['battery_setup', [{ bess_id: 1, soc_min_pct: 8 }, { bess_id: 2 }]],
      ['dispatch', [{ dispatch: 'a' }]],
    ],
  )
})

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { rowOf, start_at } from '../fixtures/controlled-site.ts'
import { openControlStore, readSavedDevices } from './control-store.ts'
import { newlyHeld } from './row-watch.ts'

function dirOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-control-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const none = (error: Error) => assert.fail(error)
const record = {
  static_max_w: 100_000,
  written_w: 50_000,
  before_w: 60_000,
  external_w: null,
  intents: [70_000, 50_000],
}

test('rows and devices outlive the program, and nobody else reads them', async (t) => {
  const dir = dirOf(t)
  const store = await openControlStore({ dir, onFault: none })
  assert.deepEqual([store.rows, store.devices.size], [[], 0])
  const held = newlyHeld(rowOf(60), start_at)
  await store.saveRows([held])
  for (const written_w of [10_000, 30_000]) {
    await store.saveDevices(new Map([[1, { ...record, written_w }]]))
  }
  const next = await openControlStore({ dir, onFault: none })
  assert.deepEqual(next.rows, [held])
  assert.equal(next.devices.get(1)?.written_w, 30_000)
  for (const name of ['control-rows.json', 'control-devices.json']) {
    assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600)
  }
})

test('a file that cannot be understood is told of, set aside and empty', async (t) => {
  const dir = dirOf(t)
  writeFileSync(join(dir, 'control-rows.json'), '[{"row":')
  const faults: Error[] = []
  const store = await openControlStore({ dir, onFault: (error) => faults.push(error) })
  assert.deepEqual(store.rows, [])
  assert.match(faults[0]?.message ?? '', /control-rows\.json cannot be understood/)
  assert.ok(existsSync(join(dir, 'control-rows.json.broken')))
})

const known = {
  ...record,
  read_w: 60_000,
  reverts_to_w: 90_000,
  ramps_from_w: 70_000,
  not_as_set_w: 50_000,
  written_for: 'permit',
  exceeds: { power_w: 110_000, limit_w: 90_000 },
  unheard_ms: 10_000,
}

async function openWith(t: TestContext, device: object) {
  const dir = dirOf(t)
  writeFileSync(join(dir, 'control-rows.json'), '[]')
  writeFileSync(join(dir, 'control-devices.json'), JSON.stringify([[1, device]]))
  const faults: Error[] = []
  const store = await openControlStore({ dir, onFault: (error) => faults.push(error) })
  return { device: store.devices.get(1), faults: faults.length }
}

test('what is known of a device is read back as it was, and nothing else is believed', async (t) => {
  assert.deepEqual(await openWith(t, known), { device: known, faults: 0 })
  for (const wrong of [
    { read_w: '60000' },
    { reverts_to_w: -1 },
    { ramps_from_w: -1 },
    { not_as_set_w: -1 },
    { written_for: 'none' },
    { exceeds: { power_w: 110_000 } },
  ]) {
    assert.deepEqual(await openWith(t, { ...known, ...wrong }), { device: undefined, faults: 1 })
  }
})

test('a time without a read that makes no sense is not believed', async (t) => {
  for (const unheard_ms of [null, -1, 'long']) {
    const found = await openWith(t, { ...known, unheard_ms })
    assert.deepEqual(found, { device: undefined, faults: 1 })
  }
})

test('what an earlier version knew of rounding is left out, and every limit stays', async (t) => {
  const dir = dirOf(t)
  const doubt = { asked_w: 80_000, got_w: 79_000, gap_w: 1000, external_w: null }
  const origin = {
    written_for: 'curtailment',
    is_traced: true,
    permit_range_w: null,
    doubtful_w: 79_000,
  }
  const limits = { ...record, external_w: 79_000, intents: [80_000], ramps_from_w: 90_000 }
  const saved = {
    ...limits,
    made_w: 49_000,
    habits: { rounds_by_w: 1000, rounds_up_w: 500, doubt },
    origin,
  }
  writeFileSync(join(dir, 'control-rows.json'), '[]')
  writeFileSync(join(dir, 'control-devices.json'), JSON.stringify([[1, saved]]))
  const faults: Error[] = []
  const store = await openControlStore({ dir, onFault: (error) => faults.push(error) })
  assert.deepEqual([store.devices.get(1), faults], [{ ...limits, written_for: 'curtailment' }, []])
  const read = await readSavedDevices(dir)
  assert.deepEqual(read?.get(1), store.devices.get(1))
})

test('a file that is gone is told of, and a first start is no loss', async (t) => {
  const dir = dirOf(t)
  const faults: string[] = []
  const open = () => openControlStore({ dir, onFault: ({ message }) => faults.push(message) })
  await open()
  await open()
  assert.deepEqual(faults, [])
  const devices = join(dir, 'control-devices.json')
  rmSync(devices)
  await open()
  await open()
  assert.deepEqual(faults, ['control-devices.json is gone'])
  const rows = join(dir, 'control-rows.json')
  for (const path of [devices, rows]) rmSync(path)
  mkdirSync(join(dir, 'control-log'))
  writeFileSync(join(dir, 'control-log', 'one'), '')
  await open()
  assert.deepEqual(faults.slice(1), ['control-rows.json is gone', 'control-devices.json is gone'])
})

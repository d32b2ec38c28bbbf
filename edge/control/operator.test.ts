import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import type { ControlEntry } from './control-entry.ts'
import { openControlLog } from './control-log.ts'
import { readControlLog } from './control-log-file.ts'
import { memoryControlStore } from './fixtures/memory-stores.ts'
import type { ForgetRequest } from './limit-requests.ts'

function requestOf(inverter_id: number, external_w: number, nth = 0): ForgetRequest {
  const request_id = `0193a1de-0000-7000-8000-00000000000${nth}`
  const asked_at = start_at + nth
  return { request_id, inverter_id, external_w, asked_at, asked_by: 'operator' }
}

type Site = Awaited<ReturnType<typeof controlledSite>>

/** A plant that stands at the row that was just over when the file of its devices was lost. */
async function lostSite(
  permit_w: number | null = 200_000,
  options: Parameters<typeof controlledSite>[0] = {},
): Promise<Site> {
  const site = await controlledSite({ permit_w, ...options })
  await site.controller.hear([rowOf(60, { end_at: start_at + 20_000 })])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.store = memoryControlStore(site.store.rows)
  site.restart()
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  return site
}

const externals = ({ store }: Site) => [1, 2, 3].map((id) => store.devices.get(id)?.external_w)
const outcomes = ({ entries }: Site) =>
  entries.flatMap((entry) => (entry.is === 'forgotten' ? [entry.refusal] : []))

test('a limit that nobody set is forgotten, and the usual rules raise the device', async () => {
  const site = await lostSite()
  assert.deepEqual(externals(site), [20_000, 20_000, 20_000])
  assert.equal(await site.controller.operator.take(requestOf(1, 20_000)), true)
  assert.deepEqual(externals(site), [null, 20_000, 20_000])
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [100_000, 20_000, 20_000])
  await site.controller.operator.take(requestOf(2, 20_000, 1))
  await site.controller.operator.take(requestOf(3, 20_000, 2))
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  const { entries } = site
  const first = entries.findIndex(({ is }) => is === 'forgotten')
  const raise = entries.findIndex((entry) => entry.is === 'order' && entry.is_raise)
  assert.ok(first !== -1 && first < raise, 'it is in the log before what follows from it')
  assert.deepEqual(outcomes(site), [null, null, null])
  assert.ok(site.peak_w <= 300_000)
})

test('a limit that was forgotten is raised by nothing but the permit, and by no more', async () => {
  for (const permit_w of [null, 60_000]) {
    const site = await lostSite(permit_w)
    await site.controller.operator.take(requestOf(1, 20_000))
    await site.clock.advance(60_000)
    assert.ok(site.limits().every((limit_w) => limit_w! <= 20_000))
    // Also after a restart it is no limit of another.
    site.restart()
    await site.clock.advance(30_000)
    assert.equal(site.store.devices.get(1)?.external_w, null)
    assert.ok(site.limits().every((limit_w) => limit_w! <= 20_000))
  }
})

test('another that sets its limit again after that is obeyed again, and told of', async () => {
  const site = await lostSite()
  await site.controller.operator.take(requestOf(1, 20_000))
  await site.clock.advance(20_000)
  assert.equal(site.limits()[0], 100_000)
  site.inverters[0]!.limit_w = 20_000
  await site.clock.advance(120_000)
  assert.equal(site.limits()[0], 20_000)
  assert.equal(site.store.devices.get(1)?.external_w, 20_000)
  const told = site.events.filter(({ code }) => code === 'control_contention')
  assert.deepEqual(
    told.map(({ edge }) => edge),
    ['rising'],
  )
})

test('a request is done once, and never to a limit that is another by then', async () => {
  const site = await lostSite()
  const request = requestOf(1, 20_000)
  const { operator } = site.controller
  await operator.take(request)
  await site.clock.advance(20_000)
  // The same figure, set by somebody since: the request that is still there is not for that one.
  site.inverters[0]!.limit_w = 20_000
  await site.clock.advance(20_000)
  assert.equal(await operator.take(request), true)
  site.restart()
  await site.clock.advance(20_000)
  assert.equal(await site.controller.operator.take(request), true)
  await site.clock.advance(20_000)
  assert.equal(site.store.devices.get(1)?.external_w, 20_000)
  assert.equal(site.limits()[0], 20_000)

  site.inverters[1]!.limit_w = 15_000
  await site.clock.advance(10_000)
  assert.equal(await site.controller.operator.take(requestOf(2, 20_000, 1)), true)
  assert.equal(site.store.devices.get(2)?.external_w, 15_000)
  assert.equal(await site.controller.operator.take(requestOf(9, 20_000, 2)), true)
  assert.deepEqual(outcomes(site), [
    null,
    'the limit of another is not that one any more',
    'this site has no such device',
  ])
})

test('an older request is not done after a newer one, to a limit that another set since', async () => {
  const site = await lostSite()
  const setAgain = async () => {
    await site.clock.advance(20_000)
    site.inverters[0]!.limit_w = 20_000
    await site.clock.advance(20_000)
    assert.equal(site.store.devices.get(1)?.external_w, 20_000)
  }
  for (const nth of [1, 2]) {
    assert.equal(await site.controller.operator.take(requestOf(1, 20_000, nth)), true)
    await setAgain()
  }
  site.restart()
  await site.clock.advance(20_000)
  // Both are there yet, and one that was never done, of before.
  for (const nth of [0, 1, 2]) {
    assert.equal(await site.controller.operator.take(requestOf(1, 20_000, nth)), true)
    await site.clock.advance(20_000)
    assert.equal(site.store.devices.get(1)?.external_w, 20_000)
    assert.equal(site.limits()[0], 20_000)
  }
  const is_older = 'it is no newer than the request that was done last'
  assert.deepEqual(outcomes(site), [null, null, is_older, is_older])
  assert.equal(await site.controller.operator.take(requestOf(1, 20_000, 3)), true)
  await site.clock.advance(20_000)
  assert.equal(site.store.devices.get(1)?.external_w, null)
})

test('nothing is forgotten before it is in the control log, also after a kill', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-forgetting-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const open = () => openControlLog({ dir, timers: { after: () => () => {} }, onFailing() {} })
  const needs = {
    log: {
      write: (entry: ControlEntry) => (entry.is === 'forgotten' ? log.write(entry) : undefined),
    },
  }
  const site = await lostSite(200_000, { needs })
  const file = join(dir, '000001-2026-06-21.jsonl')
  let log = await open()
  const request = requestOf(1, 20_000)
  const kept = async () => {
    await site.clock.advance(20_000)
    assert.deepEqual(externals(site), [20_000, 20_000, 20_000])
    assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  }
  symlinkSync('/dev/full', file)
  for (const _ of [1, 2]) {
    await assert.rejects(site.controller.operator.take(request), /ENOSPC/)
    await kept()
  }
  // The program is killed: what it could not write down is nowhere.
  unlinkSync(file)
  log = await open()
  symlinkSync('/dev/full', file)
  site.restart()
  await kept()
  for (const _ of [1, 2, 3]) await assert.rejects(site.controller.operator.take(request))
  unlinkSync(file)
  assert.equal(await site.controller.operator.take(request), true)
  await site.clock.advance(2000)
  assert.equal(site.limits()[0], 100_000)
  site.restart()
  assert.equal(await site.controller.operator.take(request), true)
  await log.close()
  const outcomes = []
  for await (const item of readControlLog(dir, { from_at: 0, to_at: 8e12 })) {
    const entry = 'entry' in item ? item.entry : null
    if (entry?.is === 'forgotten') outcomes.push([entry.request_id, entry.refusal])
  }
  assert.deepEqual(outcomes, [[request.request_id, null]])
})

test('a limit that is another once it is written down is left alone', async () => {
  const written = Promise.withResolvers<void>()
  const entries: ControlEntry[] = []
  const write = (entry: ControlEntry) => {
    entries.push(entry)
    return entry.is === 'forgotten' ? written.promise : undefined
  }
  const site = await lostSite(200_000, { needs: { log: { write } } })
  const request = requestOf(1, 20_000)
  const taking = site.controller.operator.take(request)
  site.inverters[0]!.limit_w = 15_000
  await site.clock.advance(10_000)
  written.resolve()
  assert.equal(await taking, false)
  assert.equal(await site.controller.operator.take(request), true)
  await site.clock.advance(10_000)
  assert.equal(site.store.devices.get(1)?.external_w, 15_000)
  assert.equal(site.limits()[0], 15_000)
  const refusals = entries.flatMap((entry) => (entry.is === 'forgotten' ? [entry.refusal] : []))
  assert.deepEqual(refusals, [null, 'the limit of another is not that one any more'])
})

test('a request waits until the device shows what it was told', async () => {
  const site = await lostSite()
  site.inverters[0]!.forgets = true
  const group_id = '0193a1de-0000-7000-8000-000000000002'
  await site.controller.hear([rowOf(30, { group_id })])
  await site.clock.advance(2000)
  const request = requestOf(1, 20_000)
  assert.equal(await site.controller.operator.take(request), false)
  assert.equal(site.store.devices.get(1)?.external_w, 20_000)
  site.inverters[0]!.forgets = false
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000])
  assert.equal(await site.controller.operator.take(request), true)
  assert.equal(site.store.devices.get(1)?.external_w, null)
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000], 'the row still holds')
})

test('nothing is raised before it is on disk that the limit was forgotten', async () => {
  const site = await lostSite()
  const { saveDevices } = site.store
  site.store.saveDevices = () => Promise.reject(new Error('full'))
  const request = requestOf(1, 20_000)
  await assert.rejects(site.controller.operator.take(request), /full/)
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  site.store.saveDevices = saveDevices
  await site.clock.advance(2000)
  assert.equal(await site.controller.operator.take(request), true)
  await site.clock.advance(2000)
  assert.equal(site.limits()[0], 100_000)
  assert.deepEqual(outcomes(site), [null])
})

test('what was forgotten was set by nobody in particular', async () => {
  const site = await lostSite(null)
  await site.controller.operator.take(requestOf(1, 20_000))
  await site.clock.advance(20_000)
  assert.equal(site.controller.limitedBy(1), 'unknown')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type ControlledSite,
  controlledSite,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import type { Permit } from './permit-terms.ts'

const permit_w = 200_000
const none: Permit = { plant_w: new Map(), site_w: null }
const lapsed: Permit = { plant_w: new Map(), lapsed_w: new Map([[1, permit_w]]), site_w: null }
const writesOf = ({ inverters }: ControlledSite) => inverters.flatMap(({ writes }) => writes)

async function restartDevice(site: ControlledSite, nth: number): Promise<void> {
  const inverter = site.inverters[nth]!
  inverter.is_silent = true
  await site.clock.advance(60_000)
  inverter.is_silent = false
  inverter.limit_w = null
  await site.clock.advance(30_000)
}

test('an entry that was taken out holds its plant on, downwards alone', async () => {
  const site = await controlledSite({ permit_w })
  await site.clock.advance(10_000)
  site.permit = lapsed
  await site.clock.advance(5000)
  assert.deepEqual(
    site.events.map(({ code, edge }) => `${code} ${edge}`),
    ['no_permit_entry rising', 'permit_missing rising'],
  )
  await restartDevice(site, 0)
  assert.deepEqual(
    site.limits(),
    [66_600, 50_000, 50_000],
    'the silent one counts with its ceiling',
  )
  await site.controller.hear([rowOf(60, { end_at: site.clock.now().getTime() + 10_000 })])
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  const [report] = site.newest.values()
  assert.deepEqual([report?.restored_at, report?.failure_code], [null, 'raise_refused'])
  site.permit = { plant_w: new Map([[1, permit_w]]), site_w: null }
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  assert.equal(site.events.at(-1)?.edge, 'falling')
})

test('what an entry that was taken out leaves is kept also by a plant that never was below it', async () => {
  const site = await controlledSite({ permit_w: null })
  site.permit = lapsed
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
})

test('a device that comes back with more is lowered to what it held, without an entry', async () => {
  const site = await controlledSite({ permit_w: null })
  site.permit = none
  site.inverters[1]!.limit_w = 70_000
  await site.controller.hear([rowOf(60, { end_at: start_at + 30_000 })])
  await site.clock.advance(40_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  const before = writesOf(site).length
  await restartDevice(site, 0)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(writesOf(site).length, before + 1)
  // Over a restart of the agent, too.
  site.inverters[2]!.limit_w = null
  site.restart()
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.equal(writesOf(site).length, before + 2)
})

test('a limit of another that was lost is set again without an entry, and without a permit not', async () => {
  for (const permit of [none, null]) {
    const site = await controlledSite({
      permit_w: null,
      prepare: (inverter) => {
        inverter.limit_w = 70_000
      },
    })
    site.permit = permit
    await site.clock.advance(30_000)
    assert.deepEqual(writesOf(site), [])
    await restartDevice(site, 0)
    assert.deepEqual(site.limits(), [permit ? 70_000 : null, 70_000, 70_000])
    assert.equal(writesOf(site).length, permit ? 1 : 0)
  }
})

test('without any permit and row nothing is ever written, whatever the devices do', async () => {
  const site = await controlledSite({ permit_w: null })
  for (const limit_w of [50_000, 30_000, null, 80_000]) {
    for (const inverter of site.inverters) inverter.limit_w = limit_w
    await site.clock.advance(30_000)
    await restartDevice(site, 1)
    site.restart()
    await site.clock.advance(30_000)
  }
  assert.deepEqual(writesOf(site), [])
})

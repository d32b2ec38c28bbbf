import assert from 'node:assert/strict'
import test from 'node:test'
import { type ControlledSite, controlledSite, rowOf } from '../fixtures/controlled-site.ts'

const permitOf = (permit_w: number) => ({ plant_w: new Map([[1, permit_w]]), site_w: null })

const wrong: Readonly<Record<string, (limit_w: number) => number>> = {
  throws(limit_w) {
    if (limit_w > 50_000) throw new Error('no such step')
    return limit_w
  },
  'rounds up': (limit_w) => limit_w + 60_000,
  'is no figure': () => Number.NaN,
}

for (const [how, settable] of Object.entries(wrong)) {
  test(`a device whose limit ${how} counts as one that cannot be set`, async () => {
    const site = await controlledSite({ permit_w: 300_000 })
    await site.clock.advance(10_000)
    const { control } = site.inverters[0]!
    const works = control.settable
    control.settable = (limit_w) => (limit_w === 0 ? 0 : settable(limit_w))
    await site.controller.hear([rowOf(240)])
    await site.clock.advance(5000)
    assert.deepEqual(site.limits().slice(1), [70_000, 70_000])
    assert.equal(told(site), 'control_fault rising')
    site.permit = permitOf(180_000)
    await site.clock.advance(5000)
    assert.deepEqual(site.limits().slice(1), [40_000, 40_000])
    control.settable = works
    await site.clock.advance(5000)
    assert.deepEqual(site.limits(), [60_000, 60_000, 60_000])
    assert.equal(told(site), 'control_fault falling')
  })
}

test('where the decision does not hold, what is to be lowered is', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  // A raise would be decided on figures that are none.
  site.inverters[0]!.control.settable = (limit_w) => (limit_w > 45_000 ? Number.NaN : limit_w)
  site.permit = permitOf(120_000)
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [40_000, 40_000, 40_000])
  site.permit = permitOf(240_000)
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [40_000, 40_000, 40_000], 'nothing is raised meanwhile')
})

function told({ events }: ControlledSite): string {
  const { code, edge } = events.at(-1)!
  return `${code} ${edge}`
}

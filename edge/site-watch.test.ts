import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Site } from '@heliograph/domain/site'
import { inverterOf, siteOf } from './fixtures/sites.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { SiteWatch } from './site-watch.ts'

const whole = siteOf([inverterOf(1), inverterOf(2)])
const half = siteOf([inverterOf(1)])

async function watchOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-site-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const site_file = join(dir, 'site.yaml')
  const accepted_file = join(dir, 'accepted-site.yaml')
  const write = (text: string) => writeFileSync(site_file, text)
  write(JSON.stringify(whole))
  const timers = virtualClock('2026-06-21T10:00:00Z')
  const watch = await SiteWatch.open({ site_file, accepted_file, timers })
  const told: string[] = []
  const found: string[] = []
  watch.start({
    onAccepted: ({ loggers }: Site) => told.push(`accepted ${loggers[0]!.inverters.length}`),
    onRejected(problems) {
      told.push('rejected')
      found.splice(0, found.length, ...problems)
    },
    onMended: () => told.push('mended'),
  })
  t.after(() => watch.close())
  told.length = 0
  return {
    watch,
    write,
    told,
    problems: found,
    dir,
    reopened: () => SiteWatch.open({ site_file, accepted_file, timers }),
    accepted: () => JSON.parse(readFileSync(accepted_file, 'utf8')),
  }
}

test('another file counts once it was seen alike twice', async (t) => {
  const { watch, write, told, accepted } = await watchOf(t)
  write(JSON.stringify(half))
  await watch.check()
  assert.deepEqual([told, watch.site, accepted()], [[], whole, whole])
  await watch.check()
  assert.deepEqual([told, watch.site, accepted()], [['accepted 1'], half, half])
  await watch.check()
  assert.deepEqual(told, ['accepted 1'])
})

test('a file that is half written, and right as it is, changes nothing', async (t) => {
  const { watch, write, told } = await watchOf(t)
  write(JSON.stringify(half))
  await watch.check()
  write(JSON.stringify({ ...whole, name: 'Grown' }))
  await watch.check()
  assert.deepEqual(told, [])
  await watch.check()
  assert.deepEqual(told, ['accepted 2'])
  // Seen twice, and not one after the other.
  write(JSON.stringify(half))
  await watch.check()
  write(JSON.stringify({ ...whole, name: 'Grown' }))
  await watch.check()
  write(JSON.stringify(half))
  await watch.check()
  assert.deepEqual(told, ['accepted 2'])
})

test('a wrong file is told when it was seen twice, and over as soon as it is as before', async (t) => {
  const { watch, write, told } = await watchOf(t)
  write('site_id: ')
  await watch.check()
  assert.deepEqual(told, [])
  await watch.check()
  assert.deepEqual([told, watch.isRejected], [['rejected'], true])
  write(JSON.stringify(whole))
  await watch.check()
  assert.deepEqual([told, watch.isRejected], [['rejected', 'mended'], false])
})

test('what an earlier agent accepted stays in force where this one refuses the file', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-site-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const paths = {
    site_file: join(dir, 'site.yaml'),
    accepted_file: join(dir, 'accepted-site.yaml'),
  }
  const shared = siteOf([inverterOf(1), inverterOf(2, { unit_id: 1 })])
  const text = JSON.stringify({ ...shared, name: 'S\ufffdd' })
  const timers = virtualClock('2026-06-21T10:00:00Z')
  writeFileSync(paths.site_file, text)
  await assert.rejects(SiteWatch.open({ ...paths, timers }), /save the file as UTF-8/)
  writeFileSync(paths.accepted_file, text)
  const watch = await SiteWatch.open({ ...paths, timers })
  assert.deepEqual([watch.isRejected, watch.site.name], [true, 'S\ufffdd'])
})

const meter = `identity: { manufacturer: Acme, family: Meter }
meter:
  readings:
    active_power_kw: { address: 10, name: P, type: i32, unit: W }
`
const metered: Site = {
  ...whole,
  meters: [
    {
      meter_id: 1,
      name: 'Grid',
      role: 'grid_connection',
      connection: whole.connections[0]!.connection_id,
      unit_id: 77,
      driver: './profiles/my-meter.yaml',
    },
  ],
}

test('a profile beside the site file is read by its path, and a wrong one changes nothing', async (t) => {
  const { watch, write, told, problems, dir, reopened } = await watchOf(t)
  const own = join(dir, 'profiles', 'my-meter.yaml')
  const driver = () => watch.ownDriver('./profiles/my-meter.yaml')
  mkdirSync(dirname(own))
  const checked = async () => {
    await watch.check()
    await watch.check()
    return told.splice(0)
  }
  write(JSON.stringify(metered))
  assert.deepEqual(await checked(), ['rejected'])
  assert.match(problems.join(), /meters\[0\].driver: .*my-meter.yaml cannot be read/)
  writeFileSync(own, meter)
  assert.deepEqual(await checked(), ['accepted 2', 'mended'])
  const first = driver().revision
  assert.ok(first && driver().openMeter && !driver().openInverter)

  writeFileSync(own, meter.replace('type: i32', 'type: i33'))
  assert.deepEqual(await checked(), ['rejected'])
  assert.match(problems.join(), /my-meter.yaml:4:\d+: meter.readings.active_power_kw.type: /)
  assert.equal(driver().revision, first)
  const after = await reopened()
  assert.deepEqual(
    [after.isRejected, after.ownDriver('./profiles/my-meter.yaml').revision],
    [true, first],
  )

  writeFileSync(own, meter.replace('unit: W', 'unit: kW'))
  assert.deepEqual(await checked(), ['accepted 2', 'mended'])
  assert.notEqual(driver().revision, first)
})

test('a driver that does not read devices of the kind is refused', async (t) => {
  const { watch, write, told, problems } = await watchOf(t)
  for (const [driver, problem] of [
    ['sma', /meters\[0\].driver: sma reads no meters/],
    ['acme', /meters\[0\].driver: there is no driver 'acme'/],
  ] as const) {
    write(JSON.stringify({ ...metered, meters: [{ ...metered.meters![0]!, driver }] }))
    await watch.check()
    await watch.check()
    assert.deepEqual(told.splice(0), ['rejected'])
    assert.match(problems.join(), problem)
  }
})

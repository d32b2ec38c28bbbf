import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  watch.start({
    onAccepted: ({ loggers }: Site) => told.push(`accepted ${loggers[0]!.inverters.length}`),
    onRejected: () => told.push('rejected'),
    onMended: () => told.push('mended'),
  })
  t.after(() => watch.close())
  told.length = 0
  return {
    watch,
    write,
    told,
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

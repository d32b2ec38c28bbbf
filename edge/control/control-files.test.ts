import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test, { type TestContext } from 'node:test'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { pino } from 'pino'
import { Conditions } from '../conditions.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { virtualClock } from '../fixtures/virtual-clock.ts'
import { type ControlFiles, openControlFiles } from './control-files.ts'
import { sealPermitFile } from './permit-file.ts'

/** Unmistakable figures. */
const permit_kw = 73_519.642
const other_kw = 64_208.753
const figures = /73[_,]?5\d\d|64[_,]?2\d\d/

const oneSite = siteOf([inverterOf(1, { rated_ac_power_kw: permit_kw })])

function sealed(kw: number, logger_id = 1): string {
  const permit = { version: 1, site_id: 'demo', plants: [{ logger_id, permit_kw: kw }] }
  const result = sealPermitFile(JSON.stringify(permit))
  return 'text' in result ? result.text : assert.fail(result.problems.join())
}

async function placeOf(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-permit-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const permit_file = join(dir, 'permit.yaml')
  const events: LinkEvent[] = []
  let logged = ''
  const output = new Writable({
    write(chunk, _, done) {
      logged += chunk
      done()
    },
  })
  const clock = virtualClock('2026-06-21T10:00:00Z')
  const place = { site: oneSite as Site }
  const start = async () => {
    const files = await openControlFiles({
      config: { site_file: '', permit_file, data_dir: dir },
      clock,
      timers: clock,
      log: pino({ level: 'trace', base: null, timestamp: false }, output),
      conditions: await Conditions.open('/nonexistent/conditions.json'),
      source: { source_kind: 'edge', source_id: 'demo' },
      site: () => place.site,
      onEvent: (event) => event && events.push(event),
    })
    files.start()
    t.after(() => files.close())
    return files
  }
  return {
    dir,
    place,
    clock,
    start,
    write: (text: string) => writeFileSync(permit_file, text),
    remove: () => rmSync(permit_file),
    told: () => events.map(({ code, edge }) => `${code} ${edge}`),
    /** All that can leave the edge, but for instants: their digits may be anything. */
    leaving: () => `${JSON.stringify(events, (key, it) => (key === 'at' ? null : it))}${logged}`,
    events,
  }
}

const permitOf = (files: ControlFiles) => files.permit()?.plant_w.get(1) ?? null

/** Lets the file be looked at, and once more where it may be half written. */
const looks_ms = 7000

/** What it takes to look lies outside of virtual time. */
async function until(place: { clock: ReturnType<typeof virtualClock> }, holds: () => boolean) {
  for (let nth = 0; nth < 20_000 && !holds(); nth += 1) await place.clock.advance(looks_ms)
  assert.ok(holds())
}

test('without a file there is no permit, and that is no fault', async (t) => {
  const place = await placeOf(t)
  const files = await place.start()
  await place.clock.advance(looks_ms)
  assert.equal(files.permit(), null)
  assert.deepEqual(place.told(), [])
  place.write(sealed(permit_kw))
  await until(place, () => permitOf(files) === 73_519_642)
  assert.deepEqual(place.told(), [])
})

test('a file that is wrong at the first start gives no permit, and is told of', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw).replace('73519', '73520'))
  const files = await place.start()
  assert.equal(files.permit(), null)
  assert.deepEqual(place.told(), ['permit_file_rejected rising'])
  assert.match(
    place.events[0]!.message,
    /nothing is raised: permit\.yaml:1:\d+: checksum: does not/,
  )
  place.write(sealed(permit_kw))
  await until(place, () => permitOf(files) === 73_519_642)
  assert.deepEqual(place.told(), ['permit_file_rejected rising', 'permit_file_rejected falling'])
  assert.doesNotMatch(place.leaving(), figures)
})

test('what was accepted stays, whatever becomes of the file, and over a restart', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw))
  const first = await place.start()
  assert.equal(permitOf(first), 73_519_642)
  const copy = join(place.dir, 'accepted-permit.yaml')
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  const breaks = [sealed(other_kw).replace('64208', '64209'), '', '{', sealed(other_kw, 2)]
  for (const [nth, text] of breaks.entries()) {
    place.write(text)
    await until(place, () => place.leaving().split('permit file rejected').length === nth + 2)
    assert.equal(place.told().at(-1), 'permit_file_rejected rising')
    assert.equal(place.told().length, 2 * nth + 1)
    assert.equal(permitOf(first), 73_519_642, `break ${nth}`)
  }
  place.remove()
  await until(place, () => /cannot be read \(ENOENT\)/.test(place.events.at(-1)!.message))
  assert.equal(permitOf(first), 73_519_642)
  await first.close()

  const second = await place.start()
  assert.equal(permitOf(second), 73_519_642)
  assert.match(place.events.at(-1)!.message, /accepted last stays: permit\.yaml:cannot be read/)
  place.write(sealed(permit_kw))
  await until(place, () => place.told().at(-1) === 'permit_file_rejected falling')
  assert.doesNotMatch(place.leaving(), figures)
  assert.equal(place.told().filter((what) => what.startsWith('permit_changed')).length, 0)
})

test('a lower permit holds also while the disk takes no copy of it, a higher one does not', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw))
  const files = await place.start()
  const copy = join(place.dir, 'accepted-permit.yaml')
  rmSync(copy)
  mkdirSync(copy)
  place.write(sealed(other_kw))
  await until(place, () => place.told().at(-1) === 'permit_file_rejected rising')
  assert.equal(permitOf(files), 64_208_753)
  place.write(sealed(permit_kw + 1))
  for (let nth = 0; nth < 20; nth += 1) await place.clock.advance(looks_ms)
  assert.equal(permitOf(files), 64_208_753)
  // As it was accepted: of that, too, there is no copy now.
  place.write(sealed(permit_kw))
  for (let nth = 0; nth < 20; nth += 1) await place.clock.advance(looks_ms)
  assert.equal(permitOf(files), 64_208_753)
  rmdirSync(copy)
  await until(place, () => permitOf(files) === 73_519_642)
  assert.equal(place.told().at(-1), 'permit_file_rejected falling')
  place.write(sealed(other_kw))
  await until(place, () => place.told().includes('permit_changed once'))
  assert.equal(permitOf(files), 64_208_753)
  assert.doesNotMatch(place.leaving(), figures)
})

test('a change is accepted with an event, with figures in the control log alone', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw))
  const first = await place.start()
  place.write(sealed(other_kw))
  await until(place, () => place.told().length > 0)
  assert.equal(permitOf(first), 64_208_753)
  assert.deepEqual(place.told(), ['permit_changed once'])
  await first.close()
  place.write(sealed(permit_kw))
  const second = await place.start()
  assert.equal(permitOf(second), 73_519_642)
  assert.deepEqual(place.told(), ['permit_changed once', 'permit_changed once'])
  await second.close()
  assert.doesNotMatch(place.leaving(), figures)
  const dir = join(place.dir, 'control-log')
  const lines = readdirSync(dir).flatMap((name) =>
    readFileSync(join(dir, name), 'utf8').trim().split('\n'),
  )
  const permits = lines.map((line) => JSON.parse(line)).filter(({ is }) => is === 'permit_file')
  assert.deepEqual(
    permits.map(({ plants }) => plants[0].permit_w),
    [73_519_642, 64_208_753, 73_519_642],
  )
})

test('a permit waits for its plants, and outlives them', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw, 2))
  const files = await place.start()
  assert.equal(files.permit(), null)
  const [logger] = oneSite.loggers
  place.place.site = { ...oneSite, loggers: [logger!, { ...logger!, logger_id: 2 }] }
  await until(place, () => files.permit()?.plant_w.get(2) === 73_519_642)
  place.place.site = oneSite
  await until(place, () => place.told().length === 3)
  assert.equal(files.permit()?.plant_w.get(2), 73_519_642)
})

test('where the copy was damaged what was permitted last holds, and nothing is raised', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw))
  await (await place.start()).close()
  writeFileSync(
    join(place.dir, 'accepted-permit.yaml'),
    sealed(permit_kw).replace('73519', '93519'),
  )
  place.remove()
  const files = await place.start()
  assert.equal(permitOf(files), null)
  assert.deepEqual(files.permit()?.lapsed_w, new Map([[1, 73_519_642]]))
  assert.deepEqual(place.told(), ['control_state_lost once', 'permit_file_rejected rising'])
  assert.match(place.events[0]!.message, /lost: accepted-permit\.yaml cannot be understood/)
  assert.match(place.events[1]!.message, /, and nothing is raised: permit\.yaml:cannot be read/)
  place.write(sealed(permit_kw))
  await until(place, () => permitOf(files) === 73_519_642)
  assert.equal(place.told().at(-1), 'permit_file_rejected falling')
  assert.doesNotMatch(place.leaving(), figures)
})

test('a permit of which no copy can be kept is told of, and the agent starts all the same', async (t) => {
  const place = await placeOf(t)
  place.write(sealed(permit_kw))
  const config = { site_file: '', permit_file: join(place.dir, 'permit.yaml'), data_dir: place.dir }
  writeFileSync(join(place.dir, 'blocked'), '')
  const { PermitWatch } = await import('./permit-watch.ts')
  const watch = await PermitWatch.open({
    timers: place.clock,
    permit_file: config.permit_file,
    accepted_file: join(place.dir, 'blocked', 'accepted-permit.yaml'),
    last_file: join(place.dir, 'last-permits.json'),
    site: () => ({ site_id: 'demo', plants: new Map([[1, permit_kw]]), rated_kw: permit_kw }),
  })
  assert.equal(watch.permit?.plant_w.size, 0)
  assert.deepEqual(watch.permit?.lapsed_w, new Map([[1, 73_519_642]]))
  const problems: string[] = []
  watch.start({
    onAccepted: () => assert.fail('accepted'),
    onRejected: (found) => problems.push(...found),
    onMended: () => assert.fail('mended'),
  })
  t.after(() => watch.close())
  assert.match(problems.join(), /^its copy cannot be kept \(ENOTDIR\), so only/)
})

test('a state file that was lost is told of, once', async (t) => {
  const place = await placeOf(t)
  await (await place.start()).close()
  assert.deepEqual(place.told(), [])
  rmSync(join(place.dir, 'control-devices.json'))
  await (await place.start()).close()
  await (await place.start()).close()
  assert.deepEqual(place.told(), ['control_state_lost once'])
  assert.equal(place.events[0]!.message, 'What control knew is lost: control-devices.json is gone')
  writeFileSync(join(place.dir, 'control-devices.json'), `[[1,{"written_w":73519`)
  await (await place.start()).close()
  assert.equal(place.told().length, 2)
  assert.doesNotMatch(place.leaving(), figures)
})

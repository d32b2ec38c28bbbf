import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { LinkEvent, Readings } from '@heliograph/domain/link'
import type { Site } from '@heliograph/domain/site'
import { doorPath } from './commissioning/read-door.ts'
import { agentPlace } from './fixtures/agent-place.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'
import { SiteFileError } from './site-watch.ts'

async function placeOf(t: TestContext) {
  const place = await agentPlace(t)
  const { payloads } = place
  const all = () => payloads().filter(Array.isArray).flat() as LinkEvent[]
  const starts = () => all().filter(({ code }) => code === 'agent_started')
  // To timers that run twenty times as fast the disk of a busy machine hangs now and then.
  const others = ['agent_started', 'no_permit_entry', 'control_fault']
  const events = () => all().filter(({ code }) => !others.includes(code))
  const sites = () => payloads().filter((p) => (p as Site).site_id !== undefined) as Site[]
  const readings = () => payloads().filter((p) => (p as Readings).inverter) as Readings[]
  return { ...place, starts, events, sites, readings }
}

const site = siteOf([inverterOf(1)], { poll: { inverter_s: 0.2, logger_s: 0.2 } })

test('a wrong site file at the first start stops the agent before any device', async (t) => {
  const { write, start, driver } = await placeOf(t)
  write({ ...site, timezone: 'Nowhere' })
  await assert.rejects(start(), (error) => {
    assert.ok(error instanceof SiteFileError)
    assert.match(error.problems.join(), /^site\.yaml:1:\d+: timezone: 'Nowhere' is no time zone/)
    return true
  })
  assert.equal(driver.deviceAt(1).opened, 0)
})

test('readings, inventory and events reach the server, over restarts and site files', async (t) => {
  const { dir, server, write, start, starts, events, sites, readings } = await placeOf(t)
  write(site)
  const first = await start()
  await server.until(() => readings().length > 0 && sites().length === 1)
  assert.deepEqual(sites(), [site])
  await server.until(() => server.statuses.at(-1)?.devices[0]?.comm_state === 'connected')
  assert.ok(first.figures().link_connected)
  await assert.rejects(start(), /in use by another edge agent/)
  assert.ok(existsSync(doorPath(join(dir, 'data'))))

  const told = () => events().map(({ code, edge }) => `${code} ${edge}`)
  write({ ...site, loggers: [] })
  await server.until(() => told().includes('site_file_rejected rising'))
  assert.equal(first.figures().site_file_rejected, true)
  await first.stop()
  assert.ok(!existsSync(doorPath(join(dir, 'data'))))
  const kept = readFileSync(join(dir, 'data', 'accepted-site.yaml'), 'utf8')
  assert.deepEqual(JSON.parse(kept), site)

  const second = await start()
  const before = readings().length
  await server.until(() => readings().length > before)
  const grown = { ...site, name: 'Grown', loggers: [...site.loggers] }
  grown.loggers[0] = { ...site.loggers[0]!, inverters: [inverterOf(1), inverterOf(2)] }
  write(grown)
  await server.until(() => sites().length === 2 && told().includes('site_file_rejected falling'))
  const has = (id: number) => readings().some((r) => r.inverter?.rows.some((row) => row[0] === id))
  await server.until(() => has(2))
  assert.deepEqual(sites()[1], grown)
  assert.deepEqual(told(), ['site_file_rejected rising', 'site_file_rejected falling'])
  await second.stop()
  assert.deepEqual(readdirSync(join(dir, 'data', 'journal')), ['epoch-1'])

  const third = await start()
  const again = readings().length
  await server.until(() => readings().length > again)
  await third.stop()
  assert.equal(sites().length, 2, 'an inventory that the server has is not announced again')
  const [first_start, second_start] = starts()
  assert.deepEqual(
    [first_start!.details!['unclean'], second_start!.details!['unclean']],
    [null, false],
  )
  assert.ok((second_start!.details!['down_from_at'] as number) <= second_start!.at)
})

test('a server that comes back with an older inventory, or none, is told anew', async (t) => {
  const { server, write, start, sites } = await placeOf(t)
  write(site)
  await start()
  await server.until(() => sites().length === 1)
  const told = server.inventory!
  const comeBack = async (inventory: typeof server.inventory) => {
    const hellos = server.hellos.length
    server.inventory = inventory
    for (const socket of server.sockets) socket.terminate()
    await server.until(() => server.hellos.length > hellos)
  }
  await comeBack(null)
  await server.until(() => sites().length === 2)
  await comeBack(told)
  await server.until(() => sites().length === 3)
  await comeBack({ epoch: 'of another journal', seq: 7 })
  await server.until(() => sites().length === 4)
  assert.deepEqual(sites()[3], site)
  const statuses = server.statuses.length
  await comeBack(server.inventory)
  await server.until(() => server.statuses.length > statuses + 1)
  assert.equal(sites().length, 4)
})

test('a site file that moves instruments is told of, running and at the start', async (t) => {
  const { server, write, start, sites, logged } = await placeOf(t)
  const instrument = (sensor_id: 'POAI' | 'GHI') => ({
    sensor_id,
    name: sensor_id,
    type: 'pyranometer',
    point: `302[0].${sensor_id}`,
    quantity: sensor_id === 'GHI' ? 'ghi_w_m2' : 'poa_irradiance_w_m2',
  })
  const withInstruments = (...ids: ('POAI' | 'GHI')[]) => {
    const mast = { station_id: 1, name: 'Mast', connection: 'a', driver: 'sunspec', unit_id: 40 }
    const stations = [{ ...mast, instruments: ids.map(instrument) }]
    return { ...site, loggers: [{ ...site.loggers[0]!, stations }] }
  }
  const moved = () => logged.map((line) => JSON.parse(line)).filter((line) => line.positions)
  write(withInstruments('GHI'))
  const first = await start()
  write(withInstruments('GHI', 'POAI'))
  await server.until(() => sites().length === 2)
  assert.deepEqual(moved(), [])

  const ghi = 'GHI pyranometer ghi_w_m2'
  const poa = 'POAI pyranometer poa_irradiance_w_m2'
  write(withInstruments('POAI', 'GHI'))
  await server.until(() => sites().length === 3)
  assert.deepEqual(moved()[0]!['positions'], [
    { position: 0, was: ghi, now: poa },
    { position: 1, was: poa, now: ghi },
  ])
  await first.stop()
  const second = await start()
  assert.equal(moved().length, 1)
  await second.stop()
  write(withInstruments('POAI'))
  await start()
  assert.deepEqual(moved()[1]!['positions'], [{ position: 1, was: ghi, now: null }])
})

test('a clock that jumped is told, and marks readings until the server confirms it', async (t) => {
  const { wall, server, write, start, events, readings } = await placeOf(t)
  write(site)
  const qualities = (from: number) => [
    ...new Set(
      readings()
        .slice(from)
        .flatMap(({ inverter }) => inverter!.rows.map((row) => row[2])),
    ),
  ]
  const told = () =>
    events().map(({ code, edge, details }) => [code, edge, details?.['is_confirmed'] ?? null])
  const first = await start()
  await server.until(() => readings().length > 2)
  assert.deepEqual(qualities(0), ['good'])

  const day_ms = 86_400_000
  wall.ahead_ms = day_ms
  await server.until(() => told().length === 2)
  assert.deepEqual(told(), [
    ['clock_jumped', 'once', false],
    ['clock_untrusted', 'rising', null],
  ])
  assert.ok(Math.abs((events()[0]!.details!['jump_ms'] as number) - day_ms) < 1000)
  const wrong = readings().length
  await server.until(() => readings().length > wrong + 1)
  assert.deepEqual(qualities(wrong + 1), ['suspect'])
  await first.stop()

  const before = readings().length
  const second = await start()
  await server.until(() => readings().length > before + 1)
  assert.deepEqual(qualities(before), ['suspect'], 'over a restart too')
  wall.ahead_ms = 0
  await server.until(() => told().length === 4)
  assert.deepEqual(told().slice(2), [
    ['clock_jumped', 'once', true],
    ['clock_untrusted', 'falling', null],
  ])
  const right = readings().length
  await server.until(() => readings().length > right + 1)
  assert.deepEqual(qualities(right + 1), ['good'])
  await second.stop()
})

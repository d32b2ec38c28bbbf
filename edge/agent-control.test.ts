import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { CurtailmentRow, RowReport } from '@heliograph/domain/curtailment'
import type { Readings } from '@heliograph/domain/link'
import { askToForget, openRequests } from './control/limit-requests.ts'
import { sealPermitFile } from './control/permit-file.ts'
import { agentPlace } from './fixtures/agent-place.ts'
import { makeLimitable } from './fixtures/driver.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'

const permit_w = 61_234
const site = siteOf([inverterOf(1)], { poll: { inverter_s: 0.2, logger_s: 0.2 } })

async function placeOf(t: TestContext) {
  const place = await agentPlace(t)
  const { server, driver, payloads } = place
  place.write(site)
  place.writePermit({ site_id: site.site_id, permit_w })
  const device = driver.deviceAt(1)
  makeLimitable(device, (limit_w) => {
    device.values['power_limit_pct'] = limit_w / 1000
    device.values['ac_power_kw'] = limit_w / 1000
  })
  const reports = () =>
    payloads()
      .filter(Array.isArray)
      .flat()
      .filter((one) => one.row) as RowReport[]
  /** The newest reading's value. */
  const reading = (name: string) => {
    const table = payloads()
      .map((payload) => (payload as Readings).inverter)
      .findLast((inverter) => inverter !== undefined)
    return table?.rows.at(-1)?.[table.columns.indexOf(name)]
  }
  const desire = (rows: CurtailmentRow[]) =>
    server.sockets.at(-1)!.send(JSON.stringify({ type: 'desired', rows }))
  return { ...place, device, reports, reading, desire }
}

test('a row comes over the link, goes to the device, and its reports go back', async (t) => {
  const { server, device, start, reports, reading, desire } = await placeOf(t)
  const agent = await start()
  await server.until(() => reading('limited_by') === 'permit')
  assert.equal(device.limit?.limit_w, permit_w)
  assert.equal(reading('power_limit_pct'), permit_w / 1000)

  const now = Date.now()
  const row: CurtailmentRow = {
    group_id: '0193a1de-0000-7000-8000-000000000001',
    logger_id: 1,
    start_at: now,
    end_at: now + 3_600_000,
    max_power_kw: 20,
    released_at: null,
  }
  desire([row])
  await server.until(() => reports().some(({ verified_at }) => verified_at !== null))
  assert.equal(device.limit?.limit_w, 20_000)
  await server.until(() => reading('limited_by') === 'curtailment')
  assert.equal(reading('power_limit_pct'), 20)

  await agent.stop()
  await start()
  await server.until(() => server.hellos.length === 2)
  desire([{ ...row, released_at: Date.now() }])
  await server.until(() => reports().some(({ restored_at }) => restored_at !== null))
  assert.equal(device.limit?.limit_w, permit_w)
  await server.until(() => reading('limited_by') === 'permit')
  assert.equal(reading('power_limit_pct'), permit_w / 1000)
})

test("a limit that an operator says is nobody's is forgotten, by an agent that runs or starts", async (t) => {
  const { dir, server, device, start } = await placeOf(t)
  const data_dir = join(dir, 'data')
  const ask = (external_w: number) =>
    askToForget(data_dir, {
      request_id: randomUUID(),
      inverter_id: 1,
      external_w,
      asked_at: Date.now(),
      asked_by: 'operator',
    })
  device.limit = { limit_w: 20_000, static_max_w: 100_000, revert: null }
  device.values['ac_power_kw'] = 7
  const agent = await start()
  await server.until(() => isSaved(data_dir, 20_000))
  assert.equal(device.limit.limit_w, 20_000)
  await ask(20_000)
  await server.until(() => device.limit?.limit_w === permit_w)
  device.limit = { ...device.limit, limit_w: 10_000 }
  device.values['ac_power_kw'] = 7
  await server.until(() => isSaved(data_dir, 10_000))
  assert.equal(device.limit.limit_w, 10_000)
  await agent.stop()
  await ask(10_000)
  assert.equal((await openRequests(data_dir)).length, 1)
  const again = await start()
  await server.until(() => device.limit?.limit_w === permit_w)
  await again.stop()
  assert.deepEqual(await openRequests(data_dir), [])
})

test('an agent stops while the disk of control hangs, and journals what was measured', async (t) => {
  const { dir, server, device, start, logged, payloads } = await placeOf(t)
  const agent = await start({ stop_ms_max: 20_000 })
  await server.until(() => device.limit?.limit_w === permit_w)
  // Whoever opens it to write waits for one who reads. It cannot be made while it is being saved.
  const pipe = join(dir, 'data', 'control-devices.json.new')
  await server.until(() => spawnSync('mkfifo', [pipe]).status === 0)
  device.limit = { ...device.limit!, limit_w: 10_000 }
  device.values['ac_power_kw'] = 7
  const has = (code: string) => payloads().some((p) => JSON.stringify(p).includes(code))
  await server.until(() => has('control_contention'))
  assert.equal(await agent.stop(), false)
  closeSync(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
  assert.match(logged.join(''), /the disk of control hangs: ending without waiting for it/)
  assert.match(readFileSync(join(dir, 'data', 'run.json'), 'utf8'), /stopped/)
})

const isSaved = (data_dir: string, external_w: number) =>
  readFileSync(join(data_dir, 'control-devices.json'), 'utf8').includes(
    `"external_w":${external_w}`,
  )

test('the permit and its changes are in the control log', async (t) => {
  const place = await placeOf(t)
  const { dir, permit_file, server, device, start, reading, payloads, logged } = place
  device.values['ac_power_kw'] = 7
  const { control } = device
  device.control = {
    ...control!,
    async writeLimit(limit_w) {
      device.limit = { ...device.limit!, limit_w }
      device.values['power_limit_pct'] = limit_w / 1000
    },
  }
  const agent = await start()
  await server.until(() => reading('limited_by') === 'permit')
  const has = (code: string) => payloads().some((p) => JSON.stringify(p).includes(code))
  const sealed = readFileSync(permit_file, 'utf8')
  writeFileSync(permit_file, sealed.replace('61.234', '61.235'))
  await server.until(() => has('permit_file_rejected'))
  const plants = [{ logger_id: 1, permit_kw: 61.233 }]
  const next = sealPermitFile(JSON.stringify({ version: 1, site_id: site.site_id, plants }))
  assert.ok('text' in next)
  writeFileSync(permit_file, next.text)
  await server.until(() => has('permit_changed'))
  await server.until(() => device.limit?.limit_w === 61_233)
  await agent.stop()
  assert.match(logged.join(''), /permit accepted/)
  const log_dir = join(dir, 'data', 'control-log')
  const log = readdirSync(log_dir).map((name) => readFileSync(join(log_dir, name), 'utf8'))
  for (const what of [/"is":"started"/, /"permit_w":61234/, /"permit_w":61233/, /"is":"order"/]) {
    assert.match(log.join(''), what)
  }
})

import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import type { Site } from '@heliograph/domain/site'
import { agentPlace } from '../fixtures/agent-place.ts'
import { makeLimitable } from '../fixtures/driver.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { doorLines } from './door-lines.ts'
import type { TestRow } from './test-row.ts'
import { trialDoorPath } from './trial-door.ts'
import { type TriedLimit, trialRows } from './try-limit.ts'
import { limitedDevices, tryLimits } from './try-limits.ts'

const site = siteOf([inverterOf(1), inverterOf(2)], { poll: { inverter_s: 0.2, logger_s: 0.2 } })
site.loggers[0]!.rated_power_kw = 200
const share_w = 60_000

/** An agent that holds two inverters to half of 120 kW each. */
async function placeOf(t: TestContext, { obeys = true } = {}) {
  const place = await agentPlace(t)
  place.write(site)
  place.writePermit({ site_id: site.site_id, permit_w: 2 * share_w })
  const data_dir = join(place.dir, 'data')
  const limits: number[][] = [[], []]
  const hooks = { onLower() {} }
  let running: Awaited<ReturnType<typeof place.start>> | null = null
  const devices = [1, 2].map((unit_id, nth) => {
    const device = place.driver.deviceAt(unit_id)
    device.values['ac_power_kw'] = share_w / 1000
    makeLimitable(device, (limit_w) => {
      limits[nth]!.push(limit_w)
      if (limit_w < share_w) hooks.onLower()
      if (obeys || limit_w >= share_w) device.values['ac_power_kw'] = limit_w / 1000
    })
    return device
  })
  const start = async () => {
    const agent = await place.start()
    running = agent
    await until(() => devices.every(({ limit }) => limit?.limit_w === share_w))
    return agent
  }
  const tried = (
    options: {
      here?: Site
      signal?: AbortSignal
      agree?(): Promise<boolean>
      onBegin?(): void
    } = {},
  ) => {
    hooks.onLower = options.onBegin ?? (() => {})
    return tryLimits({
      site: options.here ?? site,
      edge: { data_dir, site, connectionsTo: async () => [] },
      stopwatch: systemStopwatch,
      timers: systemTimers,
      asked_by: 'tester',
      signal: options.signal ?? new AbortController().signal,
      named: null,
      agree: async (device) => device === 'I1' && (await (options.agree?.() ?? true)),
      onDevice: () => {},
    })
  }
  return { ...place, data_dir, limits, devices, start, tried, agent: () => running! }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise(setImmediate)
}

const resultsOf = (tried: TriedLimit) =>
  trialRows(tried).map(({ test: name, result, reason }: TestRow) => [name, result, reason])

test('a limit is tried at the devices that a person named, and given back', async (t) => {
  const { limits, devices, start, tried, data_dir } = await placeOf(t)
  await start()
  assert.equal(statSync(trialDoorPath(data_dir)).mode & 0o777, 0o600)
  const [first, second] = await tried()
  assert.deepEqual(limits[0]!.slice(-2), [share_w / 2, share_w])
  assert.ok(limits[1]!.every((w) => w === share_w))
  assert.deepEqual([first!.limit_kw, first!.found_kw, first!.power_before_kw], [30, 60, 60])
  assert.deepEqual(resultsOf(first!), [
    ['time until a tried limit is read back', 'passed', null],
    ['time until the power is within a tried limit', 'passed', null],
    ['time until the limit is as it was found', 'passed', null],
  ])
  assert.deepEqual(resultsOf(second!), [['trial of a limit', 'not_judged', 'nobody agreed to it']])
  assert.equal(devices[0]!.limit?.limit_w, share_w)
})

test('a trial ends with its command or with the agent, and control gives the limit back', async (t) => {
  const { devices, limits, start, data_dir } = await placeOf(t)
  const agent = await start()
  const begin = async () => {
    const lines = doorLines(trialDoorPath(data_dir))
    const request = { is: 'begin', inverter_id: 1, limit_w: 10_000, asked_by: 'tester' }
    let answer = JSON.parse(await lines.ask(request))
    while ('refused' in answer) answer = JSON.parse(await lines.ask(request))
    assert.equal(answer.found_w, share_w)
    await until(() => devices[0]!.limit?.limit_w === 10_000)
    return lines
  }
  const killed = await begin()
  killed.close()
  await until(() => devices[0]!.limit?.limit_w === share_w)

  await begin()
  await agent.stop()
  assert.equal(devices[0]!.limit?.limit_w, 10_000)
  await start()
  assert.ok(limits.flat().every((w) => w <= share_w))
})

test('nothing waits at the edge for a person, and an end in between is not called a failure', async (t) => {
  const { start, tried, data_dir, limits, agent } = await placeOf(t)
  await start()
  const clients_max = 4
  let is_asked = false
  const interrupt = new AbortController()
  const [interrupted] = await tried({
    signal: interrupt.signal,
    async agree() {
      // A connection that the command held would be one too many.
      const all = Array.from({ length: clients_max }, () => doorLines(trialDoorPath(data_dir)))
      const look = { is: 'look', inverter_id: 1 }
      const answers = await Promise.all(all.map((lines) => lines.ask(look)))
      assert.ok(
        answers.every((answer) => 'view' in JSON.parse(answer)),
        String(answers),
      )
      for (const lines of all) lines.close()
      // The edge of this process sees that they are gone.
      for (let nth = 0; nth < 20; nth += 1) await new Promise(setImmediate)
      is_asked = true
      return true
    },
    onBegin: () => interrupt.abort(),
  })
  assert.ok(is_asked)
  assert.equal(interrupted!.not_tried, null)
  const results = resultsOf(interrupted!).map(([, result]) => result)
  assert.ok(!results.includes('failed'), String(resultsOf(interrupted!)))
  await until(() => limits[0]!.at(-1) === share_w)

  const [lost] = await tried({ onBegin: () => void agent().stop() })
  assert.deepEqual([lost!.not_tried, lost!.limit_kw], [null, 30])
  assert.match(lost!.over!, /closed the connection/)
})

test('a name that two devices have is no agreement', async (t) => {
  const { start, tried, limits } = await placeOf(t)
  await start()
  const before = limits.flat().length
  const twins = structuredClone(site)
  twins.loggers[0]!.inverters[1]!.name = 'I1'
  for (const one of await tried({ here: twins })) {
    assert.equal(one.not_tried, 'another device has the same name')
  }
  assert.equal(limits.flat().length, before)
})

test('what is not as the site file says, or no request, is refused', async (t) => {
  const { start, tried, data_dir, limits } = await placeOf(t)
  await start()
  const moved = structuredClone(site)
  moved.loggers[0]!.inverters[0]!.unit_id = 9
  const [first] = await tried({ here: moved })
  assert.match(first!.not_tried!, /another device of this name/)
  const ended = await tried({ signal: AbortSignal.abort() })
  assert.deepEqual(
    ended.map(({ not_tried }) => not_tried),
    ['the trial was ended', 'the trial was ended'],
  )
  const send = async (text: string) => {
    const socket = net.connect(trialDoorPath(data_dir)).setEncoding('utf8')
    let answer = ''
    socket.on('data', (piece: string) => {
      answer += piece
    })
    socket.write(text)
    await new Promise((resolve) => socket.on('close', resolve))
    return answer
  }
  const begin = { is: 'begin', inverter_id: 1, limit_w: 10_000, asked_by: 'tester' }
  const wrong = [
    'hello',
    'null',
    'x'.repeat(2000),
    JSON.stringify({ ...begin, limit_w: -1 }),
    JSON.stringify({ ...begin, asked_by: 'a\nb' }),
    JSON.stringify({ ...begin, more: 1 }),
  ]
  for (const text of wrong) assert.match(await send(`${text}\n`), /no request for a trial/, text)
  const before = limits.flat().length
  const lines = doorLines(trialDoorPath(data_dir))
  t.after(() => lines.close())
  const refused = JSON.parse(await lines.ask({ ...begin, limit_w: share_w }))
  assert.match(refused.refused, /below the one that holds/)
  assert.equal(limits.flat().length, before)
})

test('an inverter behind the controller of its plant has no limit of its own to try', () => {
  const [logger] = site.loggers
  const controller = { connection: 'a', unit_id: 99, driver: 'huawei_smartlogger' }
  const controlled = siteOf([], { loggers: [{ ...logger!, controller }] })
  const idsOf = (of: Site) => limitedDevices(of).map((one) => [one.device, one.inverter_id])
  const both = [
    ['I1', 1],
    ['I2', 2],
  ]
  assert.deepEqual(idsOf(site), both)
  assert.deepEqual(idsOf(controlled), [['Controller of L', -1]])
})

const measured: TriedLimit = {
  device: 'I1',
  not_tried: null,
  limit_kw: 30,
  found_kw: 60,
  power_before_kw: 60,
  power_most_kw: 32,
  read_back_s: 1,
  power_s: 3,
  returned_s: 2,
  declared_s: 5,
  target_kw: 60,
  not_as_set: null,
  over: null,
}

test('a trial fails by what was not reached or too late, and not where control ended it', () => {
  assert.deepEqual(
    resultsOf({ ...measured, read_back_s: 21, power_s: null, returned_s: null }).map(
      ([, ...rest]) => rest,
    ),
    [
      ['failed', 'later than the declared latency and ramp allow'],
      ['failed', 'the power did not come down to 30 kW'],
      ['failed', '60 kW was not read back, which it had before'],
    ],
  )
  const over = resultsOf({ ...measured, power_s: null, returned_s: null, over: 'an order came' })
  assert.deepEqual(
    over.map(([, result]) => result),
    ['passed', 'not_judged', 'not_judged'],
  )
  const low = resultsOf({ ...measured, power_most_kw: null, power_s: null })
  const too_low = 'the power before was too low to show the limit'
  assert.deepEqual(low[1]!.slice(1), ['not_judged', too_low])
  const lower = resultsOf({ ...measured, target_kw: 40, returned_s: null })
  assert.deepEqual(lower[2]!.slice(1), ['not_judged', 'control leaves it 40 kW by now'])
  const not_as_set = 'I1 was set to 30 kW and holds 28 kW'
  const rounded = resultsOf({ ...measured, target_kw: 28, returned_s: null, not_as_set })
  assert.deepEqual(rounded[2]!.slice(1), ['failed', not_as_set])
})

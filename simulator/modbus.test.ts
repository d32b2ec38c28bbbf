/** The simulated devices over real sockets, read by masters that are not ours. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Connection } from '@heliograph/domain/site'
import { decode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import { stOf } from '@heliograph/domain/sunspec/states'
import { freePort } from '../test/end-to-end/programs.ts'
import { initialCounters } from './counters.ts'
import type { Fault } from './faults.ts'
import { smallSite } from './fixtures/site.ts'
import { serveModbus } from './modbus.ts'
import { createPlant } from './plant.ts'
import { createSimulation } from './site.ts'

const run = promisify(execFile)
const silent = { debug() {}, warn() {} }
const noon = new Date('2026-06-20T11:00:00Z')
const clock = { now: () => noon }

async function served(t: TestContext, faults: Fault[] = []) {
  const port = await freePort()
  const field = { ...smallSite.connections[0]!, port } as Connection
  const site = { ...smallSite, connections: [field] }
  const counters = initialCounters(site, noon.getTime())
  const plant = createPlant(createSimulation(site, 3), counters, { clock, faults })
  const { close } = await serveModbus(plant, silent)
  t.after(close)
  return { plant, port }
}

const mbpoll = '/usr/bin/mbpoll'
const needsMbpoll = existsSync(mbpoll) ? false : "LEFT OUT: Debian's mbpoll is not installed"
const pymodbus = '/usr/lib/python3/dist-packages/pymodbus'
const needsPymodbus = existsSync(pymodbus)
  ? false
  : "LEFT OUT: Debian's python3-pymodbus is not installed"

const script = new URL('./fixtures/read_holding.py', import.meta.url).pathname

async function pyRead(port: number, unit: number, address: number, count: number) {
  const numbers = [port, unit, address, count].map(String)
  const { stdout } = await run('/usr/bin/python3', [script, '127.0.0.1', ...numbers])
  return Uint16Array.from(stdout.trim().split(/\s+/).map(Number))
}

test('mbpoll reads the SunSpec marker and the common model', { skip: needsMbpoll }, async (t) => {
  const { port } = await served(t)
  const { stdout } = await run(mbpoll, [
    '-m',
    'tcp',
    '-p',
    String(port),
    '-a',
    '1',
    '-0',
    '-r',
    '40000',
    '-c',
    '4',
    '-1',
    '-t',
    '4:hex',
    '127.0.0.1',
  ])
  const registers = [...stdout.matchAll(/\[\d+\]:\s+0x([0-9A-F]{4})/g)].map(([, hex]) => hex)
  assert.deepEqual(registers, ['5375', '6E53', '0001', '0042'])
})

test('pymodbus walks the chain of an inverter', { skip: needsPymodbus }, async (t) => {
  const { port, plant } = await served(t)
  const chain: number[] = []
  let address = 40_002
  for (;;) {
    const [id = 0, length = 0] = await pyRead(port, 1, address, 2)
    if (id === 0xffff) break
    chain.push(id)
    if (id === 103) {
      const { values } = decode(models[103], await pyRead(port, 1, address, length + 2))
      const { ac_power_kw, state } = plant.snapshot().inverters[0]!
      assert.ok(Math.abs(values.W! / 1000 - ac_power_kw) <= 0.01)
      assert.equal(values.St, stOf(state))
    }
    address += length + 2
  }
  assert.deepEqual(chain, [1, 103, 120, 121, 122, 123, 160, 403])
})

test('a missing unit or register is refused', { skip: needsPymodbus }, async (t) => {
  const { port } = await served(t)
  await assert.rejects(pyRead(port, 9, 40_000, 2), /refused/)
  await assert.rejects(pyRead(port, 1, 39_999, 2), /refused/)
})

test('counters wrap with their register', async () => {
  const { meterModel } = await import('./devices/sunspec.ts')
  const simulation = createSimulation(smallSite, 3)
  const counters = initialCounters(smallSite, noon.getTime())
  counters.export_kwh = (2 ** 32 * 10 + 50) / 1000
  const image = meterModel(smallSite, simulation.at(0), counters)
  const { values } = decode(models[203], image)
  assert.equal(values.TotWhExp, 50)
})

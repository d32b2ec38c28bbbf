import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import { openBus } from '../bus/bus.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { createDoorBus } from './door-bus.ts'
import { freePort, serveFleet, sunspecUnit } from './fixtures/fleet.ts'
import { doorPath, openReadDoor } from './read-door.ts'

const host = '127.7.8.1'
const marker = [0x5375, 0x6e53]

async function placeOf(t: TestContext) {
  const data_dir = mkdtempSync(join(tmpdir(), 'heliograph-door-'))
  t.after(() => rmSync(data_dir, { recursive: true, force: true }))
  const port = await freePort()
  const units = { 1: sunspecUnit('SN-1'), 2: sunspecUnit('SN-2') }
  const fleet = await serveFleet(t, [{ host, port, units, others: 'nobody' }])
  const connection = { connection_id: 'main', protocol: 'modbus_tcp', host, port } as const
  const site = siteOf([inverterOf(1, { connection: 'main' })], { connections: [connection] })
  const bus = openBus(connection, { timers: systemTimers, random: () => 0 })
  t.after(() => bus.close())
  const open = async () => {
    const door = await openReadDoor({
      data_dir,
      timers: systemTimers,
      site: () => site,
      busOf: (id) => (id === 'main' ? bus : null),
    })
    t.after(() => door.close())
    return door
  }
  const client = (connection_id = 'main') => {
    const reads = createDoorBus(connection_id, { data_dir, timers: systemTimers })
    t.after(() => reads.close())
    return reads
  }
  /** Sends these bytes and returns what comes until the door closes the connection. */
  const send = async (bytes: string | Buffer) => {
    const socket = net.connect(doorPath(data_dir)).setEncoding('utf8')
    let answer = ''
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', () => {})
    socket.write(bytes)
    await new Promise((resolve) => socket.on('close', resolve))
    return answer
  }
  return { data_dir, bus, fleet, open, client, send }
}

test('commands read over the connection of the edge, and only units that it polls', async (t) => {
  const { data_dir, bus, fleet, open, client } = await placeOf(t)
  await open()
  assert.equal(statSync(doorPath(data_dir)).mode & 0o777, 0o600)
  await bus.readHoldingRegisters(1, 40_000, 2)
  const reads = client()
  const [words] = await Promise.all([
    reads.readHoldingRegisters(1, 40_000, 2),
    reads.readHoldingRegisters(1, 40_002, 2),
  ])
  assert.deepEqual([...words], marker)
  const refused = { kind: 'exception', exception_code: 2 }
  await assert.rejects(reads.readInputRegisters(1, 40_000, 2), refused)
  await assert.rejects(reads.readHoldingRegisters(1, 7, 1), refused)
  await assert.rejects(reads.writeRegisters(1, 40_000, [1]), /only read/)
  assert.equal(fleet.connections_max(), 1)
  assert.deepEqual([...fleet.asked.keys()].toSorted(), [3, 4])
  const nobody = { kind: 'closed', message: /polls no unit/ }
  await assert.rejects(client().readHoldingRegisters(2, 40_000, 2), nobody)
  await assert.rejects(client('other').readHoldingRegisters(1, 40_000, 2), nobody)
})

test('garbage is answered with an error, and others read on', async (t) => {
  const { open, client, send, data_dir } = await placeOf(t)
  await open()
  const reads = client()
  await reads.readHoldingRegisters(1, 40_000, 2)
  const read = { connection: 'main', unit_id: 1, table: 'holding', address: 40_000, count: 2 }
  const wrong = [
    'hello\n',
    '\n',
    'null\n',
    Buffer.from([0xff, 0x00, 0x80, 0x0a]),
    'x'.repeat(2000),
    `${JSON.stringify({ ...read, count: 126 })}\n`,
    `${JSON.stringify({ ...read, address: 65_535 })}\n`,
    `${JSON.stringify({ ...read, table: 'coil' })}\n`,
    `${JSON.stringify({ ...read, values: [1] })}\n`,
  ]
  for (const bytes of wrong) {
    const { error } = JSON.parse(await send(bytes))
    assert.equal(error.kind, 'closed', String(bytes).slice(0, 80))
  }
  await send('x'.repeat(1_000_000))
  net.connect(doorPath(data_dir)).on('connect', function leave(this: net.Socket) {
    this.write(`${JSON.stringify(read)}\n`)
    this.destroy()
  })
  assert.deepEqual([...(await reads.readHoldingRegisters(1, 40_000, 2))], marker)
})

test('more clients than it takes are refused, and the others are served', async (t) => {
  const { open, client } = await placeOf(t)
  await open()
  const clients = Array.from({ length: 8 }, () => client())
  await Promise.all(clients.map((one) => one.readHoldingRegisters(1, 40_000, 2)))
  const closed = { kind: 'closed', message: /8 commands/ }
  await assert.rejects(client().readHoldingRegisters(1, 40_000, 2), closed)
  await clients[0]!.close()
  assert.deepEqual([...(await clients[1]!.readHoldingRegisters(1, 40_000, 2))], marker)
})

test('the socket of a killed edge is replaced, and none is left at the end', async (t) => {
  const { data_dir, open, client } = await placeOf(t)
  const left = net.createServer().listen(doorPath(data_dir))
  await once(left, 'listening')
  t.after(() => left.close())
  const door = await open()
  const reads = client()
  assert.deepEqual([...(await reads.readHoldingRegisters(1, 40_000, 2))], marker)
  const waiting = assert.rejects(reads.readHoldingRegisters(1, 40_000, 2), { kind: 'closed' })
  await Promise.all([door.close(), waiting])
  assert.ok(!existsSync(doorPath(data_dir)))
  await assert.rejects(client().readHoldingRegisters(1, 40_000, 2), { kind: 'closed' })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { queryObjects } from 'node:v8'
import { systemTimers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import type { Bus } from '../drivers/driver.ts'
import { openBus } from './bus.ts'
import { BusError } from './bus-error.ts'
import {
  createRawDevice,
  type RawBehaviour,
  type RawDevice,
  rtuAnswer,
  rtuException,
  tcpAnswer,
  tcpException,
} from './fixtures/raw-device.ts'
import { openLine } from './line.ts'

/** Twenty times as fast as the clock on the wall: a second of rest is fifty milliseconds. */
const timers = {
  after: (delay_ms: number, callback: () => void) => systemTimers.after(delay_ms / 20, callback),
}
const protocols = { tcp: 'modbus_tcp', rtu: 'rtu_over_tcp' } as const

async function open(t: TestContext, behaviour: RawBehaviour): Promise<[Bus, RawDevice]> {
  const device = await createRawDevice(behaviour)
  const bus = openBus(
    {
      connection_id: 'main',
      protocol: protocols[behaviour.framing],
      host: '127.0.0.1',
      port: device.port,
      timeout_ms: 4000,
    },
    { timers, random: () => 0 },
  )
  t.after(async () => {
    await bus.close()
    await device.close()
  })
  return [bus, device]
}

/** Asks again until the unit rests no more. */
async function readWhenRested(bus: Bus, unit_id: number, count: number): Promise<number[]> {
  for (;;) {
    try {
      return [...(await bus.readHoldingRegisters(unit_id, 0, count))]
    } catch (error) {
      if (!(error instanceof BusError) || !error.message.startsWith('not asked again')) throw error
      await turn()
    }
  }
}

const answers = { tcp: tcpAnswer, rtu: rtuAnswer }
const exceptions = { tcp: tcpException, rtu: rtuException }

for (const framing of ['tcp', 'rtu'] as const) {
  const answer = answers[framing]
  const exception = exceptions[framing]

  test(`${framing}: answers arrive in one piece or byte by byte`, async (t) => {
    const [bus] = await open(t, {
      framing,
      async onRequest(request, send) {
        const frame = answer(request, request.address)
        if (request.unit_id === 1) return send(frame)
        for (const byte of frame) {
          send(Buffer.of(byte))
          await turn()
        }
      },
    })
    assert.deepEqual([...(await bus.readHoldingRegisters(1, 7, 3))], [7, 7, 7])
    assert.deepEqual([...(await bus.readHoldingRegisters(2, 8, 125))], Array(125).fill(8))
    assert.deepEqual([...(await bus.readHoldingRegisters(1, 0xffff, 1))], [0xffff])
  })

  test(`${framing}: exceptions are errors with their code`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onRequest: (request, send) => send(exception(request, request.address)),
    })
    for (const code of [1, 2, 3, 4, 5, 6, 7, 8, 10, 11]) {
      const reading = bus.readHoldingRegisters(code, code, 1)
      await assert.rejects(reading, { kind: 'exception', exception_code: code })
    }
    assert.equal(device.connections, 1)
  })

  test(`${framing}: a late answer is never taken for the next one`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onConnect: (send) => {
        // What the device server still had of the answer that came too late.
        if (device?.requests[0]) send(answer(device.requests[0], 666))
      },
      onRequest: (request, send) => {
        const [first] = device.requests
        if (request === first) return
        if (framing === 'tcp' && first) send(answer(first, 666))
        send(answer(request, 42))
      },
    })
    const late = bus.readHoldingRegisters(1, 0, 2)
    await assert.rejects(late, { kind: 'timeout' })
    assert.deepEqual([...(await bus.readHoldingRegisters(2, 0, 2))], [42, 42])
    assert.deepEqual(await readWhenRested(bus, 1, 2), [42, 42])
  })

  test(`${framing}: registers are written, several or one by one`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onRequest: (request, send) =>
        send(request.unit_id === 9 ? exception(request, 4) : answer(request, 0)),
    })
    const many = Array.from({ length: 123 }, (_, nth) => 0xffff - nth)
    await bus.writeRegisters(1, 40_232, [500])
    await bus.writeRegisters(1, 7, Uint16Array.from(many))
    await bus.writeRegisters(1, 40_236, [1], { single: true })
    const written = device.requests.map(({ function_code, address, values }) => [
      function_code,
      address,
      values,
    ])
    assert.deepEqual(written, [
      [16, 40_232, [500]],
      [16, 7, many],
      [6, 40_236, [1]],
    ])
    for (const single of [false, true]) {
      const writing = bus.writeRegisters(9, 0, [1], { single })
      await assert.rejects(writing, { kind: 'exception', exception_code: 4 })
    }
    assert.equal(device.connections, 1)
  })

  test(`${framing}: a late confirmation is never taken for a later write`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onConnect: (send) => {
        if (device?.requests[0]) send(answer(device.requests[0], 0))
      },
      onRequest: (request, send) => {
        const [first] = device.requests
        if (request === first) return
        if (framing === 'tcp' && first) send(answer(first, 0))
        // Only the first was done: what is confirmed after it is refused in truth.
        send(exception(request, 3))
      },
    })
    await assert.rejects(bus.writeRegisters(1, 5, [100]), { kind: 'timeout' })
    const second = bus.writeRegisters(2, 5, [100])
    await assert.rejects(second, { kind: 'exception', exception_code: 3 })
  })

  test(`${framing}: a confirmation of other registers is no confirmation`, async (t) => {
    const [bus] = await open(t, {
      framing,
      onRequest: (request, send) => {
        const other = request.unit_id === 1 ? { address: 6 } : { count: 99 }
        send(answer({ ...request, ...other }, 0))
      },
    })
    for (const [unit_id, single] of [
      [1, false],
      [2, false],
      [3, true],
    ] as const) {
      const writing = bus.writeRegisters(unit_id, 5, [100], { single })
      await assert.rejects(writing, { kind: 'garbled' })
    }
  })

  test(`${framing}: a garbled answer is an error, and the next one is read correctly`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onRequest: (request, send) => {
        const frame = answer(request, 5)
        // Over TCP another unit answers; over RTU a bit was lost on the way.
        const at = framing === 'tcp' ? 6 : 4
        if (device.requests.length === 1) frame[at] = frame[at]! ^ 0x10
        send(frame)
      },
    })
    await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'garbled' })
    assert.deepEqual([...(await bus.readHoldingRegisters(2, 0, 2))], [5, 5])
    assert.deepEqual(await readWhenRested(bus, 1, 2), [5, 5])
    assert.equal(device.connections, 2)
  })

  test(`${framing}: a connection closed by the device is reported at once`, async (t) => {
    const [bus, device] = await open(t, {
      framing,
      onRequest: (request, send, socket) => {
        if (device.requests.length === 1) socket.destroy()
        else send(answer(request, 5))
      },
    })
    await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'disconnected' })
    assert.deepEqual(await readWhenRested(bus, 1, 2), [5, 5])
    assert.equal(device.connections, 2)
  })
}

test('rtu: unrequested bytes are no answer', async (t) => {
  const [bus, device] = await open(t, {
    framing: 'rtu',
    onConnect: (send) => {
      if (device?.requests[0]) send(rtuAnswer(device.requests[0], 666))
    },
    onRequest: (request, send) => {
      if (device.requests.length > 1) send(rtuAnswer(request, 42))
    },
  })
  await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'timeout' })
  assert.deepEqual(await readWhenRested(bus, 1, 2), [42, 42])
  assert.equal(device.connections, 2)
})

test('rtu: a unit that sends noise without end does not stop the others', async (t) => {
  let sendToNewest: (bytes: Buffer) => void = () => {}
  let stopNoise = () => {}
  const [bus, device] = await open(t, {
    framing: 'rtu',
    onConnect(send) {
      sendToNewest = send
    },
    onRequest(request, send) {
      if (request.unit_id !== 1) return send(rtuAnswer(request, request.unit_id))
      const noise = setInterval(() => sendToNewest(Buffer.of(0xff, 0x81, 0xff)), 1)
      stopNoise = () => clearInterval(noise)
    },
  })
  t.after(() => stopNoise())
  await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'timeout' })
  for (const unit_id of [2, 3, 4, 2, 3, 4]) {
    assert.deepEqual([...(await bus.readHoldingRegisters(unit_id, 0, 2))], [unit_id, unit_id])
  }
  assert.equal(device.connections, 2)
})

test('rtu: a connection with a short timeout can be opened', async (t) => {
  const device = await createRawDevice({
    framing: 'rtu',
    onRequest: (request, send) => send(rtuAnswer(request, 7)),
  })
  const connection = { ...tcpAt(device.port), protocol: 'rtu_over_tcp', timeout_ms: 60 } as const
  const slow = {
    after: (delay_ms: number, callback: () => void) => systemTimers.after(delay_ms * 5, callback),
  }
  const bus = openBus(connection as Connection, { timers: slow, random: () => 0 })
  t.after(async () => {
    await bus.close()
    await device.close()
  })
  assert.deepEqual([...(await bus.readHoldingRegisters(1, 0, 1))], [7])
})

test('tcp: an answer with too few registers is garbled', async (t) => {
  const [bus] = await open(t, {
    framing: 'tcp',
    onRequest: (request, send) => {
      const frame = tcpAnswer(request, 5)
      frame[8] = 2
      send(frame)
    },
  })
  await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'garbled' })
})

test('rtu: noise before an answer is discarded', async (t) => {
  const [bus] = await open(t, {
    framing: 'rtu',
    onRequest: (request, send) => send(Buffer.concat([Buffer.of(0, 0xff), rtuAnswer(request, 9)])),
  })
  assert.deepEqual([...(await bus.readHoldingRegisters(1, 0, 2))], [9, 9])
})

test('tcp: a header with a wrong length leads to a new connection', async (t) => {
  const [bus, device] = await open(t, {
    framing: 'tcp',
    onRequest: (request, send) => {
      const frame = tcpAnswer(request, 5)
      if (device.requests.length === 1) frame.writeUInt16BE(0xffff, 4)
      send(frame)
    },
  })
  for (const unit_id of [1, 2, 3]) {
    await assert.rejects(bus.readHoldingRegisters(unit_id, 0, 2), { kind: 'timeout' })
  }
  assert.deepEqual([...(await bus.readHoldingRegisters(4, 0, 2))], [5, 5])
  assert.equal(device.connections, 2)
})

test('tcp: an abandoned request leaves the line usable', async (t) => {
  const device: RawDevice = await createRawDevice({
    framing: 'tcp',
    onRequest: (request, send) => {
      const [first, second] = device.requests
      if (request !== second || !first) return
      send(Buffer.concat([tcpAnswer(first, 1), tcpAnswer(second, 2)]))
    },
  })
  const closing = new AbortController()
  t.after(async () => {
    closing.abort()
    await device.close()
  })
  const line = await openLine(tcpAt(device.port), { signal: closing.signal, timers })
  const abandoned = line.read(1, 0, 1)
  const next = line.read(1, 0, 1)
  assert.deepEqual([...(await next)], [2])
  assert.deepEqual([...(await abandoned)], [1])
})

test('a line retains nothing of answered or abandoned requests', async (t) => {
  const device = await createRawDevice({
    framing: 'tcp',
    onRequest: (request, send) => {
      if (request.unit_id === 1) send(tcpAnswer(request, 1))
    },
  })
  const closing = new AbortController()
  t.after(async () => {
    closing.abort()
    await device.close()
  })
  const line = await openLine(tcpAt(device.port), { signal: closing.signal, timers })
  const read = async (times: number) => {
    for (let nth = 0; nth < times; nth += 1) {
      void line.read(2, 0, 1)
      await line.read(1, 0, 1)
    }
    return queryObjects(Promise, { format: 'count' }) as unknown as number
  }
  // The library itself keeps the last 256 requests.
  const before = await read(256)
  const after = await read(1000)
  assert.ok(after - before < 100, `${before} promises have become ${after}`)
})

test('a closed port is reported as such', async (t) => {
  const device = await createRawDevice({ framing: 'tcp', onRequest() {} })
  await device.close()
  const bus = openBus(tcpAt(device.port), { timers, random: () => 0 })
  t.after(() => bus.close())
  const reading = bus.readHoldingRegisters(1, 0, 1)
  await assert.rejects(reading, { kind: 'disconnected', message: /ECONNREFUSED/ })
})

test('closing ends a pending request', async (t) => {
  const [bus] = await open(t, { framing: 'tcp', onRequest: () => bus.close() })
  await assert.rejects(bus.readHoldingRegisters(1, 0, 1), { kind: 'closed' })
})

const python = '/usr/bin/python3'

test('a serial line is read, and a late answer on it is discarded', async (t) => {
  if (!existsSync(python)) return t.skip(`${python} is not there: install Debian's python3`)
  const device: RawDevice = await createRawDevice({
    framing: 'rtu',
    onRequest: (request, send) => {
      const [first] = device.requests
      if (request === first) return
      send(rtuAnswer(request, 42))
    },
  })
  const bridge = spawn(python, [
    fileURLToPath(new URL('fixtures/bridge-pty.py', import.meta.url)),
    String(device.port),
  ])
  const [path] = await once(bridge.stdout, 'data')
  const line = { connection_id: 'serial', protocol: 'modbus_rtu', baud_rate: 9600 } as const
  const bus = openBus(
    { ...line, path: String(path).trim(), timeout_ms: 4000 },
    { timers, random: () => 0 },
  )
  t.after(async () => {
    await bus.close()
    bridge.stdin.end('\n')
    await once(bridge, 'exit')
    await device.close()
  })
  await assert.rejects(bus.readHoldingRegisters(1, 0, 2), { kind: 'timeout' })
  assert.deepEqual([...(await bus.readHoldingRegisters(2, 0, 125))], Array(125).fill(42))
  assert.deepEqual(await readWhenRested(bus, 1, 2), [42, 42])
})

test('a missing serial port is reported as such', async () => {
  const line = { connection_id: 'serial', protocol: 'modbus_rtu', baud_rate: 9600 } as const
  const bus = openBus({ ...line, path: '/dev/no-such-line' }, { timers, random: () => 0 })
  await assert.rejects(bus.readHoldingRegisters(1, 0, 1), { kind: 'disconnected' })
  await bus.close()
})

function tcpAt(port: number): Connection {
  return { connection_id: 'main', protocol: 'modbus_tcp', host: '127.0.0.1', port }
}

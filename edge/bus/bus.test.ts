import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBus } from './bus.ts'
import { BusError, exceptionError } from './bus-error.ts'
import { createVirtualTimers } from './fixtures/virtual-timers.ts'
import type { Line } from './line.ts'

type Behaviour = (unit_id: number, address: number) => Promise<Uint16Array>

const silence: Behaviour = () => new Promise(() => {})
const answer: Behaviour = async (unit_id, address) => Uint16Array.of(unit_id, address)

/** A bus of units that behave as told, and the record of what was asked of them. */
function createScene({ numbered = true }: { numbered?: boolean } = {}) {
  const timers = createVirtualTimers()
  const behaviours = new Map<number, Behaviour>()
  const asked: { unit_id: number; at_ms: number }[] = []
  const order: string[] = []
  const opened_at_ms: number[] = []
  const scene = {
    timers,
    behaviours,
    asked,
    order,
    opened_at_ms,
    under_way: 0,
    under_way_max: 0,
    open: async (): Promise<Line> => line,
    askedOf: (unit_id: number) => asked.filter((request) => request.unit_id === unit_id),
  }
  const ask = async (unit_id: number, address: number) => {
    asked.push({ unit_id, at_ms: timers.now_ms })
    scene.under_way += 1
    scene.under_way_max = Math.max(scene.under_way_max, scene.under_way)
    try {
      return await (behaviours.get(unit_id) ?? answer)(unit_id, address)
    } finally {
      scene.under_way -= 1
    }
  }
  const line: Line = {
    numbered,
    read(unit_id, address) {
      order.push(`${unit_id} reads`)
      return ask(unit_id, address)
    },
    readInput(unit_id, address) {
      order.push(`${unit_id} reads inputs`)
      return ask(unit_id, address)
    },
    async write(unit_id, address, values, { single }) {
      order.push(`${unit_id} writes ${values}${single ? ' singly' : ''}`)
      await ask(unit_id, address)
    },
  }
  const bus = createBus({
    timers,
    now_ms: () => timers.now_ms,
    random: () => 1 - Number.EPSILON,
    timeout_ms: 1000,
    open: () => {
      opened_at_ms.push(timers.now_ms)
      return scene.open()
    },
  })
  const read = (unit_id: number) => bus.readHoldingRegisters(unit_id, 40_000, 2)
  const write = (unit_id: number, ...values: number[]) =>
    bus.writeRegisters(unit_id, 40_000, values)
  return { ...scene, scene, bus, read, write }
}

const kindOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error) => (error instanceof BusError ? error.kind : String(error)),
  )

test('one request at a time, and units take turns', async () => {
  const { scene, read } = createScene()
  const units = [1, 1, 1, 2, 3, 2]
  await Promise.all(units.map(read))
  assert.deepEqual(
    scene.asked.map(({ unit_id }) => unit_id),
    [1, 2, 3, 1, 2, 1],
  )
  assert.equal(scene.under_way_max, 1)
})

test('idle reads go when nothing else waits, and their failure ends no poll', async () => {
  const { bus, scene, timers, behaviours, read, write } = createScene()
  const idle = (unit_id: number) =>
    kindOf(bus.readInputRegisters(unit_id, 40_000, 2, { priority: 'idle' }))
  const all = [read(1), idle(1), idle(2), read(2), read(1), write(2, 7)]
  await Promise.all(all)
  assert.deepEqual(scene.order, [
    '1 reads',
    '2 writes 7',
    '1 reads',
    '2 reads',
    '1 reads inputs',
    '2 reads inputs',
  ])
  behaviours.set(1, silence)
  const failed = idle(1)
  await timers.pass(1000)
  assert.equal(await failed, 'timeout')
  behaviours.set(1, answer)
  assert.equal(await kindOf(read(1)), 'answered')
})

test('slow units do not delay fast ones', async () => {
  const { timers, behaviours, read, askedOf } = createScene()
  const takes = (delay_ms: number): Behaviour => {
    return async (unit_id, address) => {
      await new Promise<void>((resolve) => timers.after(delay_ms, resolve))
      return answer(unit_id, address)
    }
  }
  behaviours.set(1, takes(900))
  behaviours.set(2, takes(5))
  const poll = async (unit_id: number, requests: number) => {
    for (let nth = 0; nth < requests; nth += 1) {
      await read(unit_id)
      // As a driver does between two of its requests.
      for (let step = 0; step < 10; step += 1) await null
    }
    return timers.now_ms
  }
  const slow = poll(1, 6)
  await timers.pass(1000)
  const quick = poll(2, 6)
  await timers.pass(9000)
  // Once the answer that was under way is there, all requests of the quick one come before its
  // next.
  assert.equal(await quick, 1830)
  assert.equal(await slow, 6 * 900 + 30)
  assert.equal(askedOf(1).length, 6)
})

test('writes go before reads, of all units, in their order', async () => {
  const { order, bus, read, write, scene } = createScene()
  await Promise.all([
    read(1),
    read(1),
    read(2),
    write(1, 7),
    write(2, 1, 2),
    bus.writeRegisters(1, 40_000, Uint16Array.of(8), { single: true }),
  ])
  const expected = ['1 reads', '2 writes 1,2', '1 writes 7', '1 writes 8 singly']
  assert.deepEqual(order.slice(0, 4), expected)
  assert.deepEqual(order.slice(4).toSorted(), ['1 reads', '2 reads'])
  assert.equal(scene.under_way_max, 1)
})

test('an unanswered write, and the requests behind it, fail like reads', async () => {
  const { timers, behaviours, asked, read, write } = createScene()
  behaviours.set(1, silence)
  const all = Promise.all([write(1, 7), write(1, 8), read(1)].map(kindOf))
  await timers.pass(1000)
  assert.deepEqual(await all, ['timeout', 'timeout', 'timeout'])
  assert.equal(asked.length, 1)
  assert.equal(await kindOf(write(1, 7)), 'timeout', 'the unit rests')
  assert.equal(asked.length, 1)
  behaviours.set(1, () => Promise.reject(exceptionError(3)))
  await timers.pass(2000)
  await assert.rejects(write(1, 7), { kind: 'exception', exception_code: 3 })
  behaviours.delete(1)
  assert.equal(await kindOf(write(1, 7)), 'answered', 'a refusal is no reason to rest')
})

test('a unit without answers does not delay the others', async () => {
  const { timers, behaviours, askedOf, read } = createScene()
  behaviours.set(1, silence)
  const outcomes: string[] = []
  for (let second = 0; second < 60; second += 1) {
    const all = [1, 2, 3].map(async (unit_id) =>
      outcomes.push(`${unit_id} ${await kindOf(read(unit_id))}`),
    )
    await timers.pass(5000)
    await Promise.all(all)
  }
  const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
  assert.equal(count('2 answered'), 60)
  assert.equal(count('3 answered'), 60)
  assert.equal(count('1 timeout'), 60)
  // 2, 4, 8 ... 60 seconds of rest in 300 seconds: few requests went out to the silent unit.
  assert.ok(askedOf(1).length <= 10, `asked ${askedOf(1).length} times`)
  assert.ok(askedOf(1).length >= 7, `asked ${askedOf(1).length} times`)
})

test('a unit that answers again is polled as before', async () => {
  const { timers, behaviours, read } = createScene()
  behaviours.set(1, silence)
  const first = kindOf(read(1))
  await timers.pass(1000)
  assert.equal(await first, 'timeout')
  assert.equal(await kindOf(read(1)), 'timeout')
  behaviours.delete(1)
  await timers.pass(2000)
  assert.equal(await kindOf(read(1)), 'answered')
  behaviours.set(1, silence)
  const second = kindOf(read(1))
  await timers.pass(1000)
  assert.equal(await second, 'timeout')
  behaviours.delete(1)
  await timers.pass(2000)
  assert.equal(await kindOf(read(1)), 'answered', 'the rest began at its first length again')
})

test('the only unit of a bus is retried every few seconds', async () => {
  const { timers, behaviours, askedOf, read } = createScene()
  behaviours.set(1, silence)
  for (let second = 0; second < 120; second += 1) {
    const asked = kindOf(read(1))
    await timers.pass(1000)
    await asked
  }
  const ats = askedOf(1).map(({ at_ms }) => at_ms)
  const pauses = ats.slice(1).map((at_ms, nth) => at_ms - ats[nth]!)
  assert.ok(Math.max(...pauses) <= 4000, `pauses of ${pauses} ms`)
})

test('after a line failure, one answer ends the pauses of all units', async () => {
  const { timers, behaviours, askedOf, read } = createScene()
  const units = [1, 2, 3, 4, 5]
  const poll = async () => {
    const all = Promise.all(units.map(async (unit_id) => kindOf(read(unit_id))))
    for (let step = 0; step < 12; step += 1) await timers.pass(500)
    return all
  }
  for (const unit_id of units) behaviours.set(unit_id, silence)
  for (let nth = 0; nth < 60; nth += 1) await poll()
  // One stays silent: it is not the line any more.
  for (const unit_id of units.slice(1)) behaviours.delete(unit_id)
  const back_ms = timers.now_ms
  const firsts = new Map<number, number>()
  for (let nth = 0; nth < 20; nth += 1) {
    for (const [of, kind] of (await poll()).entries()) {
      if (kind === 'answered' && !firsts.has(of)) firsts.set(of, timers.now_ms - back_ms)
    }
  }
  const ats = [...firsts.values()].toSorted((a, b) => a - b)
  assert.equal(ats.length, 4)
  assert.ok(ats.at(-1)! - ats[0]! <= 6000, `after ${ats} ms`)
  const before = askedOf(1).length
  for (let nth = 0; nth < 60; nth += 1) await poll()
  assert.ok(askedOf(1).length - before <= 10, `asked ${askedOf(1).length - before} times`)
})

test('a request behind an unanswered one is not sent', async () => {
  const { timers, behaviours, asked, read } = createScene()
  behaviours.set(1, silence)
  const both = Promise.all([kindOf(read(1)), kindOf(read(1))])
  await timers.pass(1000)
  assert.deepEqual(await both, ['timeout', 'timeout'])
  assert.equal(asked.length, 1)
})

test('gateway exceptions back off, an illegal address does not', async () => {
  const { timers, behaviours, askedOf, read } = createScene()
  behaviours.set(1, () => Promise.reject(exceptionError(11)))
  behaviours.set(2, () => Promise.reject(exceptionError(2)))
  for (let nth = 0; nth < 100; nth += 1) {
    const kinds = await Promise.all([kindOf(read(1)), kindOf(read(2))])
    assert.deepEqual(kinds, ['exception', 'exception'])
    await timers.pass(100)
  }
  assert.equal(askedOf(2).length, 100)
  assert.ok(askedOf(1).length <= 4, `asked ${askedOf(1).length} times`)
})

test('exceptions carry their code, also during the pause', async () => {
  const { behaviours, read } = createScene()
  behaviours.set(1, () => Promise.reject(exceptionError(10)))
  for (let nth = 0; nth < 2; nth += 1) {
    await assert.rejects(read(1), (error) => {
      assert.ok(error instanceof BusError)
      return error.exception_code === 10 && error.message.includes('gateway path unavailable')
    })
  }
})

test('a unit that is busy is asked again twice, other units after it', async () => {
  const { timers, behaviours, askedOf, order, read } = createScene()
  let busy = 2
  behaviours.set(1, async (unit_id, address) => {
    busy -= 1
    if (busy >= 0) throw exceptionError(6)
    return answer(unit_id, address)
  })
  const first = Promise.all([kindOf(read(1)), kindOf(read(2))])
  await timers.pass(200)
  assert.deepEqual(await first, ['answered', 'answered'])
  assert.deepEqual(order, ['1 reads', '1 reads', '1 reads', '2 reads'])
  assert.deepEqual(
    askedOf(1).map(({ at_ms }) => at_ms),
    [0, 100, 200],
  )
  busy = 3
  const second = kindOf(read(1))
  await timers.pass(200)
  assert.equal(await second, 'exception')
  assert.equal(askedOf(1).length, 6)
})

test('a lost connection is reopened with growing pauses', async () => {
  const { scene, timers, opened_at_ms, read } = createScene()
  const { open } = scene
  scene.open = () => Promise.reject(new BusError('disconnected', 'refused'))
  for (let nth = 0; nth < 250; nth += 1) {
    assert.equal(await kindOf(read(1)), 'disconnected')
    await timers.pass(100)
  }
  const pauses_s = opened_at_ms.slice(1).map((at_ms, nth) => (at_ms - opened_at_ms[nth]!) / 1000)
  assert.deepEqual(
    pauses_s.map((pause_s) => Math.round(pause_s * 2) / 2),
    [0.5, 1, 2, 4, 4, 4, 4, 4],
  )
  scene.open = open
  await timers.pass(4000)
  assert.equal(await kindOf(read(1)), 'answered')
})

test('a gateway that drops connections at once is not flooded', async () => {
  const { timers, behaviours, opened_at_ms, read } = createScene()
  behaviours.set(1, () => Promise.reject(new BusError('disconnected', 'closed')))
  for (let nth = 0; nth < 100; nth += 1) {
    assert.equal(await kindOf(read(1)), 'disconnected')
    await timers.pass(100)
  }
  assert.ok(opened_at_ms.length <= 5, `opened ${opened_at_ms.length} times in ten seconds`)
})

test('pauses are shortened at random, down to half their length', async () => {
  const timers = createVirtualTimers()
  let attempts = 0
  const bus = createBus({
    timers,
    random: () => 0,
    timeout_ms: 1000,
    open: () => {
      attempts += 1
      return Promise.reject(new BusError('disconnected', 'refused'))
    },
  })
  const read = () => kindOf(bus.readHoldingRegisters(1, 0, 1))
  await read()
  await timers.pass(249)
  await read()
  assert.equal(attempts, 1)
  await timers.pass(1)
  await read()
  assert.equal(attempts, 2)
})

test('a connection without any answers is reopened', async () => {
  const { timers, behaviours, opened_at_ms, read } = createScene()
  for (const unit_id of [1, 2, 3]) behaviours.set(unit_id, silence)
  const all = Promise.all([1, 2, 3].map((unit_id) => kindOf(read(unit_id))))
  await timers.pass(3000)
  assert.deepEqual(await all, ['timeout', 'timeout', 'timeout'])
  assert.equal(opened_at_ms.length, 1)
  assert.equal(await kindOf(read(4)), 'answered')
  assert.equal(opened_at_ms.length, 2)
})

test('without transaction numbers every timeout ends the connection', async () => {
  const { timers, behaviours, opened_at_ms, read } = createScene({ numbered: false })
  behaviours.set(1, silence)
  const first = kindOf(read(1))
  await timers.pass(1000)
  assert.equal(await first, 'timeout')
  assert.equal(await kindOf(read(2)), 'answered')
  assert.equal(opened_at_ms.length, 2)
})

test('requests outside Modbus are refused without being sent', async () => {
  const { bus, asked } = createScene()
  const wrong = [
    [1, 0, 126],
    [1, 0, 0],
    [1, 65_535, 2],
    [1, -1, 2],
    [256, 0, 1],
    [1.5, 0, 1],
  ] as const
  for (const [unit_id, address, count] of wrong) {
    const reading = bus.readHoldingRegisters(unit_id, address, count)
    await assert.rejects(reading, RangeError, `${unit_id} ${address} ${count}`)
  }
  const wrong_writes: [number, number, number[], boolean?][] = [
    [1, 0, []],
    [1, 0, Array(124).fill(0)],
    [1, 65_535, [1, 2]],
    [256, 0, [1]],
    [1, 0, [65_536]],
    [1, 0, [-1]],
    [1, 0, [0.5]],
    [1, 0, [Number.NaN]],
    [1, 0, [1, 2], true],
  ]
  for (const [unit_id, address, values, single = false] of wrong_writes) {
    const writing = bus.writeRegisters(unit_id, address, values, { single })
    await assert.rejects(writing, RangeError, `${unit_id} ${address} ${values}`)
  }
  assert.equal(asked.length, 0)
})

test('closing rejects pending and later requests', async () => {
  const { timers, behaviours, bus, read } = createScene()
  behaviours.set(1, silence)
  const waiting = Promise.all([kindOf(read(1)), kindOf(read(2))])
  await timers.pass(0)
  await bus.close()
  await timers.pass(1000)
  assert.deepEqual(await waiting, ['closed', 'closed'])
  assert.equal(await kindOf(read(1)), 'closed')
})

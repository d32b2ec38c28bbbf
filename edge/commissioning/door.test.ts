import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openDoor } from './door.ts'

const clients_max = 2

async function placeOf(t: TestContext, answer: unknown) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-door-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'door.sock')
  const seen = { answered: 0, ended: 0 }
  const door = await openDoor({
    path,
    clients_max,
    busy: 'busy',
    open: () => ({
      async answer() {
        seen.answered += 1
        return { answer, is_last: false }
      },
      end() {
        seen.ended += 1
      },
    }),
  })
  t.after(() => door.close())
  const connect = async () => {
    const socket = net.connect({ path, allowHalfOpen: true })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return { seen, connect }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn()
}

test('a client that sends lines and takes no answer is not answered on', async (t) => {
  const { seen, connect } = await placeOf(t, 'x'.repeat(10_000))
  const socket = await connect()
  socket.write('a\n'.repeat(5000))
  await until(() => seen.answered > 0)
  let answered = -1
  while (answered !== seen.answered) {
    answered = seen.answered
    for (let nth = 0; nth < 50; nth += 1) await turn()
  }
  assert.ok(answered < 500, `${answered} answers of 10 kB wait in memory`)
  socket.destroy()
  await until(() => seen.ended === 1)
})

test('other work goes on between the lines of one client', async (t) => {
  const { seen, connect } = await placeOf(t, 1)
  const socket = await connect()
  socket.resume().write('a\n'.repeat(2000))
  let most = 0
  while (seen.answered < 2000) {
    const before = seen.answered
    await turn()
    most = Math.max(most, seen.answered - before)
  }
  assert.ok(most <= 5, `${most} lines in one turn`)
})

test('refused clients that stay connected do not pile up', async (t) => {
  const { connect } = await placeOf(t, 1)
  for (let nth = 0; nth < clients_max; nth += 1) await connect()
  const refused = await Promise.all(Array.from({ length: 20 }, connect))
  for (const socket of refused) {
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    socket.write('never ends')
    await new Promise((resolve) => socket.on('close', resolve))
    assert.equal(answer, '"busy"\n')
  }
})

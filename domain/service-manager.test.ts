import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { notify, serviceManagerOf } from './service-manager.ts'

/** Stands for systemd: prints what arrives at its socket. */
const receiver = `
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, ancillary, _, _ = manager.recvmsg(4096, 1024)
    text = data.decode()
    if text != 'BARRIER=1': print(text, flush=True)
    else:
        import array, os
        fds = array.array('i')
        for _, _, fd in ancillary: fds.frombytes(fd[:len(fd) - len(fd) % fds.itemsize])
        for fd in fds: os.close(fd)
`
const python = '/usr/bin/python3'
const skip = [python, '/usr/bin/systemd-notify'].every(existsSync)
  ? false
  : "Debian's python3 or systemd is not installed"

test('without a notification socket nobody waits for word', () => {
  assert.equal(serviceManagerOf({}), null)
  assert.equal(serviceManagerOf({ NOTIFY_SOCKET: '', WATCHDOG_USEC: '1' }), null)
  assert.deepEqual(serviceManagerOf({ NOTIFY_SOCKET: '/run/x' }), {
    socket: '/run/x',
    watchdog_ms: null,
  })
})

test('a manager hears that the program is ready, lives while its work goes on, and stops', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'notify-'))
  const socket = join(folder, 'socket')
  const child = spawn(python, ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => {
    child.kill()
    rmSync(folder, { recursive: true })
  })
  const lines = createInterface(child.stdout)
  const next = async () => (await once(lines, 'line'))[0]
  assert.equal(await next(), 'bound')
  const manager = serviceManagerOf({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '60000000' })!
  let due: { delay_ms: number; callback: () => void } | null = null
  const timers = {
    after(delay_ms: number, callback: () => void) {
      due = { delay_ms, callback }
      return () => {
        due = null
      }
    },
  }
  const pass = () => {
    assert.equal(due?.delay_ms, 20_000)
    due!.callback()
  }
  let is_alive = true
  const failures: Error[] = []
  const ready = next()
  const stop = notify(manager, {
    timers,
    isAlive: () => is_alive,
    onFailure: (error) => failures.push(error),
  })
  assert.equal(await ready, 'READY=1')
  const alive = next()
  pass()
  assert.equal(await alive, 'WATCHDOG=1')
  is_alive = false
  pass()
  const stopping = next()
  stop()
  // The word that was left out would have come first.
  assert.equal(await stopping, 'STOPPING=1')
  assert.equal(due, null)
  assert.deepEqual(failures, [])
})

test('a manager that cannot be reached is told of', { skip }, async () => {
  const manager = { socket: '/nonexistent/socket', watchdog_ms: 3000 }
  const failure = Promise.withResolvers<Error>()
  notify(manager, {
    timers: { after: () => () => {} },
    isAlive: () => true,
    onFailure: failure.resolve,
  })
  assert.match((await failure.promise).message, /systemd-notify/)
})

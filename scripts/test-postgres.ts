/**
 * The database server of a test run, in the directory of its argument. It answers on the Unix
 * socket `control` there with the server's URL, and lives for as long as any process stays
 * connected to it, and a little longer. Tests start it themselves (test/postgres.ts); nobody has to
 * stop it, and its data goes with it.
 */
import { rm } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { startEmbedded } from '../server/storage/embedded.ts'
import { takeLock } from '../server/storage/lock.ts'

const linger_ms = 5_000
const log = { info() {}, warn() {}, error: console.error }

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: test-postgres.ts <directory>')
const control = path.join(directory, 'control')
const data_dir = path.join(directory, 'data')

// Held until the data is removed. If several start at once, one gets the lock and the others end.
await takeLock(path.join(directory, 'lock'), directory).catch(() => process.exit())
const server = await startEmbedded({ data_dir, log, durable: false }).catch(async (error) => {
  // Data of an earlier server may be damaged, as it runs without fsync: start with new data.
  await rm(data_dir, { recursive: true, force: true })
  throw error
})
await rm(control, { force: true })

const users = new Set<net.Socket>()
const listener = net.createServer((socket) => {
  clearTimeout(idle)
  users.add(socket)
  socket.on('error', () => {}) // 'close' follows
  socket.on('close', () => {
    users.delete(socket)
    if (users.size === 0) idle = setTimeout(retire, linger_ms)
  })
  socket.write(`${server.url}\n`)
})
listener.listen(control)
let idle = setTimeout(retire, linger_ms)
process.once('SIGTERM', end)
process.once('SIGINT', end)
void server.exited.then(({ expected }) => expected || process.exit(1))

/** Clients that connected at the last moment are served to the end. */
function retire() {
  listener.close(end)
}

async function end() {
  await server.stop()
  await rm(data_dir, { recursive: true, force: true })
  await rm(path.join(directory!, 'log'), { force: true })
  process.exit()
}

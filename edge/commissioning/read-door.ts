/**
 * A Unix socket in the data directory of the running agent, through which commands read registers
 * over the connections that the agent has open. Only reads exist, and only of units that the agent
 * polls. Each waits until its bus is idle, so that no poll waits for more than one of them.
 */
import { chmod, rm } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { Closed } from '@heliograph/domain/schema'
import type { Site } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { registers_per_request_max } from '../bus/bus.ts'
import { BusError } from '../bus/bus-error.ts'
import type { Bus, BusErrorKind } from '../drivers/driver.ts'
import { hasUnit } from './site-devices.ts'

export const doorPath = (data_dir: string): string => join(data_dir, 'reads.sock')

/** A line of JSON. */
export type DoorRead = Static<typeof DoorRead>
const DoorRead = Closed({
  /** `connection_id` of the site in force. */
  connection: Type.String({ minLength: 1, maxLength: 200 }),
  unit_id: Type.Integer({ minimum: 0, maximum: 255 }),
  table: Type.Enum(['holding', 'input']),
  address: Type.Integer({ minimum: 0, maximum: 65_535 }),
  count: Type.Integer({ minimum: 1, maximum: registers_per_request_max }),
})

/** The answer to it, a line of JSON too. */
export type DoorAnswer =
  | { words: number[] }
  | { error: { kind: BusErrorKind; message: string; exception_code: number | null } }

const clients_max = 8
const line_characters_max = 1000
const idle_ms_max = 60_000
/** At most 50 reads a second on a connection. */
const pause_ms = 20

interface DoorNeeds {
  data_dir: string
  timers: Timers
  site(): Site
  /** Null for a connection over which nothing is polled. */
  busOf(connection_id: string): Bus | null
}

export interface Door {
  close(): Promise<void>
}

/** @throws Error where the socket cannot be made; the lock of the directory must be held */
export async function openDoor(needs: DoorNeeds): Promise<Door> {
  const path = doorPath(needs.data_dir)
  // Of an agent that was killed.
  await rm(path, { force: true })
  const sockets = new Set<net.Socket>()
  const read = createReads(needs)
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.setTimeout(idle_ms_max, () => socket.destroy())
    if (sockets.size <= clients_max) return void serve(socket, read)
    const busy = new BusError('closed', `${clients_max} commands read through the edge already`)
    socket.resume()
    socket.end(lineOf(answerOf(busy)))
  })
  await new Promise<void>((resolve, reject) => {
    // Also after it listens: a client that cannot be accepted is no reason to end.
    server.on('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** One line after the other: a client has one read under way. */
async function serve(
  socket: net.Socket,
  read: (line: string, isWanted: () => boolean) => Promise<DoorAnswer>,
): Promise<void> {
  let rest = ''
  try {
    for await (const text of socket.setEncoding('utf8')) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop()!
      for (const line of [...lines, ...(rest.length > line_characters_max ? [rest] : [])]) {
        const answer = await read(line, () => !socket.destroyed)
        if (socket.destroyed) return
        socket.write(lineOf(answer))
        if ('error' in answer && answer.error.kind === 'closed') return void socket.end()
      }
    }
  } catch {
    // The client is gone.
  } finally {
    socket.end()
  }
}

function createReads({ timers, site, busOf }: DoorNeeds) {
  /** The last read of each connection. */
  const last = new Map<string, Promise<unknown>>()
  const pause = () => new Promise<void>((resolve) => timers.after(pause_ms, resolve))

  async function readNow({ connection, unit_id, table, address, count }: DoorRead) {
    const bus = busOf(connection)
    if (!bus || !hasUnit(site(), { connection, unit_id })) {
      const message = `the running edge polls no unit ${unit_id} over ${connection}`
      throw new BusError('closed', message)
    }
    const read = table === 'input' ? bus.readInputRegisters : bus.readHoldingRegisters
    return await read.call(bus, unit_id, address, count, { priority: 'idle' })
  }

  return async (line: string, isWanted: () => boolean): Promise<DoorAnswer> => {
    const asked = readIn(line)
    if (!asked) return answerOf(new BusError('closed', 'this is no read of registers'))
    const { connection } = asked
    const before = last.get(connection)
    const reading = (async () => {
      await before
      if (!isWanted()) throw new BusError('closed', 'the client is gone')
      return await readNow(asked)
    })()
    const done = reading.then(pause, pause)
    last.set(connection, done)
    void done.then(() => {
      if (last.get(connection) === done) last.delete(connection)
    })
    return await reading.then((words) => ({ words: [...words] }), answerOf)
  }
}

function readIn(line: string): DoorRead | null {
  if (line.length > line_characters_max) return null
  try {
    const asked: unknown = JSON.parse(line)
    return Value.Check(DoorRead, asked) ? asked : null
  } catch {
    return null
  }
}

const lineOf = (answer: DoorAnswer): string => `${JSON.stringify(answer)}\n`

function answerOf(error: Error): DoorAnswer {
  const { kind, message, exception_code } =
    error instanceof BusError ? error : new BusError('closed', error.message)
  return { error: { kind, message, exception_code } }
}

/** A Unix socket of the running agent: lines of JSON, each answered by one. */
import { chmod, rm } from 'node:fs/promises'
import net from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'

interface DoorSession {
  /** Answers one line; `is_last` ends the connection. */
  answer(line: string, isWanted: () => boolean): Promise<{ answer: unknown; is_last: boolean }>
  /** The client is gone. */
  end(): void
}

export interface Door {
  close(): Promise<void>
}

interface DoorNeeds {
  path: string
  clients_max: number
  /** The answer to a client above that number. */
  busy: unknown
  open(): DoorSession
}

const line_characters_max = 1000
const idle_ms_max = 60_000

/** @throws Error where the socket cannot be made; the lock of the directory must be held */
export async function openDoor({ path, clients_max, busy, open }: DoorNeeds): Promise<Door> {
  // Of an agent that was killed.
  await rm(path, { force: true })
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.setTimeout(idle_ms_max, () => socket.destroy())
    if (sockets.size <= clients_max) return void serve(socket, open())
    socket.end(lineOf(busy))
    // One that stays counts no more.
    socket.destroySoon()
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

/** One line after the other, each when its client took the answer to the one before. */
async function serve(socket: net.Socket, session: DoorSession): Promise<void> {
  socket.on('close', () => session.end())
  const isWanted = () => !socket.destroyed
  async function* answers(pieces: AsyncIterable<string>) {
    let rest = ''
    for await (const text of pieces) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop()!
      for (const line of [...lines, ...(rest.length > line_characters_max ? [rest] : [])]) {
        // Control goes on between the lines of a client that sends many.
        await setImmediate()
        if (!isWanted()) return
        const { answer, is_last } = await session.answer(line, isWanted)
        yield lineOf(answer)
        if (is_last) return
      }
    }
  }
  try {
    await pipeline(socket.setEncoding('utf8'), answers, socket)
  } catch {
    // The client is gone.
  } finally {
    socket.destroySoon()
  }
}

/** Null for a line that is too long or no JSON. */
export function parsedLine(line: string): unknown {
  if (line.length > line_characters_max) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

const lineOf = (answer: unknown): string => `${JSON.stringify(answer)}\n`

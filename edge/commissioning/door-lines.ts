/** The client of a door: a line of JSON for each request, and one for its answer. */
import net from 'node:net'
import { BusError } from '../bus/bus-error.ts'

export interface DoorLines {
  /** One request at a time. */
  ask(request: object): Promise<string>
  close(): void
}

/** One line for each request; rejects when the agent closes the socket. */
export function doorLines(path: string): DoorLines {
  const socket = net.connect(path)
  let text = ''
  let lost: BusError | null = null
  let waiting: { resolve(line: string): void; reject(error: BusError): void } | null = null
  const deliver = () => {
    const end = text.indexOf('\n')
    if (!waiting || (end < 0 && !lost)) return
    if (end < 0) waiting.reject(lost!)
    else waiting.resolve(text.slice(0, end))
    text = text.slice(end + 1)
    waiting = null
  }
  const lose = (reason: string) => {
    lost ??= new BusError('closed', `the running edge: ${reason}`)
    deliver()
  }
  socket.setEncoding('utf8')
  socket.on('data', (piece: string) => {
    text += piece
    deliver()
  })
  socket.on('error', ({ message }) => lose(message))
  socket.on('close', () => lose('closed the connection'))
  return {
    ask: (request) =>
      new Promise<string>((resolve, reject) => {
        socket.write(`${JSON.stringify(request)}\n`)
        waiting = { resolve, reject }
        deliver()
      }),
    close: () => socket.destroy(),
  }
}

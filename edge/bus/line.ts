/**
 * One open connection to the devices of a bus, over the Modbus library. The library has neither
 * timeouts nor order here: the bus sends one request at a time and abandons it.
 */
import net from 'node:net'
import type { Timers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import modbus from 'modbus-serial'
import { BusError, exceptionError } from './bus-error.ts'

export interface Line {
  /** Answers carry the number of their request, which tells late answers apart. */
  numbered: boolean
  /**
   * Reads holding registers. Rejects with a `BusError`: exception, garbled or disconnected. May
   * never settle: there is no timeout here.
   */
  read(unit_id: number, address: number, count: number): Promise<Uint16Array>
  /** Reads input registers in the same way. */
  readInput(unit_id: number, address: number, count: number): Promise<Uint16Array>
  /** Writes holding registers by function 16, or one by function 6. Rejects like `read`. */
  write: Write
}

type Write = (
  unit_id: number,
  address: number,
  values: readonly number[],
  how: { single: boolean },
) => Promise<void>

type Client = InstanceType<typeof modbus.default>

/** A device server may still hold bytes of an abandoned answer. */
const quiet_ms = 100
/** Longest wait for silence on the line. */
const quiet_wait_ms_max = 500
const tick_ms = 5

interface LineOptions {
  /** Closes the line, open or opening. */
  signal: AbortSignal
  timers: Timers
}

export function openLine(connection: Connection, options: LineOptions): Promise<Line> {
  return connection.protocol === 'modbus_rtu'
    ? openSerial(connection, options)
    : openSocket(connection, options)
}

type SocketConnection = Extract<Connection, { host: string }>
type SerialConnection = Extract<Connection, { path: string }>

async function openSocket(connection: SocketConnection, options: LineOptions): Promise<Line> {
  const { host, port, protocol } = connection
  const { signal, timers } = options
  const socket = net.connect({ host, port, noDelay: true, keepAlive: true, signal })
  const { lose, orLost } = createLoss()
  socket.on('error', (error) => lose(disconnected(error.message)))
  socket.on('close', () => lose(disconnected(`${host}:${port} closed the connection`)))
  await orLost(new Promise<void>((resolve) => socket.once('connect', resolve)))

  const client = new modbus.default()
  if (protocol === 'modbus_tcp') {
    await client.linkTCP(socket, { port })
  } else {
    // `timeout_ms` bounds the whole opening.
    const { timeout_ms = Number.POSITIVE_INFINITY } = connection
    await orLost(untilQuiet(socket, timers, Math.min(quiet_wait_ms_max, timeout_ms / 2)))
    await client.linkTelnet(socket, {})
  }
  return {
    numbered: protocol === 'modbus_tcp',
    read: (...request) => orLost(readBy(client, 'writeFC3')(...request)),
    readInput: (...request) => orLost(readBy(client, 'writeFC4')(...request)),
    write: (...request) => orLost(writeBy(client)(...request)),
  }
}

/**
 * Fails all pending requests when the line is lost. A race with a single promise would retain every
 * read for the lifetime of the line.
 */
function createLoss() {
  const waiting = new Set<(error: BusError) => void>()
  let loss: BusError | null = null
  /** The bus sends one request at a time: requests before an answered one were abandoned. */
  function forgetUpTo(answered: (error: BusError) => void) {
    if (!waiting.has(answered)) return
    for (const reject of waiting) {
      waiting.delete(reject)
      if (reject === answered) return
    }
  }
  return {
    lose(error: BusError) {
      loss ??= error
      for (const reject of waiting) reject(loss)
    },
    orLost<Of>(pending: Promise<Of>): Promise<Of> {
      return new Promise((resolve, reject) => {
        waiting.add(reject)
        pending.then(resolve, reject).finally(() => forgetUpTo(reject))
        if (loss) reject(loss)
      })
    },
  }
}

/** Discards incoming bytes until the line is quiet, for at most `max_ms`. */
function untilQuiet(socket: net.Socket, timers: Timers, max_ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('data', restart)
      cancel()
      cancelMax()
      resolve()
    }
    const cancelMax = timers.after(max_ms, done)
    let cancel = timers.after(quiet_ms, done)
    const restart = () => {
      cancel()
      cancel = timers.after(quiet_ms, done)
    }
    socket.on('data', restart)
  })
}

/** A closed serial port discards incoming bytes, so that a new one starts clean. */
async function openSerial(connection: SerialConnection, options: LineOptions): Promise<Line> {
  const { signal, timers } = options
  const { path, baud_rate, parity, data_bits, stop_bits } = connection
  const client = new modbus.default()
  const { lose, orLost } = createLoss()
  client.on('error', (error) => lose(disconnected(String(error))))
  client.on('close', () => lose(disconnected(`${path} was closed`)))
  signal.addEventListener('abort', () => lose(disconnected(`${path} was closed`)))
  try {
    await client.connectRTUBuffered(path, {
      baudRate: baud_rate,
      parity: parity ?? 'none',
      dataBits: data_bits ?? 8,
      stopBits: stop_bits ?? 1,
    })
  } catch (error) {
    throw disconnected((error as Error).message)
  }
  const close = () => client.close(() => {})
  if (signal.aborted) close()
  signal.addEventListener('abort', close)
  return {
    numbered: false,
    read: (...request) => ticking(timers, orLost(readBy(client, 'writeFC3')(...request))),
    readInput: (...request) => ticking(timers, orLost(readBy(client, 'writeFC4')(...request))),
    write: (...request) => ticking(timers, orLost(writeBy(client)(...request))),
  }
}

/**
 * The native poller of the serial port resolves promises without running what waits for them. Ticks
 * wake the event loop until `pending` settles.
 */
async function ticking<Of>(timers: Timers, pending: Promise<Of>): Promise<Of> {
  let cancel = () => {}
  const tick = () => {
    cancel = timers.after(tick_ms, tick)
  }
  tick()
  try {
    return await pending
  } finally {
    cancel()
  }
}

function readBy(client: Client, by: 'writeFC3' | 'writeFC4'): Line['read'] {
  return (unit_id, address, count) =>
    new Promise((resolve, reject) => {
      client[by](unit_id, address, count, (error, answer) => {
        if (error) return reject(toBusError(error))
        const registers = Uint16Array.from(answer.data)
        if (registers.length === count) return resolve(registers)
        reject(new BusError('garbled', `asked for ${count} registers, got ${registers.length}`))
      })
    })
}

/** A confirmation names what was written; any other belongs to another request. */
function writeBy(client: Client): Write {
  return (unit_id, address, values, { single }) =>
    new Promise((resolve, reject) => {
      const done = (error: Error | null, answer: { address: number }, second: number) => {
        if (error) return reject(toBusError(error))
        const expected = single ? values[0] : values.length
        if (answer.address === address && second === expected) return resolve()
        const confirmed = `${second} at ${answer.address}`
        reject(new BusError('garbled', `wrote ${expected} at ${address}, confirmed ${confirmed}`))
      }
      if (single) {
        client.writeFC6(unit_id, address, values[0] ?? 0, (error, answer) =>
          done(error, answer, answer?.value),
        )
      } else {
        client.writeFC16(unit_id, address, [...values], (error, answer) =>
          done(error, answer, answer?.length),
        )
      }
    })
}

/** The library marks exceptions by `modbusCode` and requests that were never sent by `errno`. */
function toBusError(error: Error & { modbusCode?: number; errno?: unknown }): BusError {
  if (error.modbusCode !== undefined) return exceptionError(error.modbusCode)
  if (error.errno !== undefined) return disconnected(error.message)
  return new BusError('garbled', error.message)
}

function disconnected(message: string): BusError {
  return new BusError('disconnected', message)
}

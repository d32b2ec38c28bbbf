/** Between a Modbus TCP master and its devices: passes on what is asked, and tells what is set. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TappedWrite {
  unit_id: number
  function_code: number
  address: number
  words: number[]
}

export interface TapNeeds {
  /** Where the devices are. */
  to_port: number
  /** By which exception a device refuses a function; null: it is asked itself. */
  refusalOf(unit_id: number, function_code: number): number | null
  /** After a device took a write; the master has its answer when this resolves. */
  onWritten(write: TappedWrite): Promise<void>
}

export interface Tap {
  port: number
  close(): Promise<void>
}

const write_single = 6
const write_multiple = 16
/** Modbus messaging on TCP/IP, section 3.1.3: transaction, protocol, length, then the unit. */
const header_bytes = 7

export async function tapModbus(needs: TapNeeds): Promise<Tap> {
  const sockets = new Set<Socket>()
  const server = createServer((master) => {
    const devices = connect(needs.to_port, '127.0.0.1')
    for (const socket of [master, devices]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      // Whoever is killed leaves no word; the other end is closed with it.
      socket.on('error', () => socket.destroy())
    }
    master.on('close', () => devices.end())
    devices.on('close', () => master.destroy())
    pass(master, devices, needs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function pass(master: Socket, devices: Socket, { refusalOf, onWritten }: TapNeeds): void {
  const asked = new Map<number, TappedWrite>()
  onFrames(master, (frame) => {
    const [unit_id = 0, function_code = 0] = frame.subarray(header_bytes - 1)
    const refusal = refusalOf(unit_id, function_code)
    if (refusal !== null) {
      const answer = Buffer.from([...frame.subarray(0, 4), 0, 3, unit_id, function_code | 0x80, 0])
      answer[header_bytes + 1] = refusal
      master.write(answer)
      return
    }
    const write = writeIn(frame)
    if (write) asked.set(frame.readUInt16BE(0), write)
    devices.write(frame)
  })
  let answered: Promise<void> = Promise.resolve()
  onFrames(devices, (frame) => {
    const transaction = frame.readUInt16BE(0)
    const write = asked.get(transaction)
    asked.delete(transaction)
    const is_done = frame.readUInt8(header_bytes) < 0x80
    answered = answered.then(async () => {
      if (write && is_done) await onWritten(write)
      if (!master.destroyed) master.write(frame)
    })
    answered.catch((error: Error) => master.destroy(error))
  })
}

function onFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let left = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk])
    while (left.length >= header_bytes) {
      const bytes = header_bytes - 1 + left.readUInt16BE(4)
      if (left.length < bytes) return
      take(left.subarray(0, bytes))
      left = left.subarray(bytes)
    }
  })
}

function writeIn(frame: Buffer): TappedWrite | null {
  const [unit_id = 0, function_code = 0] = frame.subarray(header_bytes - 1)
  if (function_code !== write_single && function_code !== write_multiple) return null
  const address = frame.readUInt16BE(header_bytes + 1)
  const is_single = function_code === write_single
  const count = is_single ? 1 : frame.readUInt16BE(header_bytes + 3)
  const first = header_bytes + (is_single ? 3 : 6)
  const words = Array.from({ length: count }, (_, nth) => frame.readUInt16BE(first + 2 * nth))
  return { unit_id, function_code, address, words }
}

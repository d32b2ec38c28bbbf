/**
 * A Unix socket in the data directory of the running agent, through which commands read registers
 * over the connections that the agent has open. Only reads exist, and only of units that the agent
 * polls. Each waits until its bus is idle, so that no poll waits for more than one of them.
 */
import { join } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { Closed } from '@heliograph/domain/schema'
import type { Site } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { registers_per_request_max } from '../bus/bus.ts'
import { BusError } from '../bus/bus-error.ts'
import type { Bus, BusErrorKind } from '../drivers/driver.ts'
import { type Door, openDoor, parsedLine } from './door.ts'
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
/** At most 50 reads a second on a connection. */
const pause_ms = 20

interface DoorNeeds {
  data_dir: string
  timers: Timers
  site(): Site
  /** Null for a connection over which nothing is polled. */
  busOf(connection_id: string): Bus | null
}

/** @throws Error where the socket cannot be made; the lock of the directory must be held */
export async function openReadDoor(needs: DoorNeeds): Promise<Door> {
  const read = createReads(needs)
  return await openDoor({
    path: doorPath(needs.data_dir),
    clients_max,
    busy: answerOf(new BusError('closed', `${clients_max} commands read through the edge already`)),
    open: () => ({
      async answer(line, isWanted) {
        const answer = await read(line, isWanted)
        return { answer, is_last: 'error' in answer && answer.error.kind === 'closed' }
      },
      end() {},
    }),
  })
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
  const asked = parsedLine(line)
  return Value.Check(DoorRead, asked) ? asked : null
}

function answerOf(error: Error): DoorAnswer {
  const { kind, message, exception_code } =
    error instanceof BusError ? error : new BusError('closed', error.message)
  return { error: { kind, message, exception_code } }
}

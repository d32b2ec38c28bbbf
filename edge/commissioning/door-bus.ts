/** A bus that reads over a connection of the running agent, through its door. */
import type { Timers } from '@heliograph/domain/clock'
import { BusError } from '../bus/bus-error.ts'
import type { Bus } from '../drivers/driver.ts'
import { inTime } from '../in-time.ts'
import { type DoorLines, doorLines } from './door-lines.ts'
import { type DoorAnswer, type DoorRead, doorPath } from './read-door.ts'

/** The bus of the agent may be busy for a while; its devices have time-outs of their own. */
const answer_ms_max = 30_000

export function createDoorBus(
  connection: string,
  { data_dir, timers }: { data_dir: string; timers: Timers },
): Bus {
  const path = doorPath(data_dir)
  let lines: DoorLines | null = null
  let last: Promise<unknown> = Promise.resolve()
  let is_closed = false

  async function ask(read: Omit<DoorRead, 'connection'>): Promise<Uint16Array> {
    if (is_closed) throw new BusError('closed', 'the bus was closed')
    lines ??= doorLines(path)
    const line = await inTime(lines.ask({ connection, ...read }), answer_ms_max, timers)
    if (line === 'late') {
      drop()
      throw new BusError('closed', 'the running edge has no time for reads on this connection')
    }
    const answer: DoorAnswer = JSON.parse(line)
    if ('words' in answer) return Uint16Array.from(answer.words)
    const { kind, message, exception_code } = answer.error
    throw new BusError(kind, message, exception_code)
  }

  function drop() {
    lines?.close()
    lines = null
  }

  const queued = (read: Omit<DoorRead, 'connection'>) => {
    const asked = last.then(() => ask(read))
    last = asked.catch(() => {})
    return asked
  }

  return {
    readHoldingRegisters: (unit_id, address, count) =>
      queued({ unit_id, table: 'holding', address, count }),
    readInputRegisters: (unit_id, address, count) =>
      queued({ unit_id, table: 'input', address, count }),
    async writeRegisters() {
      throw new Error('a device is only read here')
    },
    async close() {
      is_closed = true
      drop()
    },
  }
}

/** Serves the devices of the plant over Modbus TCP: one listening socket per connection. */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Connection, Site } from '@heliograph/domain/site'
import { ServerTCP } from 'modbus-serial'
import type { BaseLogger } from 'pino'
import {
  inverterRegisters,
  meterRegisters,
  stationRegisters,
  sunspec_base_address,
} from './devices/sunspec.ts'
import { isInForce } from './faults.ts'
import type { Plant } from './plant.ts'

const illegal_data_address = 2
const gateway_target_failed = 11

class ModbusException extends Error {
  readonly modbusErrorCode: number
  constructor(message: string, modbusErrorCode: number) {
    super(message)
    this.modbusErrorCode = modbusErrorCode
  }
}

export type Log = Pick<BaseLogger, 'debug' | 'warn'>

type Done<Value> = (error: Error | null, value: Value) => void
type Answered = (error: Error | null, values?: number[]) => void

type Registers = () => Uint16Array

export interface Served {
  close(): Promise<void>
}

/**
 * Listens on every Modbus TCP connection of the site. Every unit answers reads of holding
 * registers; what is not there is refused as a real gateway would.
 * @throws {Error} when an address cannot be listened on
 */
export async function serveModbus(plant: Plant, log: Log): Promise<Served> {
  const servers: ServerTCP[] = []
  try {
    for (const connection of plant.simulation.site.connections) {
      servers.push(await serveConnection(plant, connection, log))
    }
  } catch (error) {
    await Promise.all(servers.map(closed))
    throw error
  }
  return {
    async close() {
      await Promise.all(servers.map(closed))
    },
  }
}

async function serveConnection(plant: Plant, connection: Connection, log: Log) {
  const { connection_id, protocol } = connection
  if (protocol !== 'modbus_tcp') {
    throw new Error(`connection ${connection_id}: the simulator serves modbus_tcp, not ${protocol}`)
  }
  const units = devicesOf(plant, connection_id)
  const read = async (address: number, count: number, unit_id: number): Promise<number[]> => {
    const fault = [...plant.simulation.faults, ...plant.faults].find(
      (one) =>
        (one.kind === 'slow_device' || one.kind === 'silent_device') &&
        one.connection === connection_id &&
        one.unit_id === unit_id &&
        isInForce(one, plant.now_ms()),
    )
    if (fault?.kind === 'silent_device') return new Promise<number[]>(() => {})
    if (fault?.kind === 'slow_device') await wait(fault.delay_ms)
    const registers = units.get(unit_id)?.()
    if (!registers) throw new ModbusException('no such unit', gateway_target_failed)
    const from = address - sunspec_base_address
    if (from < 0 || from + count > registers.length) {
      throw new ModbusException('no such register', illegal_data_address)
    }
    return Array.from(registers.subarray(from, from + count))
  }
  const answer = (address: number, count: number, unit_id: number, done: Answered) => {
    read(address, count, unit_id).then((values) => done(null, values), done)
  }
  const server = new ServerTCP(
    {
      getHoldingRegister: (address: number, unit_id: number, done: Done<number>) =>
        answer(address, 1, unit_id, (error, values) => done(error, values?.[0] ?? 0)),
      getMultipleHoldingRegisters: answer as (
        address: number,
        count: number,
        unit_id: number,
        done: Done<number[]>,
      ) => void,
    },
    { host: connection.host, port: connection.port, unitID: 255 },
  )
  // A master that goes away in mid-request is no error of the plant.
  server.on('socketError', (error) => log.debug({ err: error, connection_id }, 'master gone'))
  server.on('error', (error) => log.warn({ err: error, connection_id }, 'bad request'))
  const failed = once(server, 'serverError').then(([error]) => {
    const why = (error as Error).message
    throw new Error(`connection ${connection_id}: cannot listen on port ${connection.port}: ${why}`)
  })
  await Promise.race([once(server, 'initialized'), failed])
  failed.catch(() => {})
  return server
}

const closed = (server: ServerTCP): Promise<void> =>
  new Promise((resolve, reject) => {
    for (const socket of server.socks.keys()) socket.destroy()
    server.close((error) => (error ? reject(error) : resolve()))
  })

/** The register image of each unit behind a connection, made anew for each new snapshot. */
function devicesOf(plant: Plant, connection_id: string): Map<number, Registers> {
  const site: Site = plant.simulation.site
  const units = new Map<number, Registers>()
  const add = (
    device: { connection: string; unit_id: number },
    image: (snapshot: ReturnType<Plant['snapshot']>) => Uint16Array,
  ) => {
    if (device.connection !== connection_id) return
    let time_ms = Number.NaN
    let registers = new Uint16Array()
    units.set(device.unit_id, () => {
      const snapshot = plant.snapshot()
      if (snapshot.time_ms !== time_ms) registers = image(snapshot) as typeof registers
      time_ms = snapshot.time_ms
      return registers
    })
  }
  for (const logger of site.loggers) {
    for (const inverter of logger.inverters) {
      add(inverter, (snapshot) => inverterRegisters(inverter, snapshot, plant.counters))
    }
    for (const station of logger.stations ?? []) {
      add(station, (snapshot) => stationRegisters(station, snapshot))
    }
  }
  for (const meter of site.meters ?? []) {
    add(meter, (snapshot) => meterRegisters(site, meter, snapshot, plant.counters))
  }
  return units
}

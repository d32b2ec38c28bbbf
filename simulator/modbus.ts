/** Serves the devices of the plant over Modbus TCP, one listening socket per connection. */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Battery } from '@heliograph/domain/battery'
import type { Connection } from '@heliograph/domain/site'
import { ServerTCP } from 'modbus-serial'
import type { BaseLogger } from 'pino'
import { inverterUnit, meterUnit, stationUnit } from './devices/sunspec.ts'
import { bmsUnits } from './devices/sunspec-battery.ts'
import { pcsUnit } from './devices/sunspec-pcs.ts'
import { Refusal, type Unit } from './devices/unit.ts'
import { isInForce } from './faults.ts'
import type { Plant } from './plant.ts'
import { createRegisterUnits, type RegisterUnits } from './register-units.ts'

export type Log = Pick<BaseLogger, 'debug' | 'warn'>

type Done<Value> = (error: Error | null, value: Value) => void

export interface Served {
  close(): Promise<void>
}

/**
 * Listens on every Modbus TCP connection of the site. Units answer reads of holding registers;
 * inverters accept limits by functions 6 and 16. Other requests are refused as by a real gateway.
 * @param site_dir folder of the site file, from which paths of profiles lead
 * @throws {Error} if it cannot listen on an address, or for a driver without a profile
 */
export async function serveModbus(plant: Plant, log: Log, site_dir = '.'): Promise<Served> {
  const servers: ServerTCP[] = []
  const registers = createRegisterUnits(plant, site_dir)
  try {
    for (const connection of plant.simulation.site.connections) {
      const units = devicesOf(plant, connection.connection_id, registers)
      servers.push(await serveConnection(plant, { connection, units }, log))
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

async function serveConnection(
  plant: Plant,
  { connection, units }: { connection: Connection; units: ReadonlyMap<number, Unit> },
  log: Log,
) {
  const { connection_id, protocol } = connection
  if (protocol !== 'modbus_tcp') {
    throw new Error(`connection ${connection_id}: the simulator serves modbus_tcp, not ${protocol}`)
  }
  const reach = async (unit_id: number): Promise<Unit> => {
    const fault = [...plant.simulation.faults, ...plant.faults].find(
      (one) =>
        (one.kind === 'slow_device' || one.kind === 'silent_device') &&
        one.connection === connection_id &&
        one.unit_id === unit_id &&
        isInForce(one, plant.now_ms()),
    )
    const unit = units.get(unit_id)
    if (fault?.kind === 'silent_device' || unit?.isAway()) return new Promise(() => {})
    if (fault?.kind === 'slow_device') await wait(fault.delay_ms)
    if (!unit) throw new Refusal('gateway target failed')
    return unit
  }
  const server = new ServerTCP(vectorOf(reach), {
    host: connection.host,
    port: connection.port,
    unitID: 255,
  })
  // A master that disconnects during a request is no fault of the plant.
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

/** Callbacks of the library, which tells them apart by their number of parameters. */
function vectorOf(reach: (unit_id: number) => Promise<Unit>) {
  const write = (address: number, words: number[], unit_id: number, done: Done<null>) => {
    reach(unit_id)
      .then((unit) => unit.write(address, words))
      .then(
        () => done(null, null),
        (error) => done(error, null),
      )
  }
  type Reading = (unit: Unit, address: number, count: number) => Uint16Array | undefined
  const readBy =
    (reading: Reading) =>
    (address: number, count: number, unit_id: number, done: Done<number[]>) => {
      reach(unit_id)
        .then((unit) => {
          const words = reading(unit, address, count)
          if (!words) throw new Refusal('illegal function')
          return Array.from(words)
        })
        .then(
          (values) => done(null, values),
          (error) => done(error, []),
        )
    }
  const read = readBy((unit, address, count) => unit.read(address, count))
  const readInput = readBy((unit, address, count) => unit.readInput?.(address, count))
  return {
    getInputRegister: (address: number, unit_id: number, done: Done<number>) =>
      readInput(address, 1, unit_id, (error, values) => done(error, values[0] ?? 0)),
    getMultipleInputRegisters: readInput,
    getHoldingRegister: (address: number, unit_id: number, done: Done<number>) =>
      read(address, 1, unit_id, (error, values) => done(error, values[0] ?? 0)),
    getMultipleHoldingRegisters: read,
    setRegister: (address: number, word: number, unit_id: number, done: Done<null>) =>
      write(address, [word], unit_id, done),
    setRegisterArray: write,
  }
}

const closed = (server: ServerTCP): Promise<void> =>
  new Promise((resolve, reject) => {
    for (const socket of server.socks.keys()) socket.destroy()
    server.close((error) => (error ? reject(error) : resolve()))
  })

function devicesOf(plant: Plant, connection_id: string, registers: RegisterUnits) {
  const { site } = plant.simulation
  const units = new Map<number, Unit>()
  const add = (device: { connection: string; unit_id: number }, unit: Unit) => {
    if (device.connection === connection_id) units.set(device.unit_id, unit)
  }
  for (const logger of site.loggers) {
    const controller = registers.controller(logger.logger_id)
    if (logger.controller && controller) add(logger.controller, controller)
    for (const inverter of logger.inverters) {
      const of_maker = registers.inverter(inverter.inverter_id)
      add(inverter, of_maker ?? inverterUnit(plant, inverter))
    }
    for (const station of logger.stations ?? []) {
      add(station, registers.station(station) ?? stationUnit(plant, station))
    }
  }
  for (const meter of site.meters ?? []) {
    add(meter, registers.meter(meter) ?? meterUnit(plant, meter))
  }
  for (const battery of plant.batteries.units) {
    for (const unit of bmsUnits(battery)) add(unit, unit)
    if (isShared(battery.battery)) {
      const { bess_id } = battery.battery
      throw new Error(`battery ${bess_id}: the simulator serves its PCS at units of their own`)
    }
    for (const pcs of battery.battery.pcs) {
      add(
        pcs,
        pcsUnit(battery, pcs, () => plant.snapshot()),
      )
    }
  }
  return units
}

/** One device as battery management and PCS. */
const isShared = ({ bms, pcs }: Battery) =>
  pcs.some(({ connection, unit_id }) => connection === bms.connection && unit_id === bms.unit_id)

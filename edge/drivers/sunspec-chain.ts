/** Finds the SunSpec models of a unit: the marker, then one model after the other. */
import { isRefusal } from '../bus/bus-error.ts'
import type { Bus, DeviceIdentity } from './driver.ts'
import { ChainMoved, createReader, type FoundModel } from './sunspec-snapshot.ts'

export interface Place {
  unit_id: number
  /** Address of the marker if it is at none of the standard's addresses. */
  base_address?: number
}

export interface Chain {
  identity: DeviceIdentity
  models: readonly FoundModel[]
}

const base_addresses = [40_000, 0, 50_000]
const marker = [0x5375, 0x6e53] // "SunS"
const end_id = 0xffff

/** A battery has one model per module; broken lengths could form an endless chain. */
const models_max = 1000
const empties_max = 100

/** Rejects without a SunSpec marker, or if the chain cannot be followed. */
export async function findChain(bus: Bus, place: Place): Promise<Chain> {
  const base = await findBase(bus, place)
  const found: FoundModel[] = []
  let address = base + marker.length
  let empties = 0
  while (found.length < models_max && empties < empties_max) {
    const header = await readIfThere(bus, place.unit_id, address)
    const [model_id, length] = header ?? []
    // Some devices end their chain with zeros, or with refused addresses.
    if (model_id === undefined || length === undefined) break
    if (model_id === end_id || model_id === 0) break
    if (address + 2 + length > 65_536) {
      throw new Error(`${describe(place)}: model ${model_id} at ${address} has length ${length}`)
    }
    const occurrence = found.filter((model) => model.model_id === model_id).length
    found.push({ model_id, occurrence, address, length })
    address += 2 + length
    if (length === 0) empties += 1
  }
  const [common] = found
  if (common?.model_id !== 1) {
    throw new Error(`${describe(place)}: the chain at ${base} does not begin with model 1`)
  }
  return { identity: await readIdentity(bus, place.unit_id, common), models: found }
}

async function findBase(bus: Bus, place: Place): Promise<number> {
  const { base_address, unit_id } = place
  const candidates = base_address === undefined ? base_addresses : [base_address]
  for (const base of candidates) {
    const registers = await readIfThere(bus, unit_id, base)
    if (registers && marker.every((word, index) => registers[index] === word)) return base
  }
  throw new Error(`${describe(place)}: no SunSpec marker at ${candidates.join(', ')}`)
}

/** Two registers; `null` if the device refuses them. */
export async function readIfThere(bus: Bus, unit_id: number, address: number) {
  if (address > 65_534) return null
  try {
    return await bus.readHoldingRegisters(unit_id, address, 2)
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

export async function readIdentity(
  bus: Bus,
  unit_id: number,
  common: FoundModel,
): Promise<DeviceIdentity> {
  const values = await commonValues(bus, unit_id, common)
  return {
    manufacturer: values?.Mn ?? null,
    model: values?.Md ?? null,
    serial_number: values?.SN ?? null,
    firmware_version: values?.Vr ?? null,
  }
}

/** Without device address and padding; undefined if another model is there now. */
async function commonValues(bus: Bus, unit_id: number, common: FoundModel) {
  try {
    const read = createReader(bus, unit_id, { wanted: [common], parts: { 1: { last: 'SN' } } })
    return (await read()).all(1)[0]?.values
  } catch (error) {
    if (error instanceof ChainMoved) return undefined
    throw error
  }
}

export function describe({ unit_id }: Place): string {
  return `unit ${unit_id}`
}

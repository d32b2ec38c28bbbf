/** Every value of a device with the registers that it comes from. */
import type { NumberRegister, Profile, Register } from '@heliograph/domain/profile'
import { placedRegisters } from '@heliograph/domain/profile-file'
import { decode } from '@heliograph/domain/sunspec/codec'
import { isKnownModel, models } from '@heliograph/domain/sunspec/models'
import { fixedLength, type Model, type Point, sizeOf } from '@heliograph/domain/sunspec/point'
import { registers_per_request_max } from '../bus/bus.ts'
import { BusError } from '../bus/bus-error.ts'
import type { Bus } from '../drivers/driver.ts'
import { createRegisterReader, placeOf } from '../drivers/register-reader.ts'
import { findChain } from '../drivers/sunspec-chain.ts'
import type { FoundModel } from '../drivers/sunspec-snapshot.ts'

export interface DeviceValue {
  /** Where the profile or the model has it: `inverter.readings.ac_power_kw`, `103.W`. */
  field: string
  /** The maker's name. */
  register: string
  table: 'holding' | 'input'
  address: number
  /** Null for a register that the device refuses. */
  words: number[] | null
  /** In `unit`; null where the device has no value. */
  value: number | string | null
  unit: string | null
}

export async function profileValues(
  bus: Bus,
  unit_id: number,
  profile: Profile,
): Promise<DeviceValue[]> {
  const placed = placedRegisters(profile).filter(({ path }) => path[1] !== 'recognised_by')
  const registers = placed.map(({ register }): Register => ({ ...register, optional: true }))
  const read = createRegisterReader(placeOf(profile, bus, unit_id), registers)
  const values = await read()
  return placed.map(({ register, path }): DeviceValue => {
    const { name, table = 'holding', address, type, unit = null } = register
    const words = values.words(register)
    return {
      field: path.join('.'),
      register: name,
      table,
      address,
      words: words && [...words],
      value: type === 'text' ? values.text(register) : values.number(register as NumberRegister),
      unit,
    }
  })
}

export async function sunspecValues(bus: Bus, unit_id: number): Promise<DeviceValue[]> {
  const { models: chain } = await findChain(bus, { unit_id })
  const values: DeviceValue[] = []
  for (const found of chain) {
    if (isKnownModel(found.model_id)) values.push(...(await modelValues(bus, unit_id, found)))
  }
  return values
}

async function modelValues(bus: Bus, unit_id: number, found: FoundModel): Promise<DeviceValue[]> {
  const model: Model = models[found.model_id as keyof typeof models]
  const image = await imageOf(bus, unit_id, found)
  if (!image) return []
  const { values, groups } = decode(model, image) as {
    values: Values
    groups: Values[]
  }
  const { occurrence } = found
  const prefix = occurrence === 0 ? `${model.id}` : `${model.id}[${occurrence}]`
  const rows = (points: readonly Point[], of: Values, { start = 0, name = '' } = {}) =>
    points.flatMap(([point, offset, type, unit = '']): DeviceValue[] => {
      if (type === 'pad' || type === 'sunssf') return []
      const first = start + offset
      return [
        {
          field: `${prefix}.${name}${point}`,
          register: point,
          table: 'holding',
          address: found.address + first,
          words: [...image.subarray(first, first + sizeOf(type))],
          value: of[point] ?? null,
          unit: unit || null,
        },
      ]
    })
  const { group } = model
  return [
    ...rows(model.points, values),
    ...groups.flatMap((of, nth) =>
      rows(group!.points, of, {
        start: fixedLength(model) + nth * group!.length,
        name: `${group!.name}[${nth}].`,
      }),
    ),
  ]
}

type Values = Readonly<Record<string, number | string | null>>

/** Null for a model that the device refuses to show. */
async function imageOf(
  bus: Bus,
  unit_id: number,
  { address, length }: FoundModel,
): Promise<Uint16Array | null> {
  const image = new Uint16Array(length + 2)
  try {
    for (let offset = 0; offset < image.length; offset += registers_per_request_max) {
      const count = Math.min(registers_per_request_max, image.length - offset)
      image.set(await bus.readHoldingRegisters(unit_id, address + offset, count), offset)
    }
    return image
  } catch (error) {
    if (error instanceof BusError && error.kind === 'exception') return null
    throw error
  }
}

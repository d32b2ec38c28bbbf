/** Recognises a device: a chain of SunSpec models, or registers that only one family has. */
import type { Mark, Profile } from '@heliograph/domain/profile'
import { BusError } from '../bus/bus-error.ts'
import type { Bus } from '../drivers/driver.ts'
import { createRegisterReader, type Place, placeOf } from '../drivers/register-reader.ts'
import { type Chain, findChain } from '../drivers/sunspec-chain.ts'

export interface Recognition {
  /** Null without SunSpec models. */
  chain: Chain | null
  /** Names of the profiles whose marks the device has; several are a question to a person. */
  profiles: readonly string[]
}

/** @throws BusError when time ends, or the device closes every connection */
export async function recognise(
  bus: Bus,
  unit_id: number,
  profiles: ReadonlyMap<string, Profile>,
): Promise<Recognition> {
  const chain = await chainOf(bus, unit_id)
  const found: string[] = []
  for (const [name, profile] of profiles) {
    if (await hasMarks(bus, unit_id, profile)) found.push(name)
  }
  return { chain, profiles: found }
}

async function chainOf(bus: Bus, unit_id: number): Promise<Chain | null> {
  try {
    return await findChain(bus, { unit_id })
  } catch (error) {
    if (!(error instanceof BusError) || isNoAnswer(error)) return null
    throw error
  }
}

/** Marks one by one, as some devices show their type only where its register is read alone. */
async function hasMarks(bus: Bus, unit_id: number, profile: Profile): Promise<boolean> {
  const { recognised_by: marks = [] } = profile.identity
  for (const mark of marks) {
    if (!(await hasMark(mark, placeOf(profile, bus, unit_id)))) return false
  }
  return marks.length > 0
}

async function hasMark(
  { register, values = [], ranges = [], begins_with = [] }: Mark,
  place: Place,
): Promise<boolean> {
  try {
    const found = await createRegisterReader(place, [register])()
    if (register.type === 'text') {
      const text = found.text(register)?.toLowerCase() ?? ''
      return begins_with.some((beginning) => text.startsWith(beginning.toLowerCase()))
    }
    const raw = found.raw({ ...register, type: register.type })
    if (raw === null) return false
    const value = register.mask === undefined ? raw : raw & register.mask
    return (
      values.includes(value) || ranges.some(([from = 0, to = 0]) => from <= value && value <= to)
    )
  } catch (error) {
    if (error instanceof BusError && isNoAnswer(error)) return false
    throw error
  }
}

/** Some devices are silent, or close the connection, where they should refuse an address. */
const isNoAnswer = ({ kind }: BusError) => kind !== 'closed'

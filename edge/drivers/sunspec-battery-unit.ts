/**
 * A unit of a battery, found again after communication loss. Several readers share one unit, and
 * its chain of hundreds of models is walked once for all of them.
 */
import type { Bus, DeviceIdentity } from './driver.ts'
import { type Chain, findChain, type Place, readIdentity } from './sunspec-chain.ts'
import { ChainMoved } from './sunspec-snapshot.ts'

export interface Unit<Found> {
  readonly identity: DeviceIdentity
  /** Result of `make` at the newest contact; null after the chain was lost. */
  readonly found: Found | null
  /**
   * Rejects with the error of the question, or if the device is not there; the next call checks
   * first that it is still the same.
   */
  ask<Of>(question: (found: Found) => Promise<Of>): Promise<Of>
}

/** Rejects if the unit does not answer, or `make` refuses it. */
export async function openUnit<Found>(
  bus: Bus,
  place: Place,
  make: (chain: Chain) => Found | Promise<Found>,
): Promise<Unit<Found>> {
  let chain = await chainOf(bus, place)
  let found: Found | null = await make(chain)
  let is_doubted = false

  async function contact(): Promise<Found> {
    // After communication loss another device may answer at this address.
    if (is_doubted && (await chainOf(bus, place)) !== chain) found = null
    if (found === null) {
      chain = await chainOf(bus, place)
      found = await make(chain)
    }
    return found
  }

  return {
    get identity() {
      return chain.identity
    },
    get found() {
      return found
    },
    async ask(question) {
      try {
        const answer = await question(await contact())
        is_doubted = false
        return answer
      } catch (error) {
        is_doubted = true
        if (error instanceof ChainMoved) {
          found = null
          forget(bus, place, chain)
        }
        throw error
      }
    },
  }
}

interface Walk {
  walking: Promise<Chain>
  chain: Chain | null
}

const walks = new WeakMap<Bus, Map<string, Walk>>()
const keyOf = ({ unit_id, base_address }: Place) => `${unit_id} ${base_address}`

/** The known chain if the same device still answers; otherwise walked again. */
async function chainOf(bus: Bus, place: Place): Promise<Chain> {
  const of_bus = walks.get(bus) ?? new Map<string, Walk>()
  walks.set(bus, of_bus)
  const known = of_bus.get(keyOf(place))
  if (known?.chain && !(await isStillThere(bus, place, known.chain))) {
    forget(bus, place, known.chain)
  }
  const { walking } = of_bus.get(keyOf(place)) ?? begin(of_bus, bus, place)
  return walking
}

function begin(of_bus: Map<string, Walk>, bus: Bus, place: Place): Walk {
  const key = keyOf(place)
  const walk: Walk = { walking: findChain(bus, place), chain: null }
  of_bus.set(key, walk)
  walk.walking.then(
    (chain) => {
      walk.chain = chain
    },
    () => of_bus.delete(key),
  )
  return walk
}

/** Keeps a chain that was walked since. */
function forget(bus: Bus, place: Place, chain: Chain): void {
  const of_bus = walks.get(bus)
  if (of_bus?.get(keyOf(place))?.chain === chain) of_bus.delete(keyOf(place))
}

async function isStillThere(bus: Bus, { unit_id }: Place, { identity, models }: Chain) {
  const found = await readIdentity(bus, unit_id, models[0]!)
  return found.serial_number === identity.serial_number && found.model === identity.model
}

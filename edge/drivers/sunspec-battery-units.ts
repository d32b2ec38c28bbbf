/** The units with the clusters of a battery, some of which may be offline. */
import { type Battery, type ClusterUnit, clusterUnits } from '@heliograph/domain/battery'
import type { Bus, DeviceIdentity } from './driver.ts'
import { openUnit, type Unit } from './sunspec-battery-unit.ts'
import type { Chain } from './sunspec-chain.ts'

interface Units<Found> {
  /** Identity of the first that answered. */
  readonly identity: DeviceIdentity
  members: readonly Member<Found>[]
  /** Answers of the units that gave one; rejects if none did. */
  askAll<Of>(question: (found: Found) => Promise<Of>): Promise<{ answer: Of; at: ClusterUnit }[]>
}

export interface Member<Found> {
  at: ClusterUnit
  /** Opened on first use; rejects if it does not answer. */
  unit(): Promise<Unit<Found>>
}

type Make<Found> = (chain: Chain, at: ClusterUnit) => Found | Promise<Found>

export async function openUnits<Found>(
  bus: Bus,
  battery: Battery,
  make: Make<Found>,
): Promise<Units<Found>> {
  const members = clusterUnits(battery).map((at) => {
    let opened: Unit<Found> | null = null
    const unit = async () => {
      opened ??= await openUnit(bus, at, (chain) => make(chain, at))
      return opened
    }
    return { at, unit }
  })
  const [first] = await those(members, async ({ unit }) => await unit())
  const { identity } = first!.answer
  return {
    identity,
    members,
    askAll: (question) => those(members, async ({ unit }) => (await unit()).ask(question)),
  }
}

/** One after the other, so that other requests get their turn. */
async function those<Found, Of>(
  members: readonly Member<Found>[],
  ask: (member: Member<Found>) => Promise<Of>,
): Promise<{ answer: Of; at: ClusterUnit }[]> {
  const answers: { answer: Of; at: ClusterUnit }[] = []
  let failure: unknown = new Error('the battery has no units of clusters')
  for (const member of members) {
    try {
      answers.push({ answer: await ask(member), at: member.at })
    } catch (error) {
      failure = error
    }
  }
  if (answers.length === 0) throw failure
  return answers
}

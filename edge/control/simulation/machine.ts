/** What runs at a site: its program ends and begins again, its disk stays. */
import type { Judge } from './judge.ts'
import { Disk, ThinEdge } from './thin-edge.ts'
import type { World } from './world.ts'

export interface Machine {
  start(): void
  /** The program ends in the middle of what it does. */
  kill(): void
  /** A second passes, whether the program runs or not. */
  tick(): undefined | Promise<void>
}

export interface MachineNeeds {
  world: World
  judge: Judge
  note(text: () => string): void
  /** Of the episode. */
  seed: number
}

/** The thin loop of the simulation's own around the pure core. */
export function thinMachine({ world, judge, note }: MachineNeeds): Machine {
  const disk = new Disk()
  let edge: ThinEdge | null = null
  let is_first = true
  return {
    start() {
      if (!is_first) disk.lose(world.chance.yes(0.5))
      is_first = false
      edge = new ThinEdge(world, judge, disk, note)
    },
    kill() {
      edge = null
      // The next one does not know what this one claimed.
      judge.applied_w = new Map()
    },
    tick() {
      edge?.tick()
      return undefined
    },
  }
}

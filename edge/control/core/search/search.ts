/** Exhaustive search of the states that small sites can reach. */
import { times } from '../worst.ts'
import { judgeCalm } from './calm.ts'
import type { Config } from './configurations.ts'
import { judgeDecision, judgeStep } from './judge.ts'
import { hash, keyOf } from './key.ts'
import { commandsOf, next } from './steps.ts'
import { Broken, begin, short, type World } from './world.ts'

interface Result {
  states: number
  steps: number
  is_complete: boolean
  failure: string | null
}

/**
 * Depth first finds deep faults early, breadth first the shortest way to a fault. Random order
 * takes any of the states that were reached and not yet explored.
 */
export type Order = 'depth' | 'breadth' | 'random'

export function search(config: Config, max: number, order: Order = 'depth'): Result {
  const real_times = { ...times }
  Object.assign(times, short)
  try {
    return explore(config, max, order)
  } finally {
    Object.assign(times, real_times)
  }
}

function explore(config: Config, max: number, order: Order): Result {
  const first = begin(config)
  const first_key = hash(keyOf(config, first))
  const from = new Map<number, readonly [number, string] | null>([[first_key, null]])
  let open: [number, World][] = [[first_key, first]]
  let nth = 0
  let seed = 1
  const result: Result = { states: 0, steps: 0, is_complete: false, failure: null }
  while (nth < open.length && result.states < max) {
    if (order === 'random') {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      const at = Math.floor((seed / 2 ** 32) * open.length)
      ;[open[at], open[open.length - 1]] = [open.at(-1)!, open[at]!]
    }
    const [key, world] = order === 'breadth' ? open[nth++]! : open.pop()!
    if (nth > 100_000) [open, nth] = [open.slice(nth), 0]
    result.states++
    let name = ''
    try {
      judgeDecision(config, world)
      if (result.states % 5 === 0) judgeCalm(config, world)
      for (const one of next(config, world)) {
        name = one[0]
        result.steps++
        judgeStep(config, world, one)
        const after_key = hash(keyOf(config, one[1]))
        if (from.has(after_key)) continue
        from.set(after_key, [key, name])
        open.push([after_key, one[1]])
      }
    } catch (error) {
      const way = [name]
      for (let at_key = from.get(key); at_key; at_key = from.get(at_key[0])) way.unshift(at_key[1])
      const message = error instanceof Broken ? error.message : (error as Error).stack!
      return { ...result, failure: `${message}, after\n  ${shortened(config, way).join('\n  ')}` }
    }
  }
  return { ...result, is_complete: open.length === nth || open.length === 0 }
}

/** Leaves out steps as long as the rest still fails. */
function shortened(config: Config, way: readonly string[]): readonly string[] {
  let kept = failing(config, way)
  for (
    let size = Math.ceil((kept?.length ?? 0) / 2);
    kept && size >= 1;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let nth = 0; nth < kept.length; ) {
      const less = failing(
        config,
        kept.filter((_, other) => other < nth || other >= nth + size),
      )
      if (less) kept = less
      else nth += size
    }
  }
  return kept ?? ['(the way is not reproduced by its names)']
}

function failing(config: Config, way: readonly string[]): string[] | null {
  let world = begin(config)
  const done: string[] = []
  try {
    judgeDecision(config, world)
    for (const name of way) {
      const one = [...next(config, world)].find(([other]) => other === name)
      if (!one) continue
      done.push(name)
      judgeStep(config, world, one)
      world = one[1]
      judgeDecision(config, world)
      judgeCalm(config, world)
      commandsOf(config, world)
    }
  } catch {
    return done
  }
  return null
}

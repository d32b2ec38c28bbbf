import { setTimeout as wait } from 'node:timers/promises'

interface GroupRules<Item, Done> {
  /** Groups under way at a time. */
  at_once: number
  /** A group starts no earlier than this after the one before it. */
  rest_ms?: number
  /** Largest sum of sizes in a group; a single item may exceed it. */
  size_max?: number
  sizeOf?: (item: Item) => number
  /** Whether an error of a group may concern only one of its items. */
  concernsOne?: (error: unknown) => boolean
  /** Does the work for one item of a group that failed. */
  alone?: (item: Item) => Promise<Done>
}

interface Waiting<Item, Done> {
  item: Item
  resolve(done: Done): void
  reject(error: unknown): void
}

/**
 * Does the work of waiting items in groups, in the order of arrival. The returned function resolves
 * with the result of its item, and rejects with the error of its group.
 */
export function inGroups<Item, Done>(
  work: (items: readonly Item[]) => Promise<readonly Done[]>,
  rules: GroupRules<Item, Done>,
): (item: Item) => Promise<Done> {
  const { at_once, rest_ms = 0, size_max = 0, sizeOf = () => 1 } = rules
  const { concernsOne = () => false, alone } = rules
  const waiting: Waiting<Item, Done>[] = []
  let under_way = 0
  let is_resting = false

  function start(): void {
    while (waiting.length > 0 && under_way < at_once && !is_resting) void run(take())
  }

  function take(): Waiting<Item, Done>[] {
    let size = 0
    const count = waiting.findIndex(({ item }, nth) => {
      size += sizeOf(item)
      return nth > 0 && size > size_max
    })
    return waiting.splice(0, count < 0 ? waiting.length : count)
  }

  async function run(group: readonly Waiting<Item, Done>[]): Promise<void> {
    under_way += 1
    if (rest_ms > 0) void rest()
    try {
      const done = await work(group.map(({ item }) => item))
      for (const [nth, { resolve }] of group.entries()) resolve(done[nth]!)
    } catch (error) {
      const divided = group.length > 1 && concernsOne(error) ? alone : undefined
      for (const { item, resolve, reject } of group) {
        if (divided) divided(item).then(resolve, reject)
        else reject(error)
      }
    }
    under_way -= 1
    start()
  }

  async function rest(): Promise<void> {
    is_resting = true
    await wait(rest_ms)
    is_resting = false
    start()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      start()
    })
}

/** Random curtailment commands over HTTP, each asked for until it is answered. */

import { setTimeout as wait } from 'node:timers/promises'
import { minute_ms } from '@heliograph/domain/durations'

type Item = Record<string, unknown>

interface Answer {
  status: number
  text: string
}

export interface CommandClient {
  /** Asks for a limit by chance. */
  command(): void
  /** Releases one of the groups so far by chance, now and then one that was released before. */
  release(): void
  /** Groups whose release was not asked for yet. */
  readonly unreleased: number
  /** Asks for this one, and waits for the answer. */
  answered(path: string, body: unknown): Promise<void>
  /** Resolves when all is answered, but for keys that a killed server has locked for a minute. */
  settled(): Promise<void>
  /** Releases every row that is not over, and waits until all are. */
  releaseAll(): Promise<void>
  /** Asks until it is as wanted; false: it never was. */
  until(path: string, isTrue: (list: { data: Item[] }) => boolean): Promise<boolean>
  /** By Idempotency-Key, the group that was answered; null: none was, it may be there or not. */
  groups: ReadonlyMap<string, string | null>
  counts: { commands: number; releases: number }
  /** Answers that should not be. */
  faults: readonly string[]
}

const patience_ms = 90_000
const again_ms = 100

export function commandClient(base: string, api_key: string, random: () => number): CommandClient {
  const groups = new Map<string, string | null>()
  const released = new Set<string>()
  const counts = { commands: 0, releases: 0 }
  const faults: string[] = []
  const under_way = new Set<Promise<unknown>>()
  let is_over = false

  /**
   * The first answer that is one: what a server says that is starting or dies is none. Null where
   * it is over and a server that was killed has locked the key.
   */
  async function insist(method: string, path: string, body?: unknown, key?: string) {
    const late = Date.now() + patience_ms
    const headers = {
      authorization: `Bearer ${api_key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    for (;;) {
      const answer = await ask(`${base}${path}`, init)
      const is_busy = answer === null || answer.status >= 500 || isInProgress(answer)
      if (!is_busy) return answer
      if (is_over && answer && isInProgress(answer)) return null
      if (Date.now() > late) {
        throw new Error(`${method} ${path} is not answered: ${answer?.text ?? 'no connection'}`)
      }
      await wait(again_ms)
    }
  }

  async function create(path: string, body: unknown): Promise<void> {
    counts.commands += 1
    const key = `key-${counts.commands}`
    const is_repeated = random() < 0.3
    groups.set(key, null)
    const answer = await insist('POST', path, body, key)
    if (!answer) return
    const { status, text } = answer
    // A window may be over when it is asked for again at last.
    if (status === 422 && text.includes('later than now')) {
      groups.delete(key)
      return
    }
    if (status !== 201) {
      faults.push(`POST ${path} ${JSON.stringify(body)} is answered with ${status}: ${text}`)
      return
    }
    groups.set(key, (JSON.parse(text) as { group_id: string }).group_id)
    if (!is_repeated) return
    const again = await insist('POST', path, body, key)
    if (again && again.text !== text) {
      faults.push(`${key} was answered twice: ${text} and ${again.text}`)
    }
  }

  async function release(group_id: string): Promise<void> {
    counts.releases += 1
    released.add(group_id)
    const key = random() < 0.5 ? `release-${counts.releases}` : undefined
    const answer = await insist('DELETE', `/curtailment/group/${group_id}`, undefined, key)
    if (!answer || answer.status === 200) return
    faults.push(`the release of ${group_id} is answered with ${answer.status}: ${answer.text}`)
  }

  async function read(path: string) {
    const answer = await insist('GET', path)
    return JSON.parse(answer!.text) as { data: Item[] }
  }
  const open = async () =>
    new Set((await read('/curtailment')).data.map((row) => row['group_id'] as string))
  const answeredGroups = () => [...groups.values()].filter((group_id) => group_id !== null)
  const inBackground = (work: Promise<unknown>) => {
    under_way.add(work)
    work.catch((error: Error) => faults.push(error.message)).finally(() => under_way.delete(work))
  }

  return {
    command: () => inBackground(create(...randomCommand(random))),
    release() {
      const all = answeredGroups()
      const known = random() < 0.1 ? all : all.filter((group_id) => !released.has(group_id))
      const group_id = known[Math.floor(random() * known.length)]
      if (group_id !== undefined) inBackground(release(group_id))
    },
    get unreleased() {
      return answeredGroups().length - released.size
    },
    answered: create,
    async settled() {
      is_over = true
      await Promise.allSettled(under_way)
      is_over = false
    },
    async releaseAll() {
      const late = Date.now() + patience_ms
      for (let left = await open(); left.size > 0; left = await open()) {
        if (Date.now() > late) throw new Error(`not released: ${[...left].join(', ')}`)
        await Promise.all([...left].map(release))
      }
    },
    async until(path, isTrue) {
      const late = Date.now() + patience_ms
      while (Date.now() < late) {
        if (isTrue(await read(path))) return true
        await wait(again_ms)
      }
      return false
    },
    groups,
    counts,
    faults,
  }
}

async function ask(url: string, init: RequestInit): Promise<Answer | null> {
  try {
    const answer = await fetch(url, init)
    return { status: answer.status, text: await answer.text() }
  } catch {
    return null
  }
}

const isInProgress = ({ status, text }: Answer) =>
  status === 409 && text.includes('idempotency_in_progress')

/** Mostly of plant 2: what it leaves goes to plant 1, and has to come back before its end shows. */
function randomCommand(random: () => number): [path: string, body: unknown] {
  const between = (from: number, to: number) => from + random() * (to - from)
  const is_site = random() < 0.25
  const is_percent = random() < 0.5
  const where = is_site ? { scope: 'site' } : { scope: 'logger', logger_id: random() < 0.3 ? 1 : 2 }
  const limit_mode = is_percent ? 'percent' : 'kw'
  const most = is_percent ? 120 : is_site ? 12_000 : 6000
  const limit = { ...where, limit_mode, limit_value: Number(between(most / 100, most).toFixed(2)) }
  if (random() < 0.5) {
    const held = random() < 0.5 ? {} : { duration_minutes: 1 + Math.floor(random() * 3) }
    return ['/curtailment/immediate', { ...limit, ...held }]
  }
  const start = Date.now() + between(-minute_ms / 10, minute_ms / 10)
  const end = Math.max(start, Date.now()) + between(1000, minute_ms / 4)
  const iso = (at: number) => new Date(at).toISOString()
  return ['/curtailment/window', { ...limit, start_at: iso(start), end_at: iso(end) }]
}

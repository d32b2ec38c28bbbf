/**
 * What an operator on the site asks of the agent about the limits that it remembers: a file for
 * each request in its data directory. So it works beside a running agent, and waits for one that is
 * stopped. The agent takes a file away when it has done what it says, or refused to.
 */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Timers } from '@heliograph/domain/clock'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { syncDirectory, writeDurably } from '../durable-file.ts'

const asked = {
  /** Tells it from every other, so that it is done but once. */
  request_id: Type.String({ pattern: '^[0-9a-z-]{1,60}$' }),
  inverter_id: Type.Integer(),
  /** Unix ms. */
  asked_at: Type.Integer({ minimum: 0, maximum: 8.64e15 }),
  /** Without control characters: it is printed. */
  asked_by: Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$' }),
}

/** The limit of another at this inverter, of so many watts, is nobody's and is to be forgotten. */
export type ForgetRequest = Static<typeof ForgetRequest>
export const ForgetRequest = Type.Object({
  ...asked,
  /** As the operator saw it: what is another by then is left alone. */
  external_w: Type.Number({ minimum: 0 }),
})

/** A device that site.yaml does not have any more is disconnected, and is to count no more. */
export type DisconnectRequest = Static<typeof DisconnectRequest>
export const DisconnectRequest = Type.Object({ ...asked, is_disconnected: Type.Literal(true) })

/** The same of a PCS of a battery. */
export type DisconnectPcsRequest = Static<typeof DisconnectPcsRequest> & { inverter_id?: never }
const { inverter_id: _, ...asked_of_pcs } = asked
export const DisconnectPcsRequest = Type.Object({
  ...asked_of_pcs,
  bess_id: Type.Integer({ minimum: 1 }),
  pcs_idx: Type.Integer({ minimum: 0 }),
  is_disconnected: Type.Literal(true),
})

const requests = [ForgetRequest, DisconnectRequest, DisconnectPcsRequest] as const

export type OperatorRequest = ForgetRequest | DisconnectRequest | DisconnectPcsRequest

const look_ms = 1000
const nameOf = (request_id: string) => `forget-limit-${request_id}.json`
const isName = (name: string) => /^forget-limit-[^.]*\.json$/.test(name)

/** Durable when it resolves. Whoever may write into the directory may ask. */
export async function askToForget(dir: string, request: OperatorRequest): Promise<void> {
  // The agent may be another account than who asks; nobody else comes into its directory.
  await writeDurably(join(dir, nameOf(request.request_id)), JSON.stringify(request), 0o644)
}

/** What is asked for and not done yet. */
export async function openRequests(dir: string): Promise<OperatorRequest[]> {
  const names = (await readdir(dir)).filter(isName)
  const found = await Promise.all(names.map((name) => read(dir, name).catch(() => null)))
  return found.filter((request) => request !== null)
}

export interface RequestWatchNeeds {
  dir: string
  timers: Timers
  /**
   * Does what is asked for, or refuses it: true when that is durable, false where it has to be
   * asked again later. It is asked again also for what was done, where only the file was left.
   */
  take(request: OperatorRequest): Promise<boolean>
  /** Once for each file. */
  onFault(error: Error): void
}

/** Looks for requests each second; where the disk hangs it waits, and nothing else does. */
export function watchRequests({ dir, timers, take, onFault }: RequestWatchNeeds): {
  close(): void
} {
  const failed = new Set<string>()
  let is_closed = false
  let cancel = () => {}
  const settle = async (name: string) => {
    const request = await read(dir, name)
    if (request && !(await take(request))) return
    await rm(join(dir, name), { force: true })
    await syncDirectory(dir)
    if (!request) onFault(new Error(`${name} cannot be understood, and is dropped`))
    failed.delete(name)
  }
  const fail = (name: string, error: unknown) => {
    if (!failed.has(name)) onFault(error as Error)
    failed.add(name)
  }
  const look = async () => {
    const names = await readdir(dir)
    for (const name of names.filter(isName)) {
      if (!is_closed) await settle(name).catch((error: unknown) => fail(name, error))
    }
    failed.delete(dir)
  }
  const plan = () => {
    cancel = timers.after(look_ms, () => {
      void look()
        .catch((error: unknown) => fail(dir, error))
        .then(() => {
          if (!is_closed) plan()
        })
    })
  }
  plan()
  return {
    close() {
      is_closed = true
      cancel()
    },
  }
}

/** null: it is no request. */
async function read(dir: string, name: string): Promise<OperatorRequest | null> {
  const text = await readFile(join(dir, name), 'utf8')
  try {
    const found: unknown = JSON.parse(text)
    if (!requests.some((schema) => Value.Check(schema, found))) return null
    const request = found as OperatorRequest
    return name === nameOf(request.request_id) ? request : null
  } catch {
    return null
  }
}

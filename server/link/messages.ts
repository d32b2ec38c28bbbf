/** Messages from an edge, checked on arrival. Pure. */
import { Batch, Hello, isNewerKind, StatusReport } from '@heliograph/domain/link'
import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Checker, firstFault } from '../telemetry/first-fault.ts'
import { Refused, shown } from '../telemetry/refused.ts'

export type HelloMessage = Static<typeof Hello>
export type BatchMessage = Static<typeof Batch>
export type StatusMessage = Static<typeof StatusReport>
export type Message = HelloMessage | BatchMessage | StatusMessage

const checkers = new Map<unknown, Checker<unknown>>([
  ['hello', Compile(Hello)],
  ['batch', Compile(Batch)],
  ['status', Compile(StatusReport)],
])

/** The last millisecond of the year 9999, the latest valid instant. */
const instant_max = 253_402_300_799_999

export function readMessage(text: string): Message {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Refused(`not JSON: ${(error as Error).message}`)
  }
  const type = (value as { type?: unknown } | null)?.type
  if (type === 'status') leaveOutNewerKinds(value as { devices?: unknown })
  const checker = checkers.get(type)
  if (!checker) throw new Refused(`unknown type of message: ${shown(type)}`)
  if (!checker.Check(value)) throw new Refused(`${type}${firstFault(checker, value)}`)
  const message = value as Message
  checkNumbers(message)
  return message
}

/** Skips devices of a kind that only a newer edge knows. */
function leaveOutNewerKinds(report: { devices?: unknown }): void {
  if (!Array.isArray(report.devices)) return
  report.devices = report.devices.filter((device) => !isNewerKind(device?.kind))
}

/** JSON Schema accepts 1e300 as an integer; sequence numbers and instants are smaller. */
function checkNumbers(message: Message): void {
  if (message.type === 'batch') {
    if (message.frames.every(({ seq }) => Number.isSafeInteger(seq))) return
    throw new Refused('batch: a seq is too large')
  }
  const instants = message.type === 'hello' ? [message.sent_at] : instantsOf(message)
  if (instants.some((at) => at !== null && at > instant_max)) {
    throw new Refused(`${message.type}: an instant is too late`)
  }
  const counts =
    message.type === 'hello' ? [] : [message.journal.depth_frames, message.journal.depth_bytes]
  if (![message.lowest_unacked_seq, ...counts].every(Number.isSafeInteger)) {
    throw new Refused(`${message.type}: a count is too large`)
  }
}

function instantsOf({ at, journal, devices }: StatusMessage): (number | null)[] {
  return [at, journal.oldest_at, ...devices.flatMap(({ since, last_ok_at }) => [since, last_ok_at])]
}

/** Parses the payload of one frame of a batch again. */
export function payloadIn(batch_text: string, index: number): unknown {
  return (JSON.parse(batch_text) as BatchMessage).frames[index]?.payload
}

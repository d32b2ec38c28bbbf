/**
 * One connection of a controlled station (IEC 60870-5-104, 5): sequence numbers, acknowledgements,
 * start and stop of data transfer, and the times t1 to t3. Pure: state and event give the next
 * state and what is to be done. Times are ms of a stopwatch.
 */
import { type Apdu, type FunctionName, seq_modulus } from './apci.ts'

export interface TransferParameters {
  /** Most I frames that are sent and not acknowledged. */
  k: number
  /** I frames after which an acknowledgement is sent at the latest. */
  w: number
  /** Time in which an acknowledgement of an I or U frame has to arrive. */
  t1_ms: number
  /** Time after which received I frames are acknowledged. */
  t2_ms: number
  /** Silence after which the connection is tested. */
  t3_ms: number
}

export interface Transfer {
  /**
   * `stopping`: a stop was received, and I frames sent before have no acknowledgement yet. Only U
   * and S frames may arrive then, and only U frames while `stopped`.
   */
  data: 'stopped' | 'started' | 'stopping'
  send_seq: number
  receive_seq: number
  /** I frames without an acknowledgement: when each was sent, oldest first. */
  sent_ms: readonly number[]
  /** I frames received since the last acknowledgement, and when the first of them was. */
  unconfirmed: number
  unconfirmed_since_ms: number
  /** When a test was sent that has no answer yet; null: none. */
  tested_ms: number | null
  heard_ms: number
}

export type TransferEvent =
  | { is: 'received'; apdu: Apdu }
  /** Only where `maySend`. */
  | { is: 'send'; asdu: Uint8Array }
  /** Time has passed; see `dueAt`. */
  | { is: 'time' }

export type Action =
  | { do: 'write'; apdu: Apdu }
  | { do: 'deliver'; asdu: Uint8Array }
  /** So many of the I frames sent first have arrived. */
  | { do: 'acknowledged'; count: number }
  | { do: 'start' }
  | { do: 'stop' }
  | { do: 'close'; reason: string }

interface Step {
  transfer: Transfer
  actions: Action[]
}

export const newTransfer = (now_ms: number): Transfer => ({
  data: 'stopped',
  send_seq: 0,
  receive_seq: 0,
  sent_ms: [],
  unconfirmed: 0,
  unconfirmed_since_ms: now_ms,
  tested_ms: null,
  heard_ms: now_ms,
})

export const maySend = ({ data, sent_ms }: Transfer, { k }: TransferParameters): boolean =>
  data === 'started' && sent_ms.length < k

/** When a `time` event is due, by the stopwatch. */
export function dueAt(transfer: Transfer, { t1_ms, t2_ms, t3_ms }: TransferParameters): number {
  const { sent_ms, unconfirmed, unconfirmed_since_ms, tested_ms, heard_ms } = transfer
  return Math.min(
    sent_ms.length > 0 ? sent_ms[0]! + t1_ms : Number.POSITIVE_INFINITY,
    unconfirmed > 0 ? unconfirmed_since_ms + t2_ms : Number.POSITIVE_INFINITY,
    tested_ms === null ? heard_ms + t3_ms : tested_ms + t1_ms,
  )
}

export function step(
  transfer: Transfer,
  event: TransferEvent,
  now_ms: number,
  parameters: TransferParameters,
): Step {
  switch (event.is) {
    case 'received':
      return receive({ ...transfer, heard_ms: now_ms }, event.apdu, now_ms, parameters)
    case 'send':
      if (!maySend(transfer, parameters)) throw new Error('nothing may be sent now')
      return send(transfer, event.asdu, now_ms)
    case 'time':
      return passTime(transfer, now_ms, parameters)
  }
}

function receive(
  transfer: Transfer,
  apdu: Apdu,
  now_ms: number,
  parameters: TransferParameters,
): Step {
  if (apdu.format === 'u') return receiveFunction(transfer, apdu.function)
  const { data } = transfer
  if (data === 'stopped' || (data === 'stopping' && apdu.format === 'i')) {
    return close(transfer, `an ${apdu.format.toUpperCase()} frame while data transfer is ${data}`)
  }
  const acknowledged = acknowledge(transfer, apdu.receive_seq)
  if (acknowledged === null) {
    return close(transfer, `acknowledges ${apdu.receive_seq}, which was not sent`)
  }
  if (apdu.format === 's') return settleStop(acknowledged)
  const expected = transfer.receive_seq
  if (apdu.send_seq !== expected) {
    return close(transfer, `I frame ${apdu.send_seq} instead of ${expected}`)
  }
  const { unconfirmed, unconfirmed_since_ms } = acknowledged.transfer
  const received: Transfer = {
    ...acknowledged.transfer,
    receive_seq: (expected + 1) % seq_modulus,
    unconfirmed: unconfirmed + 1,
    unconfirmed_since_ms: unconfirmed === 0 ? now_ms : unconfirmed_since_ms,
  }
  const actions: Action[] = [...acknowledged.actions, { do: 'deliver', asdu: apdu.asdu }]
  if (received.unconfirmed < parameters.w) return { transfer: received, actions }
  const confirmed = confirm(received)
  return { transfer: confirmed.transfer, actions: [...actions, ...confirmed.actions] }
}

function receiveFunction(transfer: Transfer, received: FunctionName): Step {
  const answer = (named: FunctionName): Action => ({
    do: 'write',
    apdu: { format: 'u', function: named },
  })
  switch (received) {
    case 'start_act': {
      const started: Action[] = transfer.data === 'started' ? [] : [{ do: 'start' }]
      return {
        transfer: { ...transfer, data: 'started' },
        actions: [answer('start_con'), ...started],
      }
    }
    case 'stop_act': {
      const { transfer: confirmed, actions } = confirm(transfer)
      const stopped: Action[] = transfer.data === 'started' ? [{ do: 'stop' }] : []
      const settled = settleStop({ transfer: { ...confirmed, data: 'stopping' }, actions })
      return { ...settled, actions: [...stopped, ...settled.actions] }
    }
    case 'test_act':
      return { transfer, actions: [answer('test_con')] }
    case 'test_con':
      return { transfer: { ...transfer, tested_ms: null }, actions: [] }
    default:
      return close(transfer, `${received} from a controlling station, which only activates`)
  }
}

/** Takes an acknowledgement; null where it names a frame that was not sent. */
function acknowledge(transfer: Transfer, receive_seq: number): Step | null {
  const { send_seq, sent_ms } = transfer
  const open = (send_seq - receive_seq + seq_modulus) % seq_modulus
  if (open > sent_ms.length) return null
  const count = sent_ms.length - open
  return {
    transfer: { ...transfer, sent_ms: sent_ms.slice(count) },
    actions: count > 0 ? [{ do: 'acknowledged', count }] : [],
  }
}

/** A stop is confirmed once all that was sent is acknowledged. */
function settleStop({ transfer, actions }: Step): Step {
  if (transfer.data !== 'stopping' || transfer.sent_ms.length > 0) return { transfer, actions }
  const stop_con: Action = { do: 'write', apdu: { format: 'u', function: 'stop_con' } }
  return { transfer: { ...transfer, data: 'stopped' }, actions: [...actions, stop_con] }
}

function confirm(transfer: Transfer): Step {
  const { unconfirmed, receive_seq } = transfer
  if (unconfirmed === 0) return { transfer, actions: [] }
  return {
    transfer: { ...transfer, unconfirmed: 0 },
    actions: [{ do: 'write', apdu: { format: 's', receive_seq } }],
  }
}

function send(transfer: Transfer, asdu: Uint8Array, now_ms: number): Step {
  const { send_seq, receive_seq, sent_ms } = transfer
  return {
    transfer: {
      ...transfer,
      send_seq: (send_seq + 1) % seq_modulus,
      sent_ms: [...sent_ms, now_ms],
      // An I frame acknowledges what was received.
      unconfirmed: 0,
    },
    actions: [{ do: 'write', apdu: { format: 'i', send_seq, receive_seq, asdu } }],
  }
}

function passTime(transfer: Transfer, now_ms: number, parameters: TransferParameters): Step {
  const { sent_ms, tested_ms, unconfirmed, unconfirmed_since_ms, heard_ms } = transfer
  const { t1_ms, t2_ms, t3_ms } = parameters
  if (sent_ms.length > 0 && now_ms >= sent_ms[0]! + t1_ms) {
    return close(transfer, 'an I frame was not acknowledged in time')
  }
  if (tested_ms !== null && now_ms >= tested_ms + t1_ms) {
    return close(transfer, 'a test was not answered in time')
  }
  const is_late = unconfirmed > 0 && now_ms >= unconfirmed_since_ms + t2_ms
  const confirmed = is_late ? confirm(transfer) : { transfer, actions: [] }
  if (tested_ms !== null || now_ms < heard_ms + t3_ms) return confirmed
  const test: Action = { do: 'write', apdu: { format: 'u', function: 'test_act' } }
  return {
    transfer: { ...confirmed.transfer, tested_ms: now_ms },
    actions: [...confirmed.actions, test],
  }
}

const close = (transfer: Transfer, reason: string): Step => ({
  transfer,
  actions: [{ do: 'close', reason }],
})

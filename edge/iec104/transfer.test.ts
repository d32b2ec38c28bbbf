/** The procedures of IEC 60870-5-104, 5, line by line. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Apdu, FunctionName } from './apci.ts'
import {
  type Action,
  dueAt,
  maySend,
  newTransfer,
  step,
  type TransferEvent,
  type TransferParameters,
} from './transfer.ts'

const parameters: TransferParameters = {
  k: 3,
  w: 2,
  t1_ms: 15_000,
  t2_ms: 10_000,
  t3_ms: 20_000,
}
const asdu = Uint8Array.of(1)

const wordsOf = (apdu: Apdu) => {
  if (apdu.format === 'u') return apdu.function
  if (apdu.format === 's') return `s ${apdu.receive_seq}`
  return `i ${apdu.send_seq} ${apdu.receive_seq}`
}

const said = (action: Action) => {
  if (action.do === 'write') return wordsOf(action.apdu)
  if (action.do === 'acknowledged') return `acknowledged ${action.count}`
  return action.do
}

const function_names = ['start_act', 'start_con', 'stop_act', 'stop_con', 'test_act', 'test_con']

/** `i 0 0` and `s 1` are received, `send` is ours, `15000` is an instant. */
function eventOf(word: string): TransferEvent {
  const [kind, first, second] = word.split(' ')
  const [one, two] = [Number(first), Number(second)]
  if (word === 'send') return { is: 'send', asdu }
  if (kind === 'i') {
    return { is: 'received', apdu: { format: 'i', send_seq: one, receive_seq: two, asdu } }
  }
  if (kind === 's') return { is: 'received', apdu: { format: 's', receive_seq: one } }
  if (function_names.includes(word)) {
    return { is: 'received', apdu: { format: 'u', function: word as FunctionName } }
  }
  return { is: 'time' }
}

function play(script: readonly string[]) {
  let transfer = newTransfer(0)
  let now_ms = 0
  const done: string[] = []
  for (const word of script) {
    const event = eventOf(word)
    if (event.is === 'time') now_ms = Number(word)
    const next = step(transfer, event, now_ms, parameters)
    transfer = next.transfer
    done.push(...next.actions.map(said))
    if (done.includes('close')) break
  }
  return { transfer, done }
}

const procedures: [what: string, script: string, answer: string][] = [
  ['start is confirmed', 'start_act', 'start_con, start'],
  ['a second start is confirmed', 'start_act, start_act', 'start_con, start, start_con'],
  ['a test is answered while stopped', 'test_act', 'test_con'],
  ['stop is confirmed while stopped', 'stop_act', 'stop_con'],
  ['stop is confirmed', 'start_act, stop_act', 'start_con, start, stop, stop_con'],
  [
    'stop acknowledges what was received',
    'start_act, i 0 0, stop_act',
    'start_con, start, deliver, stop, s 1, stop_con',
  ],
  [
    'stop is confirmed once all is acknowledged',
    'start_act, send, send, stop_act, s 1, s 2',
    'start_con, start, i 0 0, i 1 0, stop, acknowledged 1, acknowledged 1, stop_con',
  ],
  [
    'a start takes an unconfirmed stop back',
    'start_act, send, stop_act, start_act',
    'start_con, start, i 0 0, stop, start_con, start',
  ],
  ['an I frame closes a stopped connection', 'i 0 0', 'close'],
  ['an S frame closes a stopped connection', 's 0', 'close'],
  [
    'an I frame closes a stopping connection',
    'start_act, send, stop_act, i 0 1',
    'start_con, start, i 0 0, stop, close',
  ],
  ['a confirmation of a start closes', 'start_con', 'close'],
  ['a confirmation of a stop closes', 'stop_con', 'close'],
  [
    'w received frames are acknowledged',
    'start_act, i 0 0, i 1 0',
    'start_con, start, deliver, deliver, s 2',
  ],
  [
    'an I frame acknowledges what was received',
    'start_act, i 0 0, send, 10000, 14999',
    'start_con, start, deliver, i 0 1',
  ],
  [
    'fewer are acknowledged after t2',
    'start_act, i 0 0, 9999, 10000',
    'start_con, start, deliver, s 1',
  ],
  ['a lost frame closes', 'start_act, i 0 0, i 2 0', 'start_con, start, deliver, close'],
  ['a repeated frame closes', 'start_act, i 0 0, i 0 0', 'start_con, start, deliver, close'],
  ['an acknowledgement of nothing closes', 'start_act, s 1', 'start_con, start, close'],
  [
    'an acknowledgement that goes back closes',
    'start_act, send, send, s 2, s 1',
    'start_con, start, i 0 0, i 1 0, acknowledged 2, close',
  ],
  [
    'an I frame with a wrong acknowledgement is not delivered',
    'start_act, i 0 5',
    'start_con, start, close',
  ],
  [
    'a frame without acknowledgement closes after t1',
    'start_act, send, 14999, 15000',
    'start_con, start, i 0 0, close',
  ],
  [
    't1 counts from the oldest frame',
    'start_act, send, 5000, send, s 1, 19999, 20000',
    'start_con, start, i 0 0, i 1 0, acknowledged 1, close',
  ],
  ['silence is tested after t3', '19999, 20000', 'test_act'],
  ['a test is answered in time', '20000, 34999, test_con, 35000', 'test_act'],
  ['a test without answer closes after t1', '20000, 35000', 'test_act, close'],
  [
    'a test is not answered by other frames',
    'start_act, 20000, i 0 0, 35000',
    'start_con, start, test_act, deliver, close',
  ],
  ['any frame ends the silence', '19999, test_act, 39998, 39999', 'test_con, test_act'],
]

for (const [what, script, answer] of procedures) {
  test(what, () => assert.equal(play(script.split(', ')).done.join(', '), answer))
}

test('k frames without acknowledgement are the most', () => {
  const { transfer } = play(['start_act', 'send', 'send'])
  assert.equal(maySend(transfer, parameters), true)
  const full = step(transfer, { is: 'send', asdu }, 0, parameters).transfer
  assert.equal(maySend(full, parameters), false)
  assert.throws(() => step(full, { is: 'send', asdu }, 0, parameters))
  const stopped = play(['start_act', 'stop_act']).transfer
  assert.equal(maySend(stopped, parameters), false)
})

test('sequence numbers go on at 0 after 32767', () => {
  let { transfer } = play(['start_act'])
  const actions: string[] = []
  const take = (event: TransferEvent) => {
    const next = step(transfer, event, 0, parameters)
    transfer = next.transfer
    actions.push(...next.actions.map(said))
  }
  for (let nth = 0; nth < 32_770; nth += 1) {
    take({ is: 'send', asdu })
    take(eventOf(`i ${nth % 32_768} ${(nth + 1) % 32_768}`))
  }
  assert.equal(actions.includes('close'), false)
  assert.equal(transfer.send_seq, 2)
  assert.equal(transfer.receive_seq, 2)
})

test('what is due next is known', () => {
  assert.equal(dueAt(newTransfer(100), parameters), 20_100)
  assert.equal(dueAt(play(['20000']).transfer, parameters), 35_000)
  assert.equal(dueAt(play(['start_act', 'i 0 0']).transfer, parameters), 10_000)
  assert.equal(dueAt(play(['start_act', 'send']).transfer, parameters), 15_000)
})

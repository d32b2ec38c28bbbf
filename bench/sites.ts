/**
 * Requests per second of an authenticated `GET /v1/sites`, relative to a bare `node:http` server
 * that answers the same bytes. Each runs alone in its process; this process generates the load over
 * pipelined connections, in turns, so that the server is the bottleneck.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { median, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { type ServedPlant, servedPlant } from './fixtures/served-plant.ts'

const limit = 0.5
const rounds = quickOr(1, 5)
const round_ms = quickOr(200, 2000)
const connections = 8
const pipelined = 8

type Ready = Pick<ServedPlant, 'port' | 'authorization'>

if (process.argv[2] === 'heliograph') await heliograph()
else if (process.argv[2] === 'bare') bare()
else await compare()

/** The server itself with its database, five sites, and a key without a rate limit to speak of. */
async function heliograph(): Promise<void> {
  const { db, port, authorization, ...plant } = await servedPlant({ inverters: 10, strings: 1 })
  await db.execute(
    `insert into sites (site_id, client_id, name)
     select 'site-' || nth, client_id, 'Site ' || nth from clients, generate_series(2, 5) as nth`,
  )
  ready({ port, authorization })
  process.once('disconnect', async () => {
    await plant[Symbol.asyncDispose]()
    process.exit(0)
  })
}

/** Answers every request with the given bytes. */
function bare(): void {
  let headers: Record<string, string> = {}
  let body = Buffer.alloc(0)
  const server = createServer((_, response) => {
    response.writeHead(200, headers)
    response.end(body)
  })
  process.once('message', (answer: { headers: Record<string, string>; body: string }) => {
    headers = answer.headers
    body = Buffer.from(answer.body)
    server.listen(0, '127.0.0.1', () =>
      ready({ port: (server.address() as AddressInfo).port, authorization: '' }),
    )
  })
  process.once('disconnect', () => process.exit(0))
}

function ready(state: Ready): void {
  process.send?.(state)
}

async function compare(): Promise<void> {
  const ours = fork(new URL(import.meta.url), ['heliograph'])
  const [ourReady] = (await once(ours, 'message')) as [Ready]
  const url = `http://127.0.0.1:${ourReady.port}/v1/sites`
  const answer = await fetch(url, { headers: { authorization: ourReady.authorization } })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  const dropped = ['date', 'connection', 'keep-alive', 'transfer-encoding']
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !dropped.includes(name)),
  )
  const peer = fork(new URL(import.meta.url), ['bare'])
  peer.send({ headers, body: await answer.text() })
  const [peerReady] = (await once(peer, 'message')) as [Ready]

  const ratios: number[] = []
  let best = { ours: 0, bare: 0 }
  for (let round = 0; round <= rounds; round += 1) {
    const bare_rps = await load(peerReady)
    const ours_rps = await load(ourReady)
    // The first round warms both up.
    if (ours_rps < 1 || bare_rps < 1) throw new Error('nothing was answered')
    if (round > 0) ratios.push(ours_rps / bare_rps)
    best = { ours: Math.max(best.ours, ours_rps), bare: Math.max(best.bare, bare_rps) }
  }
  for (const child of [ours, peer]) {
    const exit = once(child, 'exit')
    child.disconnect()
    await exit
  }
  const ratio = median(ratios)
  tell(
    ratio >= limit,
    `GET /v1/sites: ${best.ours.toFixed(0)} a second, bare node:http ${best.bare.toFixed(0)}; ` +
      `ratio ${ratio.toFixed(2)} (median of ${rounds}), limit ${limit}`,
  )
}

/** Answers a second over a few connections that are kept full. */
async function load({ port, authorization }: Ready): Promise<number> {
  const request = `GET /v1/sites HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
  const until = performance.now() + round_ms
  const began = performance.now()
  const counts = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true)
      let answered = 0
      socket.on('data', (chunk) => {
        const seen = chunk.toString('latin1').split('HTTP/1.1 200').length - 1
        answered += seen
        if (performance.now() < until) {
          if (seen > 0) socket.write(request.repeat(seen))
        } else socket.destroy()
      })
      socket.write(request.repeat(pipelined))
      await once(socket, 'close')
      return answered
    }),
  )
  const seconds = (performance.now() - began) / 1000
  return counts.reduce((sum, count) => sum + count, 0) / seconds
}

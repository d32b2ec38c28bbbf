/**
 * Time of an export of a million readings as CSV through the API, relative to plain `COPY … TO
 * STDOUT` of the same query by psql (or by the driver, without psql), in turns; and the memory that
 * it needs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { copyStatement } from '@heliograph/server/http/export-rows'
import { historyRows } from '@heliograph/server/telemetry/history'
import { to as copyTo } from 'pg-copy-streams'
import { inTurns, tell } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

/** At least half the speed of the peer. */
const limit = 2
const rows = quickOr(10_000, 1_000_000)
const rounds = quickOr(1, 3)
const grown_mib_max = 64

await using plant = await servedPlant({ inverters: 1, strings: 24 })
const end = new Date(Math.floor(Date.now() / 1000) * 1000)
await plant.db.execute(
  `INSERT INTO logger_readings
     SELECT 'plant', 1, $1::timestamptz - nth * interval '500 ms', 'good', 80 + 10 * random(),
       82 + 10 * random(), random() - 0.5, 80 + 10 * random(), 1 - random() / 100,
       50 + random() / 10, 81000 - nth / 7200.0 * 20, 90 + random(), 800 + random(), 40 + random(),
       20 + random(), 10, 10
     FROM generate_series(1, ${rows}) AS nth`,
  [end],
)
await plant.db.execute('VACUUM ANALYZE logger_readings')
const start = new Date(end.getTime() - rows * 500)
const window = { start: start.toISOString(), end: end.toISOString(), newest: false }
const request = { site_id: 'plant', device_id: 1, window, limit: null }
const statement = copyStatement('csv', historyRows('logger', request))
const has_psql = spawnSync('psql', ['--version']).status === 0

const byPeer = () => (has_psql ? byPsql(plant.url, statement) : byDriver(statement))
const byApi = async () =>
  bytesOf(
    await plant.open(`/loggers/1/history?start=${window.start}&end=${window.end}`, {
      accept: 'text/csv',
    }),
  )
const expected = await byPeer()
const read = await byApi()
if (read !== expected) throw new Error(`${read} bytes came back in place of ${expected}`)

const before_mib = rssMib()
let most_mib = before_mib
const watch = setInterval(() => {
  most_mib = Math.max(most_mib, rssMib())
}, 50)
const { ours_ms, peer_ms, ratio } = await inTurns({ ours: byApi, peer: byPeer, rounds })
clearInterval(watch)
const grown_mib = most_mib - before_mib
tell(
  ratio <= limit,
  `export of ${rows} rows, ${(expected / 2 ** 20).toFixed(0)} MiB of CSV: API ` +
    `${ours_ms.toFixed(0)} ms, COPY by ${has_psql ? 'psql' : 'the driver'} ` +
    `${peer_ms.toFixed(0)} ms; ratio ${ratio.toFixed(2)} (median of ${rounds}), limit ${limit}`,
)
tell(
  grown_mib <= grown_mib_max,
  `memory of server and client together: ${before_mib.toFixed(0)} MiB before, ` +
    `${most_mib.toFixed(0)} MiB at most, ${rssMib().toFixed(0)} MiB after; growth limit ` +
    `${grown_mib_max} MiB`,
)

async function byPsql(url: string, text: string): Promise<number> {
  const session = { ...process.env, PGOPTIONS: '-c TimeZone=UTC' }
  const psql = spawn('psql', [url, '-X', '-c', text], {
    env: session,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(psql, 'exit')
  const bytes = await bytesOf(psql.stdout)
  const [code] = await ended
  if (code !== 0) throw new Error(`psql exited with ${code}`)
  return bytes
}

async function byDriver(text: string): Promise<number> {
  const client = await plant.peer.connect()
  try {
    return await bytesOf(client.query(copyTo(text)))
  } finally {
    client.release()
  }
}

async function bytesOf(stream: Readable): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += (chunk as Buffer).length
  return bytes
}

function rssMib(): number {
  return process.memoryUsage.rss() / 2 ** 20
}

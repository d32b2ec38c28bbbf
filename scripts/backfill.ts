/**
 * Fills in the history of a simulated site through the back-fill lane of the link: `DAYS` days of
 * one-minute readings up to the start of the simulator. An interrupted run continues.
 */
import { readFileSync } from 'node:fs'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { importHistory } from '@heliograph/edge/importer'
import { historyFrameCount, historyFrames } from '@heliograph/simulator/history'
import { createSimulation } from '@heliograph/simulator/site'
import type { SimulatorState } from '@heliograph/simulator/state-file'
import { pino } from 'pino'

const { SITE_FILE = '', STATE_FILE = '', SERVER_URL = '', EDGE_TOKEN_FILE = '' } = process.env
const days = Number(process.env['DAYS'] || 30)
const log = pino({ name: 'backfill', level: process.env['LOG_LEVEL'] || 'info' })

// End with the parent process.
const onOrphaned = () => process.exit(1)
process.once('disconnect', onOrphaned)

const parsed = parseSiteFile(readFileSync(SITE_FILE, 'utf8'))
if ('problems' in parsed) throw new Error(`${SITE_FILE} is not a site file`)
const { site } = parsed
const { first, seed } = JSON.parse(readFileSync(STATE_FILE, 'utf8')) as SimulatorState
const total = historyFrameCount(site, days)

async function* frames() {
  const simulation = createSimulation(site, seed)
  for (const frame of historyFrames(simulation, { counters: first, days })) yield frame
}

await importHistory({
  url: SERVER_URL,
  token: readFileSync(EDGE_TOKEN_FILE, 'utf8').trim(),
  site_id: site.site_id,
  epoch: `history-${first.time_ms}`,
  agent_version: 'simulated history',
  frames: frames(),
  onProgress: ({ frames_done }) => process.send?.({ done: frames_done, total }),
  clock: systemClock,
  timers: systemTimers,
  random: Math.random,
  log,
})
process.send?.({ done: total, total })
process.off('disconnect', onOrphaned)
process.disconnect?.()

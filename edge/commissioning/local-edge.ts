/**
 * The agent in the process of a command, where none runs: the same control on the same data
 * directory, locked as the agent locks it. It has no server; its journal is sent by the next agent.
 */
import { randomUUID } from 'node:crypto'
import { systemClock, systemStopwatch, systemTimers } from '@heliograph/domain/clock'
import { pino } from 'pino'
import { startAgent } from '../agent.ts'
import { openBus } from '../bus/bus.ts'
import type { LocalConfig } from '../config.ts'
import { driverOf } from '../drivers/drivers.ts'

/**
 * @returns what stops the agent; devices keep the limits that they have then
 * @throws SiteFileError, or Error where the directory is locked
 */
export async function startLocalEdge(
  config: LocalConfig,
  { agent_version, note }: { agent_version: string; note(text: string): void },
): Promise<() => Promise<boolean>> {
  const random = Math.random
  const agent = await startAgent({
    config: { ...config, server_url: null, token: '' },
    agent_version,
    clock: systemClock,
    stopwatch: systemStopwatch,
    timers: systemTimers,
    random,
    newEpoch: randomUUID,
    newOrderId: randomUUID,
    log: pino({ level: 'warn', base: null }, { write: (line: string) => note(line.trimEnd()) }),
    openBus: (connection) => openBus(connection, { timers: systemTimers, random }),
    driverOf,
    onPoll() {},
  })
  return () => agent.stop()
}

/**
 * Relay contacts of the grid operator, read each second from a Modbus I/O module: each closed one
 * orders a limit of the whole site, as a setpoint of a control centre does.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { LinkEvent } from '@heliograph/domain/link'
import type { RelayInputs } from '@heliograph/domain/relay-inputs'
import type { Connection, Site } from '@heliograph/domain/site'
import type { Conditions, Source } from './conditions.ts'
import type { OutsideOrders } from './control/outside-orders.ts'
import type { Bus } from './drivers/driver.ts'
import { onGrid } from './grid.ts'
import type { Log } from './log.ts'

interface RelayWatchNeeds {
  clock: Clock
  timers: Timers
  log: Log
  conditions: Conditions
  /** The edge itself. */
  source: Source
  orders: OutsideOrders
  /** The bus on which devices of this connection are polled; null: none are. */
  busOf(connection_id: string): Bus | null
  openBus(connection: Connection): Bus
  onEvent(event: LinkEvent | null): void
}

const poll_ms = 1000
/** A contact bounces: what is read twice alike counts. */
const alike = 2
/** Answers that fail before the module counts as silent. */
const silent_after = 3

export class RelayWatch {
  readonly #needs: RelayWatchNeeds
  #stop = () => {}
  #own_bus: Bus | null = null

  constructor(needs: RelayWatchNeeds) {
    this.#needs = needs
  }

  /** One call at a time, after the devices of the site are polled. */
  async apply(site: Site): Promise<void> {
    await this.close()
    const { relay_inputs } = site
    if (relay_inputs) this.#watch(site, relay_inputs)
  }

  async close(): Promise<void> {
    this.#stop()
    this.#stop = () => {}
    await this.#own_bus?.close()
    this.#own_bus = null
  }

  #watch(site: Site, inputs: RelayInputs): void {
    const { clock, timers, log } = this.#needs
    const { fallback } = inputs
    const bus = this.#busOf(site, inputs)
    let seen: number | null = null
    let times = 0
    let failures = 0
    let is_busy = false
    const look = async () => {
      const bits = await read(bus, inputs).catch(() => null)
      if (bits === null) {
        failures += 1
        times = 0
        this.#reportSilence(failures >= silent_after)
        const silent_ms = failures * poll_ms
        if (fallback && silent_ms >= fallback.after_s * 1000) {
          await this.#order(site, fallback.limit_pct)
        }
        return
      }
      failures = 0
      this.#reportSilence(false)
      times = bits === seen ? times + 1 : 1
      seen = bits
      if (times >= alike) await this.#order(site, limitOf(inputs, bits))
    }
    this.#stop = onGrid({ clock, timers }, { interval_ms: poll_ms, phase_ms: 0 }, () => {
      if (is_busy) return
      is_busy = true
      look()
        .catch((error: Error) => log.error({ err: error }, 'the relay inputs are not obeyed'))
        .finally(() => {
          is_busy = false
        })
    })
  }

  #busOf({ connections }: Site, { connection }: RelayInputs): Bus {
    const shared = this.#needs.busOf(connection)
    if (shared) return shared
    const found = connections.find(({ connection_id }) => connection_id === connection)
    this.#own_bus = this.#needs.openBus(found!)
    return this.#own_bus
  }

  /** The same order again is no other order. */
  #order({ loggers }: Site, limit_pct: number): Promise<void> {
    const limit = { limit_mode: 'percent', limit_value: limit_pct } as const
    return this.#needs.orders.limit('digital_input', limit, loggers)
  }

  #reportSilence(is_silent: boolean): void {
    const { conditions, source, clock, onEvent } = this.#needs
    const condition = { ...source, code: 'relay_inputs_silent', severity: 'major' } as const
    const at = clock.now().getTime()
    const message = is_silent
      ? 'The module of the relay inputs does not answer'
      : 'The module of the relay inputs answers'
    onEvent(conditions.set(condition, { at, message, holds: is_silent }))
  }
}

async function read(bus: Bus, { unit_id, table, register }: RelayInputs): Promise<number> {
  const [bits] =
    table === 'input'
      ? await bus.readInputRegisters(unit_id, register, 1)
      : await bus.readHoldingRegisters(unit_id, register, 1)
  return bits!
}

function limitOf({ inputs, inverted = false, open_limit_pct = 100 }: RelayInputs, bits: number) {
  const closed = inputs.filter(({ bit }) => ((bits >> bit) & 1) === (inverted ? 0 : 1))
  if (closed.length === 0) return open_limit_pct
  return Math.min(...closed.map(({ limit_pct }) => limit_pct))
}

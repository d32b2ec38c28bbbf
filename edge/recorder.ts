/**
 * Gathers what was measured and noticed within a second into frames, and journals them with one
 * fsync. Readings that cannot be written are lost and counted; events wait until they can be.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import { type RowReport, rowKey } from '@heliograph/domain/curtailment'
import { frame_length_max, type LinkEvent, type Readings } from '@heliograph/domain/link'
import {
  columnsOf,
  type ReadingKind,
  type ReadingOf,
  readingKinds,
} from '@heliograph/domain/readings'
import type { Conditions, ConditionsSnapshot, Source } from './conditions.ts'
import { onGrid } from './grid.ts'
import type { Entry, Journal } from './journal.ts'
import type { Log } from './log.ts'

interface RecorderNeeds {
  /** The edge itself, as a source of events. */
  source: Source
  journal: Pick<Journal, 'append' | 'epoch' | 'last_seq'>
  conditions: Conditions
  clock: Clock
  timers: Timers
  log: Log
  /** Each reading as it comes. */
  onReading?<Kind extends ReadingKind>(kind: Kind, reading: ReadingOf[Kind]): void
}

/** How a reading is to be treated that cannot be written. */
interface Care {
  /** Whoever sent it sends it again: then it is not lost. */
  is_sent_again: boolean
}

const kinds = Object.keys(readingKinds) as ReadingKind[]
const columns = Object.fromEntries(kinds.map((kind) => [kind, columnsOf(kind)])) as Readonly<
  Record<ReadingKind, readonly string[]>
>

interface Row extends Care {
  kind: ReadingKind
  row: unknown[]
}

/** Kinds of frames that are lists of statements about batteries; see the link. */
type ToldKind = 'dispatch' | 'control_notes' | 'battery_setup'
type Told = Map<ToldKind, Map<string, object>>

const flush_ms = 1000
const rows_per_frame_max = 2000
const statements_per_frame_max = 500
/** What may wait while the disk is slow; what is more is lost. */
const waiting_rows_max = 50_000
const waiting_events_max = 10_000

export class Recorder {
  readonly #needs: RecorderNeeds
  #rows: Row[] = []
  #overflowed = false
  #events: LinkEvent[] = []
  /** The newest of each row. */
  #reports = new Map<string, RowReport>()
  #told: Told = new Map()
  #flushing: Promise<boolean> | null = null
  readonly #stop: () => void
  #lost_since_failing = 0
  #snapshot: ConditionsSnapshot | null = null
  /** Since the start. */
  readonly counts = { readings: 0, readings_lost: 0, events: 0, events_lost: 0 }

  constructor(needs: RecorderNeeds) {
    this.#needs = needs
    this.#stop = onGrid(needs, { interval_ms: flush_ms, phase_ms: 0 }, () => void this.flush())
  }

  reading<Kind extends ReadingKind>(
    kind: Kind,
    reading: ReadingOf[Kind],
    { is_sent_again }: Care = { is_sent_again: false },
  ): void {
    this.#needs.onReading?.(kind, reading)
    if (this.#rows.length >= waiting_rows_max) {
      this.#overflowed = true
      this.#lose(is_sent_again ? 0 : 1, 'the disk is too slow')
      return
    }
    const values = reading as unknown as Readonly<Record<string, unknown>>
    const row = columns[kind].map((name) => values[name] ?? null)
    this.#rows.push({ kind, row, is_sent_again })
  }

  /** Takes what `Conditions` answers: null is no event. */
  event(event: LinkEvent | null): void {
    if (!event) return
    const is_fault = event.edge !== 'falling' && event.severity !== 'info'
    this.#needs.log[is_fault ? 'warn' : 'info']({ event }, event.message)
    this.#events.push(event)
    if (this.#events.length > waiting_events_max) {
      this.#events.shift()
      this.counts.events_lost += 1
    }
  }

  /** Journals how far rows of curtailment have come, at once. */
  report(reports: readonly RowReport[]): void {
    for (const report of reports) this.#reports.set(rowKey(report.row), report)
    void this.persist()
  }

  /** Journals what is told of a battery with the next flush; of equal keys the newest. */
  tell(kind: ToldKind, key: string, statement: object): void {
    const statements = this.#told.get(kind) ?? new Map<string, object>()
    // Behind what was told of others meanwhile.
    statements.delete(key)
    this.#told.set(kind, statements.set(key, statement))
  }

  /** Whether all that was handed in until now is in the journal; never rejects. */
  async persist(): Promise<boolean> {
    // A flush under way may have begun before: the one after it takes what is new.
    await this.#flushing
    return await this.flush()
  }

  /** Journals what was gathered; false when not all of it could be. Never rejects. */
  flush(): Promise<boolean> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  async close(): Promise<void> {
    this.#stop()
    await this.persist()
    // That the journal is written again is an event of the write before.
    await this.flush()
  }

  async #write(): Promise<boolean> {
    const { journal, conditions, log } = this.#needs
    const rows = this.#rows
    const events = this.#events
    const is_whole = !this.#overflowed
    const reports = this.#reports
    const told = this.#told
    this.#rows = []
    this.#events = []
    this.#reports = new Map()
    this.#told = new Map()
    this.#overflowed = false
    this.#snapshot = conditions.snapshot() ?? this.#snapshot
    const entries = [
      ...statementEntries('curtailment', [...reports.values()]),
      ...[...told].flatMap(([kind, each]) => statementEntries(kind, [...each.values()])),
      ...readingEntries(rows),
      ...statementEntries('events', events),
    ]
    try {
      if (entries.length > 0) {
        await journal.append(entries)
        this.#recovered()
      }
      this.counts.readings += rows.length
      this.counts.events += events.length
    } catch (error) {
      log.error({ err: error, readings: rows.length }, 'the journal cannot be written')
      this.#events = [...events, ...this.#events]
      this.#reports = new Map([...reports, ...this.#reports])
      this.#told = joined(told, this.#told)
      const lost = rows.filter(({ is_sent_again }) => !is_sent_again)
      this.#lose(lost.length, (error as Error).message)
      return false
    }
    await this.#saveConditions()
    return is_whole
  }

  /** Until it works: the events are in the journal, so a restart before then loses nothing. */
  async #saveConditions(): Promise<void> {
    const { journal, conditions, log } = this.#needs
    if (!this.#snapshot) return
    try {
      await conditions.save(this.#snapshot, { epoch: journal.epoch, seq: journal.last_seq })
      this.#snapshot = null
    } catch (error) {
      log.error({ err: error }, 'the conditions cannot be saved; trying again')
    }
  }

  #lose(readings: number, why: string): void {
    this.counts.readings_lost += readings
    this.#lost_since_failing += readings
    const condition = { ...this.#needs.source, code: 'journal_write_failed' } as const
    const said = { at: this.#now(), message: `The journal cannot be written: ${why}` }
    this.event(this.#needs.conditions.rise({ ...condition, severity: 'critical' }, said))
  }

  #recovered(): void {
    const readings_lost = this.#lost_since_failing
    const fell = this.#needs.conditions.fall(this.#needs.source, 'journal_write_failed', {
      at: this.#now(),
      message: `The journal is written again; ${readings_lost} readings were lost`,
      details: { readings_lost },
    })
    if (fell) this.#lost_since_failing = 0
    this.event(fell)
  }

  #now(): number {
    return this.#needs.clock.now().getTime()
  }
}

/** What could not be written, and what was told since: of equal keys the newest. */
function joined(before: Told, since: Told): Told {
  const kinds = new Set([...before.keys(), ...since.keys()])
  return new Map(
    [...kinds].map((kind) => [
      kind,
      new Map([...(before.get(kind) ?? []), ...(since.get(kind) ?? [])]),
    ]),
  )
}

const statementEntries = (kind: string, all: readonly object[]): Entry[] =>
  parts(all, statements_per_frame_max, JSON.stringify).map(([, payload]) => {
    return { kind, payload, readings: 0 }
  })

const readingEntries = (rows: readonly Row[]): Entry[] =>
  parts(rows, rows_per_frame_max, (part) => {
    const payload: Readings = {}
    for (const { kind, row } of part) {
      payload[kind] ??= { columns: [...columns[kind]], rows: [] }
      payload[kind].rows.push(row)
    }
    return JSON.stringify(payload)
  }).map(([part, payload]) => ({ kind: 'readings', payload, readings: part.length }))

/** A list in parts of so many items, halved where the text of one would be too long. */
function parts<Item>(
  all: readonly Item[],
  items_max: number,
  textOf: (part: readonly Item[]) => string,
): [part: readonly Item[], text: string][] {
  if (all.length === 0) return []
  if (all.length > items_max) {
    const rest = all.slice(items_max)
    return [...parts(all.slice(0, items_max), items_max, textOf), ...parts(rest, items_max, textOf)]
  }
  const text = textOf(all)
  if (text.length <= frame_length_max || all.length === 1) return [[all, text]]
  return parts(all, Math.ceil(all.length / 2), textOf)
}

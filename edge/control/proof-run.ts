/** The operator's proof from the control log of an edge, piece by piece, as it is printed. */
import type { ControlEntry } from './control-entry.ts'
import { type LogItem, type Period, readControlLog } from './control-log-file.ts'
import type { PowerQuarter } from './proof.ts'
import { Proof, type Verdict } from './proof.ts'
import {
  breakText,
  entryText,
  headText,
  type LogBreak,
  quarterText,
  verdictText,
} from './proof-text.ts'

interface ProofResult {
  verdict: Verdict
  breaks: readonly LogBreak[]
}

interface Pen {
  /** Before the first entry of the period. */
  begin(proof: Proof): string
  entry(entry: ControlEntry): string
  quarter(quarter: PowerQuarter): string
  broken(what: LogBreak): string
  end(result: ProofResult): string
}

/** Yields text; returns what it comes to. `now` is in Unix ms. */
export async function* runProof(
  { dir, period, now }: { dir: string; period: Period; now: number },
  form: 'text' | 'json',
): AsyncGenerator<string, ProofResult> {
  const pen = form === 'json' ? jsonPen(period) : textPen(period)
  const breaks: LogBreak[] = []
  const quarters: PowerQuarter[] = []
  const proof = new Proof(period, now, (quarter) => quarters.push(quarter))
  let has_begun = false
  for await (const item of readControlLog(dir, period)) {
    if (item.is === 'break') {
      breaks.push(item)
      if (has_begun) yield pen.broken(item)
      continue
    }
    if (!has_begun && isTold(item, period)) {
      has_begun = true
      yield pen.begin(proof)
    }
    const is_told = proof.take(item.entry)
    for (const quarter of quarters.splice(0)) yield pen.quarter(quarter)
    // What was measured is told by the quarter of an hour.
    if (is_told && item.entry.is !== 'round') yield pen.entry(item.entry)
  }
  if (!has_begun) yield pen.begin(proof)
  const verdict = proof.end()
  for (const quarter of quarters) yield pen.quarter(quarter)
  const result = { verdict, breaks }
  yield pen.end(result)
  return result
}

const isTold = ({ entry }: Extract<LogItem, { is: 'entry' }>, { from_at, to_at }: Period) =>
  entry.at >= from_at && entry.at < to_at && entry.is !== 'carried'

function textPen(period: Period): Pen {
  return {
    begin: (proof) => `${headText(period, proof.state)}\n\n`,
    entry: (entry) => `${entryText(entry)}\n`,
    quarter: (quarter) => `${quarterText(quarter)}\n`,
    broken: (what) => `${breakText(what)}\n`,
    end: ({ verdict, breaks }) => `${verdictText(verdict, breaks)}\n`,
  }
}

/** One document; the measured power is by quarter of an hour, all else as it stands in the log. */
function jsonPen({ from_at, to_at }: Period): Pen {
  const power: PowerQuarter[] = []
  let is_first = true
  return {
    begin({ state }) {
      const held = JSON.stringify(state.carried(from_at))
      return `{"from_at":${from_at},"to_at":${to_at},"held":${held},\n"entries":[`
    },
    entry(entry) {
      const text = `${is_first ? '' : ','}\n${JSON.stringify(entry)}`
      is_first = false
      return text
    },
    quarter(quarter) {
      power.push(quarter)
      return ''
    },
    broken: () => '',
    end({ verdict, breaks }) {
      const { is: result, ...found } = verdict
      return `],\n${JSON.stringify({ power, result, breaks, ...found }).slice(1)}\n`
    },
  }
}

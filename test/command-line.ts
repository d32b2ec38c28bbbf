/** Commands of `heliograph` in this process, without a terminal. */
import { Readable, Writable } from 'node:stream'
import { runCommand } from '../cli/main.ts'

export interface Ran {
  code: number
  out: string
  notes: string
}

/** Runs `heliograph` with these settings and no others. */
export async function heliograph(
  settings: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Ran> {
  const [out, notes] = [[] as string[], [] as string[]]
  const terminal = {
    input: Readable.from([]),
    output: writer(out),
    notes: writer(notes),
    is_interactive: false,
  }
  const code = await runCommand(words, terminal, settings)
  return { code, out: out.join(''), notes: notes.join('') }
}

const writer = (to: string[]) =>
  new Writable({
    write(chunk, _, done) {
      to.push(String(chunk))
      done()
    },
  })

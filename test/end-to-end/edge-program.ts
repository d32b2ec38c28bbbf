/** What its operator runs on the edge's machine. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const edge_program = fileURLToPath(new URL('../../edge/heliograph-edge.ts', import.meta.url))

export function writeSealedPermit(file: string, text: string): void {
  writeFileSync(file, text)
  execFileSync(process.execPath, [edge_program, 'permit', 'seal', file])
}

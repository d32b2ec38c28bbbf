/** What its operator runs on the edge's machine. */
import { type ExecFileException, execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { program_environment } from '../program-environment.ts'

export const edge_program = fileURLToPath(new URL('../../edge/heliograph-edge.ts', import.meta.url))

export function writeSealedPermit(file: string, text: string): void {
  writeFileSync(file, text)
  execFileSync(process.execPath, [edge_program, 'permit', 'seal', file])
}

/** Sets up a machine whose files are in this folder, where no service manager runs the agent. */
export function setUpGateway(dir: string, words: readonly string[]) {
  mkdirSync(dir, { recursive: true })
  const env = {
    ...program_environment,
    EDGE_DATA_DIR: join(dir, 'edge'),
    EDGE_TOKEN_FILE: join(dir, 'token'),
    SITE_FILE: join(dir, 'site.yaml'),
  }
  return new Promise<{ code: number; output: string; notes: string }>((resolve) => {
    const ended = (error: ExecFileException | null, output: string, notes: string) =>
      resolve({ code: Number(error?.code ?? 0), output, notes })
    execFile(process.execPath, [edge_program, 'setup', ...words], { env }, ended)
  })
}

/** Builds the pages of the platform into web/dist: `npm run build-web`. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { generateSdk } from '@heliograph/sdk/generate'

const config = fileURLToPath(new URL('../web/vite.config.ts', import.meta.url))
const built = fileURLToPath(new URL('../web/dist/index.html', import.meta.url))

export async function buildWeb({ when_missing = false } = {}): Promise<void> {
  if (when_missing && existsSync(built)) return
  await generateSdk({ when_missing: true })
  const { build } = await import('vite')
  await build({ configFile: config, logLevel: 'warn' })
}

if (import.meta.main) await buildWeb()

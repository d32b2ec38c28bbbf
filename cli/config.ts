/** Settings of the commands that use the API. */
import { readFileSync } from 'node:fs'
import { AdminError } from '@heliograph/server/access/admin'

interface ClientSettings {
  url: string
  api_key: string
  /** null when `--site` is required. */
  site_id: string | null
}

/** From `HELIOGRAPH_URL`, `HELIOGRAPH_KEY` or `HELIOGRAPH_KEY_FILE`, and `HELIOGRAPH_SITE`. */
export function readClientSettings(environment = process.env): ClientSettings {
  const {
    HELIOGRAPH_URL: url = 'http://127.0.0.1:8080',
    HELIOGRAPH_KEY: key,
    HELIOGRAPH_KEY_FILE: key_file,
    HELIOGRAPH_SITE: site_id = null,
  } = environment
  const api_key = key ?? (key_file ? readKeyFile(key_file) : undefined)
  if (!api_key) {
    throw new AdminError('invalid', 'no key given: set HELIOGRAPH_KEY or HELIOGRAPH_KEY_FILE')
  }
  return { url, api_key, site_id }
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new AdminError('invalid', `HELIOGRAPH_KEY_FILE ${file} cannot be read`, { cause })
  }
}

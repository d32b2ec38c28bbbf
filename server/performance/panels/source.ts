import { open } from 'node:fs/promises'
import path from 'node:path'
import { PanelListError } from './csv.ts'

interface Source {
  bytes: Uint8Array
  /** File name, or URL without query and fragment, which may contain secrets. */
  name: string
}

const size_max_mb = 50
const timeout_ms_default = 60_000

const tooLarge = () => new PanelListError(`it is larger than ${size_max_mb} MB`)

/**
 * Bytes of a file, or of the response of an http(s) URL within a minute.
 *
 * @throws PanelListError when the source is missing or larger than 50 MB
 */
export async function readSource(
  source: string,
  { timeout_ms = timeout_ms_default }: { timeout_ms?: number } = {},
): Promise<Source> {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(source) ?? []
  if (scheme === undefined) {
    return { bytes: await readUpToLimit(source), name: path.basename(source) }
  }
  const url = URL.parse(source)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new PanelListError('a list is read from a file or from an http or https address')
  }
  if (url.username || url.password) {
    throw new PanelListError('an address must not have a user or password in it')
  }
  const name = `${url.origin}${url.pathname}`
  return { bytes: await download(url, name, timeout_ms), name }
}

async function readUpToLimit(file: string): Promise<Uint8Array> {
  const handle = await open(file).catch((cause) => {
    throw new PanelListError(`${file} cannot be read`, { cause })
  })
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new PanelListError(`${file} is not a file`)
    if (stat.size > size_max_mb * 1e6) throw tooLarge()
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

async function download(url: URL, name: string, timeout_ms: number): Promise<Uint8Array> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeout_ms) })
    if (!answer.ok) {
      await answer.body?.cancel()
      throw new PanelListError(`${name} answers ${answer.status} ${answer.statusText}`.trim())
    }
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of answer.body ?? []) {
      size += chunk.length
      if (size > size_max_mb * 1e6) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof PanelListError) throw error
    if ((error as Error).name === 'TimeoutError') {
      throw new PanelListError(`${name} has not answered in full within ${timeout_ms / 1000} s`)
    }
    throw new PanelListError(`${name} cannot be read`, { cause: error })
  }
}

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import tar from 'tar-stream'
import { flush } from './programs.ts'

const flushed_at_once = 32

export interface BackupTarget {
  /** Adds a file of exactly `bytes` bytes. */
  add(name: string, bytes: number, content: AsyncIterable<Buffer>): Promise<void>
  /** Flushes everything to disk and renames it to its final name, which marks it as complete. */
  finish(): Promise<void>
  /** Removes the incomplete backup. */
  abandon(): Promise<void>
}

interface BackupEntry {
  name: string
  /** Must be read to its end before the next entry. */
  content: AsyncIterable<Buffer>
}

/**
 * Starts a backup under the temporary name `<target>.partial`, which a later attempt removes.
 * Throws when `target` exists.
 */
export async function newBackup(target: string): Promise<BackupTarget> {
  await refuseTaken(target)
  const making = `${target}.partial`
  await mkdir(path.dirname(target), { recursive: true })
  await rm(making, { recursive: true, force: true })
  return target.endsWith('.tar') ? newTar(making, target) : newDirectory(making, target)
}

async function refuseTaken(target: string): Promise<void> {
  const found = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found) throw new Error(`${target} exists; name a backup that does not`)
}

async function giveName(making: string, target: string): Promise<void> {
  await refuseTaken(target)
  await rename(making, target)
  await flush(path.dirname(target))
}

async function newDirectory(making: string, target: string): Promise<BackupTarget> {
  await mkdir(making, { mode: 0o700 })
  const directories = new Set([making])
  const files: string[] = []
  return {
    async add(name, _bytes, content) {
      const file = path.join(making, name)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      for (let dir = path.dirname(file); !directories.has(dir); dir = path.dirname(dir)) {
        directories.add(dir)
      }
      await writeNew(file, content)
      files.push(file)
    },
    async finish() {
      await flushAll([...files, ...directories])
      await giveName(making, target)
    },
    abandon: () => rm(making, { recursive: true, force: true }),
  }
}

async function newTar(making: string, target: string): Promise<BackupTarget> {
  const pack = tar.pack()
  const written = pipeline(pack, createWriteStream(making, { flags: 'wx', mode: 0o600 }))
  // A write error must reject a waiting `add`.
  const broken = written.then(() => new Promise<never>(() => {}))
  broken.catch(() => {})
  return {
    async add(name, bytes, content) {
      const entry = pack.entry({ name, size: bytes, mode: 0o600 })
      await Promise.race([pipeline(Readable.from(content), entry), broken])
    },
    async finish() {
      pack.finalize()
      await written
      await flush(making)
      await giveName(making, target)
    },
    async abandon() {
      pack.destroy()
      await written.catch(() => {})
      await rm(making, { force: true })
    },
  }
}

/** Writes a new file, readable by its owner only. */
export async function writeNew(file: string, content: AsyncIterable<Buffer>): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    for await (const chunk of content) await handle.writeFile(chunk)
  } finally {
    await handle.close()
  }
}

/** Flushes files and directories, many at a time, which disks do faster. */
export async function flushAll(paths: Iterable<string>): Promise<void> {
  const left = [...paths]
  while (left.length > 0) await Promise.all(left.splice(0, flushed_at_once).map(flush))
}

/** Passes chunks on and computes their size and digest. */
export function checksum(content: AsyncIterable<Buffer>) {
  const hash = createHash('sha256')
  let bytes = 0
  async function* pass() {
    for await (const chunk of content) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return { chunks: pass(), result: () => ({ bytes, sha256: hash.digest('hex') }) }
}

/** The files of a backup, in no particular order. */
export async function* entriesOf(backup: string): AsyncGenerator<BackupEntry> {
  if ((await stat(backup)).isDirectory()) {
    for (const file of await readdir(backup, { recursive: true, withFileTypes: true })) {
      if (file.isDirectory()) continue
      const full = path.join(file.parentPath, file.name)
      const name = path.relative(backup, full)
      if (!file.isFile()) throw new Error(`the backup was changed: ${name} is no plain file`)
      yield { name, content: createReadStream(full) }
    }
    return
  }
  const extract = tar.extract()
  const reading = pipeline(createReadStream(backup), extract)
  reading.catch(() => {}) // the reader of the entries gets the error too
  for await (const entry of extract) {
    const { name, type } = entry.header
    if (type !== 'file') throw new Error(`the backup was changed: ${name} is no plain file`)
    yield { name, content: entry as unknown as AsyncIterable<Buffer> }
  }
  await reading
}

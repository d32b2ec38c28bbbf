/** A real file system that runs full soon, where this machine lets us mount one. */
import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

export interface SmallDisk {
  directory: string
  /** Takes all the room that is left, to the last byte. */
  fill(): Promise<void>
  /** Gives it back. */
  makeRoom(): Promise<void>
  unmount(): Promise<void>
}

const run = promisify(execFile)

/** A file system of so many MiB; a text says why there can be none here. */
export async function smallDisk(size_mib: number): Promise<SmallDisk | string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size_mib}m`, 'tmpfs', directory])
  } catch (error) {
    await rmdir(directory)
    return `SKIPPED, NOT TESTED: no file system can be mounted here: ${(error as Error).message}`
  }
  const ballast = path.join(directory, 'ballast')
  return {
    directory,
    async fill() {
      const file = await open(ballast, 'a')
      try {
        for (let size = 2 ** 20; size >= 1; ) {
          const written = await file.write(Buffer.alloc(size)).catch((error) => {
            if (error.code !== 'ENOSPC') throw error
          })
          if (!written) size >>= 1
        }
      } finally {
        await file.close()
      }
    },
    makeRoom: () => rm(ballast, { force: true }),
    async unmount() {
      // Lazily: what a test that failed left open would hide why it failed.
      await run('umount', ['--lazy', directory])
      await rmdir(directory)
    },
  }
}

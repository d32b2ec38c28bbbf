/** Room on the journal's disk: how much a segment may take of it, and what is set aside. */
import { type FileHandle, statfs, unlink } from 'node:fs/promises'

/** Enough to begin a segment with, and to say in it what was lost. */
const reserve_bytes = 64 * 1024
/** Of what the journal holds and could hold: the least that goes at once when the disk is full. */
const segments_min = 8
const segment_bytes_min = 16 * 1024

/** Runs a write of so many bytes, and again after each time that the disk had no room for it. */
export type MakingRoom = <Result>(bytes: number, write: () => Promise<Result>) => Promise<Result>

/**
 * `giveUpOldest` gives how many bytes it made free, 0 when there is nothing to go. Where twice what
 * was wanted went in vain, nothing more goes until a write succeeds: another program takes all that
 * becomes free, or the disk fails in this way.
 */
export function makingRoom(giveUpOldest: () => Promise<number>): MakingRoom {
  let was_in_vain = false
  return async (bytes, write) => {
    for (let wanted_bytes = 2 * bytes + segment_bytes_min; ; ) {
      try {
        const result = await write()
        was_in_vain = false
        return result
      } catch (error) {
        const given_bytes = was_in_vain || !isDiskFull(error) ? 0 : await giveUpOldest()
        if (given_bytes === 0) throw error
        wanted_bytes -= given_bytes
        was_in_vain = wanted_bytes <= 0
      }
    }
  }
}

/** On the disk, or in the quota of the user. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** How large a segment may get in this directory, so that dropping one loses but a part of all. */
export async function segmentBytes(
  dir: string,
  { held_bytes, bytes_max }: { held_bytes: number; bytes_max: number },
): Promise<number> {
  const { bavail, bsize } = await statfs(dir)
  const share_bytes = (held_bytes + bavail * bsize) / segments_min
  return Math.min(bytes_max, Math.max(segment_bytes_min, share_bytes))
}

/** A file that takes room for nothing but to give it back. */
export interface Reserve {
  readonly path: string
  readonly is_kept: boolean
  /** Sets the room aside; rejects, and takes none, when there is not enough. */
  keep(): Promise<void>
  release(): Promise<void>
}

export function reserveAt(
  path: string,
  open: (path: string, flags: string) => Promise<FileHandle>,
): Reserve {
  let is_kept = false
  async function release(): Promise<void> {
    is_kept = false
    await unlink(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  return {
    path,
    get is_kept() {
      return is_kept
    },
    async keep() {
      try {
        const file = await open(path, 'w')
        try {
          await file.writeFile(Buffer.alloc(reserve_bytes))
          await file.datasync()
        } finally {
          await file.close()
        }
        is_kept = true
      } catch (error) {
        await release()
        throw error
      }
    },
    release,
  }
}

/** Files that are whole after a loss of power, or as they were before. */
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces the file: whoever reads it finds the old text or the new, also after a power cut. */
export async function writeDurably(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    // Whatever the umask says.
    if (mode !== 0o600) await file.chmod(mode)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/** Makes the names in a directory durable: of files that were created, renamed or removed. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The text of a file; null when there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

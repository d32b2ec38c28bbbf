/** The agent's data directory: made where there is none, refused where it cannot be written. */
import { constants, existsSync } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { control_log_dir } from './control/control-store.ts'
import { journal_dir } from './journal.ts'
import { lockDirectory } from './lock.ts'

/**
 * Makes the directory and takes it for the life of this process.
 *
 * @throws Error with the setting, the path and the reason, before anything is read or commanded
 */
export async function takeDataDir(dir: string): Promise<{ release(): void }> {
  try {
    await makeDirectory(dir)
    // Its folders may belong to another account, under which the agent ran before.
    const folders = [dir, join(dir, journal_dir), join(dir, control_log_dir)]
    for (const path of folders.filter(existsSync)) {
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    }
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`EDGE_DATA_DIR: cannot write to ${dir}: ${reason}`, { cause: error })
  }
  return lockDirectory(dir)
}

/** Node's own `recursive` never ends below a directory that takes no entries, such as /proc. */
async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      if ((await stat(dir)).isDirectory()) return
      throw new Error('it is no directory')
    }
    if (code !== 'ENOENT' || (await isThere(dirname(dir)))) throw error
    await makeDirectory(dirname(dir))
    await makeDirectory(dir)
  }
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

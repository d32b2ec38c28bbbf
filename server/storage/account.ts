/**
 * The account that PostgreSQL runs as where this program is root, as which PostgreSQL refuses to
 * run: an account of its own, so that no other program can read or signal it.
 */
import { execFile } from 'node:child_process'
import { lchown, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** undefined is our own. */
export type Account = { uid: number; gid: number } | undefined

const account_name = 'heliograph'
/** Many programs share it; earlier versions ran PostgreSQL as it. */
const nobody = { uid: 65_534, gid: 65_534 }
/** Where no account can be made: ids that systems give to nobody by themselves. */
const unnamed_uid_min = 58_000

/**
 * Whoever owns the data: the given directories are asked in turn. Where root or `nobody` owns them
 * all it is the account `heliograph`, made here where it is missing.
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

/** All accounts of the system; those of a directory service where `getent` lists them. */
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

/** Debian's and most other systems' way, then that of busybox. */
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

/** undefined where the system lets none be made, as a read-only one. */
async function makeAccount(): Promise<NamedAccount | undefined> {
  for (const [program, ...args] of makers) {
    await run(program!, args).catch(() => undefined)
    // Another process may have made it at the same time.
    const made = (await accounts()).find(({ name }) => name === account_name)
    if (made) return made
  }
  return undefined
}

/** PostgreSQL's `initdb` runs only as an account that has a name. */
export async function namedAccount(account: Account): Promise<Account> {
  if (!account) return undefined
  const is_named = (await accounts()).some(({ uid }) => uid === account.uid)
  return is_named ? account : nobody
}

/** Whether the owner of a directory has to make way for the account that was chosen. */
export const isReplaced = (owner_uid: number, account: Account): boolean =>
  account !== undefined && account.uid !== owner_uid && owner_uid === nobody.uid

/**
 * Makes the account the owner of a whole cluster. From the top down: the old owner can exchange
 * nothing below a directory that is no longer its own. `PG_VERSION` comes last, so that what was
 * interrupted is known by it.
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

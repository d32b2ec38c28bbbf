import {
  inviteUser,
  linkToNewPassword,
  listUsers,
  type OneTimeLink,
  removeSecondFactor,
} from '@heliograph/server/access/user-admin'
import type { UserRow } from '@heliograph/server/access/users'
import type { Role } from '@heliograph/server/http/endpoint'
import { roles } from '@heliograph/server/http/endpoint'
import { Option } from 'commander'
import { type Cli, command, type Reporting, type YesOption, yes } from './command.ts'
import { listOf, minute } from './terminal.ts'

export function addUserCommands(program: Reporting, { confirm, withAdmin, operator }: Cli): void {
  const users = program.command('users').description('people who can sign in')

  command(
    users,
    'invite',
    'Create a one-time link for a new account.',
    'users invite --client "Sun Owners" --role administrator',
  )
    .requiredOption('--client <name>', 'client of the account')
    .addOption(new Option('--role <role>', 'role of the account').choices(roles).default('viewer'))
    .option(
      '--email <address>',
      'address of the person; defaults to the first person who uses the link',
    )
    .result(async (options: { client: string; role: Role; email?: string }) => {
      const { client, role, email = null } = options
      const order = { client, role, email, created_by: operator }
      const link = await withAdmin((admin) => inviteUser(admin, order))
      const text = email === null ? `${linkText(link)}\n\n${namesNobody}` : linkText(link)
      return { json: link, text }
    })

  command(users, 'list', 'List the people of a client.', 'users list --client "Sun Owners"')
    .requiredOption('--client <name>', 'client of the people')
    .fromDatabase(userTable, (admin, { client }: { client: string }) => listUsers(admin, client))

  command(
    users,
    'password-link <email>',
    'Create a one-time link to set a new password. It also ends a lock-out.',
    'users password-link ada@example.com',
  ).fromDatabase(linkText, (admin, email: string) => linkToNewPassword(admin, email))

  command(
    users,
    'remove-second-factor <email>',
    'Remove a lost second factor. Sign-in needs only the password until a new one is set up.',
    'users remove-second-factor ada@example.com',
  )
    .option(...yes)
    .result(async (email: string, options: YesOption) => {
      const question = `Let ${email} sign in with only the password?`
      if (!options.yes) await confirm(question)
      await withAdmin((admin) => removeSecondFactor(admin, email))
      return { json: { email }, text: `${email} signs in by password.` }
    })
}

const linkText = ({ link_path, expires_at }: OneTimeLink) =>
  `One-time link, valid until ${minute(expires_at)}; append it to the address of the server:\n\n  ${link_path}`

const namesNobody =
  'The link names nobody. It expires when anybody creates an account of this client.'

const userTable = (users: readonly UserRow[]) =>
  listOf('No accounts yet.', users, {
    EMAIL: 'email',
    NAME: 'name',
    ROLE: 'role',
    'SECOND FACTOR': ({ two_factor_enabled }) => (two_factor_enabled ? 'yes' : 'no'),
    DISABLED: ({ is_disabled }) => (is_disabled ? 'yes' : 'no'),
    'SIGNED IN': 'signed_in_at',
  })

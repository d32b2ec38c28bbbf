import { type Admin, AdminError } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { readTextFile } from '../access/text-file.ts'
import {
  type Assignment,
  type Contracts,
  type ContractsImport,
  type Fee,
  readContracts,
  readKnown,
  replaceContracts,
} from './contract-store.ts'
import { parseContracts } from './contracts.ts'

export type { Assignment, Contracts, ContractsImport, Fee }

/** Larger ones are no contracts of a site. */
const file_mib_max = 16

/**
 * Puts the contracts and fees of a YAML file in place of those of the site, all or nothing;
 * `dry_run` only says what would change. Refuses (`invalid`) a file with faults and names each.
 */
export async function importContracts(
  { db }: Pick<Admin, 'db'>,
  { file, site_id, dry_run }: { file: string; site_id: string; dry_run: boolean },
): Promise<ContractsImport> {
  await findSite({ db }, site_id)
  const parsed = parseContracts(
    await readTextFile(file, { mib_max: file_mib_max }),
    await readKnown(db, site_id),
  )
  if ('faults' in parsed) {
    const told = parsed.faults.map(({ field, message }) => `  ${field && `${field}: `}${message}`)
    throw new AdminError('invalid', [`${file} cannot be taken:`, ...told].join('\n'))
  }
  return replaceContracts(db, site_id, parsed.contracts, { dry_run })
}

/** What the site has; `not_found` when there is no such site. */
export async function listContracts(
  { db }: Pick<Admin, 'db'>,
  { site_id }: { site_id: string },
): Promise<Contracts> {
  await findSite({ db }, site_id)
  return readContracts(db, site_id)
}

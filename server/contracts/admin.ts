import type { Admin } from '../access/admin.ts'
import { findSite } from '../access/sites.ts'
import { readYamlFile } from '../access/yaml-file.ts'
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

/**
 * Replaces all contracts and fees of a site by those of a YAML file; `dry_run` only counts the
 * changes.
 *
 * @throws AdminError `not_found` without such a site, `invalid` with every fault of the file
 */
export async function importContracts(
  { db }: Pick<Admin, 'db'>,
  { file, site_id, dry_run }: { file: string; site_id: string; dry_run: boolean },
): Promise<ContractsImport> {
  await findSite({ db }, site_id)
  const known = await readKnown(db, site_id)
  const parse = (text: string) => parseContracts(text, known)
  const contracts = await readYamlFile(file, { mib_max: 16, parse })
  return replaceContracts(db, site_id, contracts, { dry_run })
}

/** @throws AdminError `not_found` without such a site */
export async function listContracts(
  { db }: Pick<Admin, 'db'>,
  { site_id }: { site_id: string },
): Promise<Contracts> {
  await findSite({ db }, site_id)
  return readContracts(db, site_id)
}

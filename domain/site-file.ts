/** Reads `site.yaml` and reports all its problems with their places. */
import { Site } from './site.ts'
import { checkInventory, checkSite, type SiteProblem } from './site-check.ts'
import { type FileProblem, parseYamlFile } from './yaml-file.ts'

type SiteFile = { site: Site } | { problems: FileProblem[] }

interface SiteFileOptions {
  /**
   * An agent accepted the text before, maybe with fewer checks: it is read as far as it can be
   * used.
   */
  was_accepted?: boolean
  /** Further checks of a site that its schema accepts. */
  check?(site: Site): SiteProblem[]
}

/**
 * Parses and checks the text of a site file. A device or list that is missing or of the wrong type
 * hides the problems of the whole site (ids, references, addresses).
 */
export function parseSiteFile(
  text: string,
  { was_accepted = false, check = () => [] }: SiteFileOptions = {},
): SiteFile {
  const checkOf = was_accepted ? checkInventory : checkSite
  const read = parseYamlFile<Site>(text, {
    schema: Site,
    check: (site) => [...checkOf(site), ...check(site)],
    any_encoding: was_accepted,
  })
  return 'value' in read ? { site: read.value } : read
}

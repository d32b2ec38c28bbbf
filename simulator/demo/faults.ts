/** Faults of the demo site (site.yaml beside this file), in its history and in the live plant. */
import type { Site } from '@heliograph/domain/site'
import { type Fault, parseFault } from '../faults.ts'

const demo_site_id = 'demo'

const demo_faults = [
  // S-2: dirt that rain does not remove, on a string of the south field.
  'soiled_string:2/4=0.09',
  // S-4: two modules of 24 bypassed.
  'bypassed_substring:4/9=6',
  // E-3: a tree beside the row.
  'shaded_string:7/2',
  // W-2: a blown fuse.
  'open_string:10/7',
]

/** Permanent faults: those of the demo site; none for other sites. */
export function standingFaults({ site_id, simulated }: Site): Fault[] {
  return site_id === demo_site_id && simulated ? demo_faults.map(parseFault) : []
}

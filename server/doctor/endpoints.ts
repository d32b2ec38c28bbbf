/** The checks of the installation, for its administrators. */
import { checkStates } from '@heliograph/domain/check'
import { forAdministrators, type PlatformNeeds } from '../access/platform-operation.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { examine, type Installation } from './examine.ts'

export interface DoctorNeeds extends PlatformNeeds {
  installation: Installation
}

const DoctorCheck = Named('PlatformDoctorCheck', {
  name: field.Text('What was checked.', 'database'),
  state: field.OneOf(checkStates, 'Whether somebody has to act.'),
  finding: field.Text('What was found.', 'PostgreSQL 18.1 (embedded), answers in 1 ms'),
  action: field.TextOrNull('What to do; null when nothing is.', 'Let NTP set the clock.'),
})

export const getDoctor = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/doctor',
  operation_id: 'platform_doctor_get',
  summary: 'Check the server',
  description:
    'Returns the checks of `heliograph doctor`: database, disk, clock, certificate, mail, backups, versions ' +
    'of the edges of the client, and the queue of jobs. On a server with several clients it is the edges ' +
    'alone: its operator checks the rest by the command. The checks are made anew for each request.',
  returns: List(DoctorCheck),
  async handle({ caller }, needs: DoctorNeeds) {
    return list(await examine(needs, { client_id: caller.client_id }))
  },
})

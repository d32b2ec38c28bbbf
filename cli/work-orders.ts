import { readWorkApproval, setWorkApproval, type WorkApproval } from '@heliograph/server/work/admin'
import { Option } from 'commander'
import { command, type Reporting } from './command.ts'

export function addWorkOrderCommands(program: Reporting): void {
  const work_orders = program
    .command('work-orders')
    .description('approval of the work orders of a site')

  command(
    work_orders,
    'approval <site_id>',
    'Show or set who approves work orders: every key, or another key than the one that completed it.',
    'work-orders approval sunny-fields-1 --by another',
  )
    .addOption(
      new Option('--by <who>', 'new setting; shows the present one by default').choices([
        'another',
        'anyone',
      ]),
    )
    .fromDatabase(sentence, (admin, site_id: string, { by }: { by?: 'another' | 'anyone' }) =>
      by === undefined
        ? readWorkApproval(admin, site_id)
        : setWorkApproval(admin, { site_id, approver_not_completer: by === 'another' }),
    )
}

const sentence = ({ site_id, approver_not_completer }: WorkApproval) =>
  approver_not_completer
    ? `Work orders of ${site_id} must be approved by another key than the one that completed them.`
    : `Work orders of ${site_id} may be approved by the key that completed them.`

import { useQuery } from '@tanstack/react-query'
import { askPlatform, type Role } from '../../../api.ts'

export interface Person {
  user_id: string
  name: string
  email: string
  role: Role
  site_ids: string[] | null
  two_factor_enabled: boolean
  is_disabled: boolean
  created_at: string
  signed_in_at: string | null
}

export interface Invitation {
  invitation_id: string
  email: string | null
  role: Role
  site_ids: string[] | null
  state: 'open' | 'accepted' | 'expired' | 'revoked'
  created_at: string
  created_by: string
  expires_at: string
}

export interface NewInvitation extends Invitation {
  link_path: string
  is_mailed: boolean
}

export const people_changed = [['people'], ['session']]
export const invitations_changed = [['invitations']]

export const usePeople = () =>
  useQuery({
    queryKey: ['people'],
    queryFn: () => askPlatform<{ data: Person[] }>('GET', '/users'),
    refetchInterval: 60_000,
  })

export const useInvitations = () =>
  useQuery({
    queryKey: ['invitations'],
    queryFn: () => askPlatform<{ data: Invitation[] }>('GET', '/invitations'),
    refetchInterval: 60_000,
  })

export const roles: readonly { value: Role; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'operator', label: 'Operator: reads, commands and changes' },
  { value: 'administrator', label: 'Administrator: everything, including keys and people' },
]

/** Error when a change would leave no administrator. */
export const refusals = {
  conflict_state: 'This is the last administrator. Make another person an administrator first.',
}

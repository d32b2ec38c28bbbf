import { useQuery } from '@tanstack/react-query'
import { askPlatform } from '../../../api.ts'
import type { Scope } from './scopes.ts'

export interface Key {
  key_id: string
  key_prefix: string
  name: string
  state: 'active' | 'expired' | 'revoked' | 'rotating'
  scopes: Scope[]
  site_ids: string[] | null
  created_at: string
  created_by: string
  last_used_at: string | null
  rotated_at: string | null
  previous_until: string | null
  expires_at: string | null
  revoked_at: string | null
}

export interface ShownKey extends Key {
  key: string
}

export const keys_changed = [['keys']]

export const useKeys = () =>
  useQuery({
    queryKey: ['keys'],
    queryFn: () => askPlatform<{ data: Key[] }>('GET', '/keys'),
    refetchInterval: 30_000,
  })

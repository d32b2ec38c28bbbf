/** Shared parts of the operations of the platform, which take a session instead of a key. */
import type { Context } from '../http/context.ts'

export interface PlatformNeeds extends Pick<Context, 'clock' | 'db'> {
  /** `public_url` is the address that browsers use, or null when it is not configured. */
  mail: { is_sent: boolean; public_url: string | null }
}

export const platformOperation = { tag: 'Platform', scope: null, module: null } as const
export const forAdministrators = { ...platformOperation, role: 'administrator' } as const

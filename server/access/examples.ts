/** The answers that the reference of the platform shows. */
export const sessionExample = {
  user_id: 'user_0123456789ab',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'administrator' as const,
  two_factor_enabled: false,
  client: 'Sun Owners',
  modules: ['basic_scada' as const],
  scopes: ['plant:read' as const],
  mail_is_sent: true,
}

export const userExample = {
  user_id: 'user_0123456789ab',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'operator' as const,
  site_ids: null,
  two_factor_enabled: true,
  is_disabled: false,
  created_at: '2026-06-01T08:00:00.000Z',
  signed_in_at: '2026-06-21T06:12:00.000Z',
}

export const invitationExample = {
  invitation_id: '0123456789ab',
  email: 'ada@example.com',
  role: 'operator' as const,
  site_ids: null,
  state: 'open' as const,
  created_at: '2026-06-21T10:00:00.000Z',
  created_by: 'Grace',
  expires_at: '2026-06-28T10:00:00.000Z',
}

export const newInvitationExample = {
  ...invitationExample,
  link_path: '/invitation#0123456789ab…',
  is_mailed: true,
}

export const openInvitationExample = {
  client: 'Sun Owners',
  email: 'ada@example.com',
  role: 'operator' as const,
  expires_at: '2026-06-28T10:00:00.000Z',
}

export const acceptedExample = { user_id: 'user_0123456789ab', email: 'ada@example.com' }

export const confirmedExample = { email: 'operations@example.com', client: 'Sun Owners' }

export const keyExample = {
  key_id: '0123456789ab',
  key_prefix: 'svc_live_0123456789ab',
  name: 'Energy trader',
  state: 'active' as const,
  scopes: ['plant:read' as const, 'markets:read' as const],
  site_ids: null,
  created_at: '2026-06-21T10:00:00.000Z',
  created_by: 'Ada',
  last_used_at: null,
  rotated_at: null,
  previous_until: null,
  expires_at: null,
  revoked_at: null,
}

export const shownKeyExample = { ...keyExample, key: 'svc_live_0123456789ab_…' }

export const auditExample = {
  audit_id: '42',
  site_id: 'pv-south',
  at: '2026-06-21T10:00:00.000Z',
  by: 'user_0123456789ab',
  by_name: 'Ada',
  method: 'POST',
  path: '/curtailment/immediate',
  body: '{"scope":"site","limit_mode":"percent","limit_value":50}',
  status: 201,
  address: '203.0.113.7',
  request_id: '0b0e7c9e-2c6b-4f6e-9f43-0c6f1d7b0a55',
}

/**
 * A heartbeat counter rises every second and counts as stopped after this time without a change.
 */
const stands_s_max = 10
const polls_min = 3

/** Number of polls without a change, one each `interval_s` seconds. */
export const heartbeatPolls = (interval_s: number): number =>
  Math.max(polls_min, Math.ceil(stands_s_max / interval_s))

export const heartbeatTimeout = (interval_s: number): number =>
  heartbeatPolls(interval_s) * interval_s

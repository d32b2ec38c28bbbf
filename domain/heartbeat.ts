/** When the count of a device that shows that it lives counts as standing still. */

/** A count that stands for so long is no sign of life: it goes on each second. */
const stands_s_max = 10
const polls_min = 3

/** So many polls, one each `interval_s` seconds, that show no change. */
export const heartbeatPolls = (interval_s: number): number =>
  Math.max(polls_min, Math.ceil(stands_s_max / interval_s))

/** How long that is, s. */
export const heartbeatTimeout = (interval_s: number): number =>
  heartbeatPolls(interval_s) * interval_s
